import OpenAI from 'openai';
import { chargeFor } from '../../support/catalogue.ts';
import type { TestApp } from '../../support/service.ts';

/** Where calls go, and who pays for them. */
export interface Target {
  readonly url: string;
  readonly app: TestApp;
  readonly user: string;
  readonly model: string;
}

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

const LIMIT = 12;
const MESSAGES = [{ role: 'user', content: 'Say something about the quick brown fox.' }] as const;
const TOOL = {
  type: 'function',
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
} as const;
const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const FORMAT = { type: 'json_schema', json_schema: { name: 'place', schema: SCHEMA } } as const;

type Fields = Readonly<Record<string, unknown>>;
const PLAIN: Readonly<Record<string, Fields>> = {
  'max_tokens 1': { max_tokens: 1 },
  'max_completion_tokens 1': { max_completion_tokens: 1 },
  'a dozen tokens': { max_tokens: LIMIT },
  'a tool': { max_tokens: LIMIT, tools: [TOOL] },
  'a schema': { max_tokens: LIMIT, response_format: FORMAT },
};

/** Makes every kind of call once. */
export async function callInEveryWay(target: Target, tally: Tally): Promise<void> {
  for (const [name, fields] of Object.entries(PLAIN)) await count(tally, name, () => plain(target, fields));
  for (const [name, fields] of Object.entries(PLAIN))
    await count(tally, `${name}, streamed`, () => streamed(target, fields));
  await count(tally, 'a caller who leaves', () => leave(target));
}

/** Makes plain calls with pauses around the moment at which the proxy closes an idle connection. */
export async function callAcrossPauses(target: Target, tally: Tally, pauses: readonly number[]): Promise<void> {
  for (const pauseMs of pauses) {
    await new Promise((resolve) => {
      setTimeout(resolve, pauseMs);
    });
    await count(tally, `after ${pauseMs} ms`, () => plain(target, { max_tokens: 2 }));
  }
}

interface Outcome {
  readonly charged: number;
  /** What is wrong with it; undefined if all is right. */
  readonly fault?: string | undefined;
}

async function count(tally: Tally, name: string, call: () => Promise<Outcome>): Promise<void> {
  tally.calls += 1;
  try {
    const { charged, fault } = await call();
    tally.answered += 1;
    tally.charged += charged;
    if (fault !== undefined) tally.wrong.push(`${name}: ${fault}`);
  } catch (error) {
    if (error instanceof OpenAI.APIError && String(error.code).startsWith('UPSTREAM_')) {
      tally.refused.push(`${name}: ${error.status ?? 'in the stream'}, ${error.code ?? ''}`);
    } else tally.wrong.push(`${name}: ${String(error)}`);
  }
}

function clientOf({ url, app, user }: Target): OpenAI {
  const defaultHeaders = { 'x-service-user': user };
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: app.liveKey, defaultHeaders, maxRetries: 0, timeout: 120_000 });
}

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly prompt_tokens_details?: { readonly cached_tokens?: number };
}

async function plain(target: Target, fields: Fields): Promise<Outcome> {
  const create = clientOf(target).chat.completions.create({ model: target.model, messages: [...MESSAGES], ...fields });
  const { data, response } = await create.withResponse();
  const charged = Number(response.headers.get('x-service-charge-micros'));
  return { charged, fault: faultOf(data.usage, charged, fields) };
}

async function streamed(target: Target, fields: Fields): Promise<Outcome> {
  const stream = await clientOf(target).chat.completions.create({
    model: target.model,
    messages: [...MESSAGES],
    ...fields,
    stream: true,
    stream_options: { include_usage: true },
  });
  let usage: (Usage & { charge_micros?: unknown }) | undefined;
  let charged = 0;
  let isFinished = false;
  for await (const chunk of stream) {
    usage = chunk.usage ?? usage;
    charged = Number((chunk as { charge_micros?: unknown }).charge_micros ?? charged);
    isFinished ||= chunk.choices.some(({ finish_reason: reason }) => reason !== null);
  }
  return { charged, fault: isFinished ? faultOf(usage, charged, fields) : 'it ended without a reason' };
}

function faultOf(usage: Usage | undefined, charged: number, fields: Fields): string | undefined {
  if (usage === undefined) return 'it has no usage';
  const limit = Number(fields['max_tokens'] ?? fields['max_completion_tokens']);
  if (usage.completion_tokens > limit) return `${usage.completion_tokens} tokens for a limit of ${limit}`;
  const { prompt_tokens: prompt, completion_tokens: completion, prompt_tokens_details: details } = usage;
  const owed = chargeFor({ prompt, completion, cached: details?.cached_tokens ?? 0 });
  return owed === charged ? undefined : `${charged} micros were charged for ${owed}`;
}

/** Leaves a stream after its first chunk. What it costs is in the books only. */
async function leave(target: Target): Promise<Outcome> {
  const stream = await clientOf(target).chat.completions.create({
    model: target.model,
    messages: [...MESSAGES],
    max_tokens: 200,
    stream: true,
  });
  for await (const _chunk of stream) break;
  stream.controller.abort();
  return { charged: 0 };
}
