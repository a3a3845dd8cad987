import { chargeFor } from '../support/catalogue.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import type { Scene } from './scene.ts';

/** One row of `docs/CLIENTS.md`. */
export interface Scenario {
  readonly name: string;
  readonly clause: string;
  readonly promise: string;
  /** Throws if the service is at fault. Otherwise returns the observation: `ok` if the client does its part as well. */
  readonly run: (scene: Scene) => Promise<string>;
}

/** The wallet balance of a scenario's user. */
export const BALANCE = 1_000_000;
/** Another name of the model, by which some clients choose the Responses wire. */
export const CODEX_ALIAS = 'large-codex';
/** The model's name at the provider. */
export const MODEL = 'large-upstream';
export const USAGE = { prompt_tokens: 20, completion_tokens: 7, total_tokens: 27 };
export const COST = chargeFor({ prompt: 20, completion: 7 });
const PIECES = ['Sunny', ', with a ', 'light breeze.'];
export const TEXT = PIECES.join('');

/** The provider's answer with `TEXT`, buffered and streamed. */
export const PLAIN = { body: completionBody({ model: MODEL, content: TEXT, usage: USAGE }) };
export const STREAM = { body: streamSteps({ model: MODEL, pieces: PIECES, usage: USAGE, includeUsageChunk: true }) };
