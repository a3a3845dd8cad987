import type { Dispatcher } from 'undici';
import { epochMsOf, systemClock } from '#kernel/time/clock.ts';

/** An answer with any status. */
export interface HttpAnswer {
  readonly status: number;
  /** The clock of the other side, to the second, against ours at the middle of the request. Undefined if it does not say. */
  readonly skewMs: number | undefined;
  readonly location: string | undefined;
  readonly body: string;
}

const BODY_BYTES_MAX = 64 * 1024;

/** Sends one GET. Follows no redirect and repeats nothing. Rejects if there is no answer. */
export async function httpGet(
  url: string,
  options: {
    readonly dispatcher: Dispatcher;
    readonly signal: AbortSignal;
    readonly headers?: Readonly<Record<string, string>>;
  },
): Promise<HttpAnswer> {
  const { request } = await import('undici');
  const { dispatcher, signal, headers = {} } = options;
  const begunMs = systemClock.nowMs();
  const answer = await request(url, { dispatcher, signal, headers: { 'user-agent': 'purser-doctor/1', ...headers } });
  const ownMs = (begunMs + systemClock.nowMs()) / 2;
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of answer.body as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > BODY_BYTES_MAX) break;
    parts.push(part);
  }
  const date = epochMsOf(String(answer.headers['date']));
  const { location } = answer.headers;
  return {
    status: answer.statusCode,
    skewMs: Number.isNaN(date) ? undefined : date + 500 - ownMs, // The header has whole seconds, rounded down.
    location: typeof location === 'string' ? location : undefined,
    body: Buffer.concat(parts).toString('utf8'),
  };
}

/** Connections that go past the proxies of the environment. */
export async function openDirect(): Promise<Dispatcher> {
  const { Agent } = await import('undici');
  return new Agent();
}
