import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { chargeFor } from '../../support/catalogue.ts';
import { embed, INPUTS, TOO_LONG } from './embed.ts';
import type { ModelServer } from './servers.ts';
import type { Ask, Heard, Speaker, Target } from './speaker.ts';
import { SPEAKERS } from './speakers.ts';

/** What the calls at one place gave. */
export interface Tally {
  calls: number;
  answered: number;
  /** The service answered with an error that its provider caused. */
  refused: string[];
  /** Anything that must not happen: a wrong charge, more output than the limit, an answer that never ends. */
  wrong: string[];
  charged: number;
}

const LIMIT = 16;
const NO_OUTPUT = { limit: 0 };
const ASKS: Readonly<Record<string, Ask>> = {
  'one token, by the older name': { limit: 1, isOlderName: true },
  'one token': { limit: 1 },
  'a few tokens': { limit: LIMIT },
  'a tool': { limit: LIMIT, hasTool: true },
  'a schema': { limit: LIMIT, hasSchema: true },
};

/** Makes every kind of call that the server takes once on every wire. */
export async function callInEveryWay(
  target: Target,
  tally: Tally,
  { limitMin, takesSchemas, makesVectors }: Pick<ModelServer, 'limitMin' | 'takesSchemas' | 'makesVectors'>,
): Promise<void> {
  if (makesVectors === true) return embedInEveryWay(target, tally);
  for (const speaker of SPEAKERS) {
    for (const [name, ask] of Object.entries(ASKS)) {
      if (ask.limit < limitMin || (ask.hasSchema === true && !takesSchemas)) continue;
      await count(tally, `${speaker.name}, ${name}`, ask, () => speaker.plain(target, ask));
      await count(tally, `${speaker.name}, ${name}, streamed`, ask, () => speaker.streamed(target, ask));
    }
    await leave(target, tally, speaker);
  }
}

/** A text that is too long is the caller's fault. As a failure of the server it would keep others from it. */
async function embedInEveryWay(target: Target, tally: Tally): Promise<void> {
  for (const [name, inputs] of Object.entries(INPUTS)) {
    await count(tally, `embeddings, ${name}`, NO_OUTPUT, () => embed(target, inputs));
  }
  const said = await embed(target, TOO_LONG).then(() => 'an answer', typeIn);
  if (said !== 'context_length_exceeded') tally.wrong.push(`embeddings, too long a text: ${said}`);
}

function typeIn(error: unknown): string {
  return (error instanceof OpenAI.APIError ? error.type : undefined) ?? String(error);
}

/** Makes plain calls with pauses around the moment at which the proxy closes an idle connection. */
export async function callAcrossPauses(
  target: Target,
  tally: Tally,
  pauses: readonly number[],
  { makesVectors }: Pick<ModelServer, 'makesVectors'>,
): Promise<void> {
  const ask = { limit: LIMIT };
  for (const [index, pauseMs] of pauses.entries()) {
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs);
    });
    if (makesVectors === true) {
      const inputs = Object.values(INPUTS)[index % 3]!;
      await count(tally, `embeddings, after ${pauseMs} ms`, NO_OUTPUT, () => embed(target, inputs));
      continue;
    }
    const speaker = SPEAKERS[index % SPEAKERS.length]!;
    await count(tally, `${speaker.name}, after ${pauseMs} ms`, ask, () => speaker.plain(target, ask));
  }
}

async function count(tally: Tally, name: string, ask: Ask, call: () => Promise<Heard>): Promise<void> {
  tally.calls += 1;
  try {
    const heard = await call();
    tally.answered += 1;
    tally.charged += heard.charged;
    const fault = faultOf(heard, ask);
    if (fault !== undefined) tally.wrong.push(`${name}: ${fault}`);
  } catch (error) {
    const { status = 'in the stream', code = '' } = failureIn(error);
    if (code.startsWith('UPSTREAM_')) tally.refused.push(`${name}: ${status}, ${code}`);
    else tally.wrong.push(`${name}: ${String(error)}`);
  }
}

function failureIn(error: unknown): { readonly status?: number | undefined; readonly code?: string | undefined } {
  if (error instanceof OpenAI.APIError) return { status: error.status as number | undefined, code: error.code ?? '' };
  if (!(error instanceof Anthropic.APIError)) return {};
  const body = error.error as { readonly error?: { readonly code?: string } } | undefined;
  return { status: error.status as number | undefined, code: body?.error?.code };
}

function faultOf({ usage, charged, isFinished }: Heard, { limit }: Ask): string | undefined {
  if (!isFinished) return 'it ended without a reason';
  if (usage === undefined) return 'it has no usage';
  if (usage.completion > limit) return `${usage.completion} tokens for a limit of ${limit}`;
  const owed = chargeFor(usage);
  return owed === charged ? undefined : `${charged} micros were charged for ${owed}`;
}

async function leave(target: Target, tally: Tally, { name, leave: begin }: Speaker): Promise<void> {
  tally.calls += 1;
  try {
    await begin(target);
    tally.answered += 1;
  } catch (error) {
    tally.wrong.push(`${name}, a caller who leaves: ${String(error)}`);
  }
}
