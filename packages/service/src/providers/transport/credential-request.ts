import type { Dispatcher } from 'undici';
import { UpstreamError } from '#providers/port/provider.ts';

/** How long a request for credentials may take, all of it. */
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** A request of a vendor's library for a token or for keys that end. */
export interface CredentialRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  readonly timeoutMs?: number;
}

export interface CredentialAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/**
 * Sends one request for credentials. It follows no redirects and repeats nothing. Rejects with an `UpstreamError` (`outage`) if there
 * is no answer; every status is an answer.
 */
export async function requestCredentials(
  { url, method, headers, body, timeoutMs = TIMEOUT_MS }: CredentialRequest,
  dispatcher: Dispatcher,
): Promise<CredentialAnswer> {
  const { request } = await import('undici');
  try {
    const answer = await request(url, {
      method,
      headers: { ...headers, 'user-agent': 'purser/1' },
      body: body ?? null,
      dispatcher,
      signal: AbortSignal.timeout(timeoutMs),
    });
    return { status: answer.statusCode, headers: textsOf(answer.headers), body: await bytesOf(answer.body) };
  } catch (cause) {
    throw new UpstreamError('outage', 'The endpoint for credentials could not be reached.', { cause });
  }
}

function textsOf(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

async function bytesOf(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of body) {
    length += part.length;
    if (length > ANSWER_BYTES_MAX) throw new Error('The answer is too large.');
    parts.push(part);
  }
  return Buffer.concat(parts);
}
