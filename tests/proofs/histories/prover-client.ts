import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { COMPLETIONS } from '../../support/client.ts';
import type { CalledWire } from '../../support/called-wire.ts';
import { isSpoken } from '../../support/wires.ts';
import { type Ending, LOWERED, type ReportedUsage } from './history-log.ts';

/** What a plain client, without a library that retries, has seen of one call. */
export interface Seen {
  readonly ending: Ending | 'unsent';
  readonly status: number | undefined;
  readonly code: string | undefined;
  readonly callId: string | undefined;
  readonly charged: number | undefined;
  readonly usage: ReportedUsage | undefined;
  readonly hasLeft: boolean;
  readonly startedAt: number;
  readonly endedAt: number;
}

interface Sending {
  readonly url: string;
  readonly key: string;
  readonly user: string;
  readonly tag: string;
  readonly body: string;
  readonly isStream: boolean;
  /** Chat completions if left out. */
  readonly wire?: CalledWire;
  /** When the client leaves. After that the answer is unknown to it. */
  readonly leaveAfterMs: number | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** No call of a history takes this long, because a stopped process is resumed earlier. */
const ANSWER_MS_MAX = 60_000;

interface Asked {
  readonly tag: string;
  readonly model: string;
  readonly isStream: boolean;
  readonly wantsUsage: boolean;
  readonly outputTokensMax: number;
}

/** The body of the same call by a wire. A provider gets the same of it by each. */
export function writtenBy(wire: CalledWire, call: Asked): string {
  if (wire.name === 'chat completions') return bodyOf(call);
  const { tag, model, isStream, outputTokensMax } = call;
  const fields = { model, ...wire.promptOf(tag), ...(isSpoken(wire) && { [wire.limitField]: outputTokensMax }) };
  return JSON.stringify({ ...fields, ...(isStream && { stream: true }) });
}

export function bodyOf(call: Asked): string {
  return JSON.stringify({
    model: call.model,
    messages: [{ role: 'user', content: call.tag }],
    max_completion_tokens: call.outputTokensMax,
    ...(call.isStream ? { stream: true } : {}),
    ...(call.isStream && call.wantsUsage ? { stream_options: { include_usage: true } } : {}),
  });
}

/** Sends one call and reads its answer to the end, or until it leaves. Never rejects. */
export function sendCall(sending: Sending): Promise<Seen> {
  const { url, key, user, tag, body, isStream, wire } = sending;
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let text = '';
    let response: IncomingMessage | undefined;
    let isConnected = false;
    let hasLeft = false;
    const request: ClientRequest = httpRequest(url + (wire?.path ?? COMPLETIONS), {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${key}`,
        'x-service-user': user,
        'x-correlation-id': tag,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        ...(sending.idempotencyKey === undefined ? {} : { 'idempotency-key': sending.idempotencyKey }),
      },
    });
    const timer = setTimeout(() => {
      hasLeft = true;
      request.destroy();
    }, sending.leaveAfterMs ?? ANSWER_MS_MAX);
    let isOver = false;
    const end = (isWhole: boolean): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      const read = readAnswer({ response, text, isWhole, isStream });
      const ending = isConnected ? read.ending : 'unsent';
      resolve({ ...read, ending, hasLeft, startedAt, endedAt: performance.now() });
    };
    request.on('socket', (socket) => socket.once('connect', () => (isConnected = true)));
    request.on('response', (answer) => {
      response = answer;
      answer.setEncoding('utf8');
      answer.on('data', (part: string) => (text += part));
      answer.on('end', () => end(answer.complete));
      answer.on('error', () => end(false));
      answer.on('close', () => end(answer.complete));
    });
    request.on('error', () => end(false));
    request.on('close', () => end(response?.complete ?? false));
    request.end(body);
  });
}

interface Read {
  readonly response: IncomingMessage | undefined;
  readonly text: string;
  readonly isWhole: boolean;
  readonly isStream: boolean;
}

function readAnswer({ response, text, isWhole, isStream }: Read) {
  const status = response?.statusCode;
  const callId = headerOf(response, 'x-service-call-id');
  const charge = headerOf(response, 'x-service-charge-micros');
  const facts = { status, callId, charged: charge === undefined ? undefined : Number(charge) };
  if (status !== undefined && status !== 200) {
    const code = isWhole ? codeIn(parse(text)) : undefined;
    return { ...facts, code, usage: undefined, ending: isWhole ? ('refused' as const) : ('unknown' as const) };
  }
  const payloads = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [text];
  const objects = payloads.map(parse);
  const code = objects.map(codeIn).find((one) => one !== undefined);
  const usage = objects.map(usageIn).findLast((one) => one !== undefined);
  return { ...facts, code, usage, ending: endingOf({ isStream, isWhole, payloads, code, objects }) };
}

function endingOf(read: {
  readonly isStream: boolean;
  readonly isWhole: boolean;
  readonly payloads: readonly string[];
  readonly code: string | undefined;
  readonly objects: readonly unknown[];
}): Ending {
  if (read.code !== undefined) return 'refused';
  if (!read.isStream) return read.isWhole && read.objects[0] !== undefined ? 'complete' : 'unknown';
  const { type } = (read.objects.at(-1) ?? {}) as { readonly type?: string };
  if (ENDS.has(type ?? '') || read.payloads.includes('[DONE]')) return 'complete';
  return read.isWhole ? 'mute' : 'unknown';
}

/** How Messages refuses a call whose wallet pays for less output than it asks for (WI-10). */
const LOWERED_WORDS = /^max_tokens: \d+ > \d+, which is the maximum/;
/** The last events of a whole stream. */
const ENDS = new Set(['response.completed', 'response.incomplete', 'message_stop']);

function headerOf(response: IncomingMessage | undefined, name: string): string | undefined {
  const value = response?.headers[name];
  return typeof value === 'string' ? value : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

interface Payload {
  readonly error?: { readonly code?: string; readonly serviceCode?: string; readonly message?: string } | null;
  readonly usage?: (WireUsage & Partial<OtherUsage>) | null;
  /** That of an event of Responses. */
  readonly response?: Payload;
}

function codeIn(value: unknown): string | undefined {
  const { error, response } = (value ?? {}) as Payload;
  if (LOWERED_WORDS.test(error?.message ?? '')) return LOWERED;
  return error?.serviceCode ?? error?.code ?? (response && codeIn(response));
}

interface WireUsage {
  readonly prompt_tokens: number;
  /** None for vectors. */
  readonly completion_tokens?: number;
  readonly prompt_tokens_details?: { readonly cached_tokens: number };
}

/** That of Responses, or of Messages, where tokens from a cache lie beside those of the input. */
interface OtherUsage {
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly input_tokens_details: { readonly cached_tokens: number };
  readonly cache_read_input_tokens: number;
}

function usageIn(value: unknown): ReportedUsage | undefined {
  const { usage, response } = (value ?? {}) as Payload;
  if (response !== undefined) return usageIn(response);
  if (usage === undefined || usage === null) return undefined;
  const { input_tokens: input, output_tokens: completion = 0, input_tokens_details: details } = usage;
  const { cache_read_input_tokens: beside = 0 } = usage;
  if (input !== undefined)
    return { prompt: input + beside, completion, cached: beside + (details?.cached_tokens ?? 0) };
  const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
  return { prompt: usage.prompt_tokens, completion: usage.completion_tokens ?? 0, cached };
}
