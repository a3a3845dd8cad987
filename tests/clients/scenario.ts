import { chargeFor } from '../support/catalogue.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import type { Scene } from './scene.ts';

/** One row of `docs/CLIENTS.md`. */
export interface Scenario {
  readonly name: string;
  readonly clause: string;
  readonly promise: string;
  /** Throws where the service is at fault; else what was seen, `ok` where the client does its part as well. */
  readonly run: (scene: Scene) => Promise<string>;
}

/** What a user of a scenario has in the wallet. */
export const BALANCE = 1_000_000;
/** The model's name at the provider. */
export const MODEL = 'large-upstream';
export const USAGE = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };
export const COST = chargeFor({ prompt: 20, completion: 7 });
const PIECES = ['Sunny', ', with a ', 'light breeze.'];
export const TEXT = PIECES.join('');

/** The provider's answer with `TEXT`, whole and streamed. */
export const PLAIN = { body: completionBody({ model: MODEL, content: TEXT, usage: USAGE }) };
export const STREAM = { body: streamSteps({ model: MODEL, pieces: PIECES, usage: USAGE, includeUsageChunk: true }) };
