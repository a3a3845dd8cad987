import type { Fetch } from './platform.ts';

const KEY = 'idempotency-key';
/** So many calls take about 2 MB, and they are more than an app has under way at once. */
const CALLS_MAX = 10_000;

type Init = NonNullable<Parameters<Fetch>[1]>;

/** What makes two chat calls the same call. */
interface ChatCall {
  readonly url: string;
  readonly userId: string;
  readonly body: string;
}

export type ChatFetch = (call: ChatCall, init: Init) => ReturnType<Fetch>;

/**
 * Wraps `send` so that each call carries an idempotency key, and a retry the key of the call that failed. The service then
 * gives the answer that was paid for again, and charges nothing. A retry is the same call for the same user after one that
 * failed, no matter who makes it: LangChain and the AI SDK do not count theirs. Rejects when `send` does, and when an
 * answer breaks off, unless it is a stream.
 */
export function keyCalls(send: Fetch): ChatFetch {
  /** The keys of calls that failed and were not retried yet, by the digest of the call. The oldest comes first. */
  const failed = new Map<string, string[]>();

  async function keyOf(call: ChatCall): Promise<string> {
    if (failed.size > 0) {
      const digest = await digestOf(call);
      const [key, ...others] = failed.get(digest) ?? [];
      if (others.length > 0) failed.set(digest, others);
      else failed.delete(digest);
      if (key) return key;
    }
    return crypto.randomUUID();
  }

  async function remember(call: ChatCall, key: string): Promise<void> {
    const digest = await digestOf(call);
    failed.set(digest, [...(failed.get(digest) ?? []), key]);
    const [oldest = ''] = failed.keys();
    if (failed.size > CALLS_MAX) failed.delete(oldest);
  }

  return async (call, init) => {
    const key = await keyOf(call);
    const headers = new Headers(init.headers);
    headers.set(KEY, key);
    let hasFailed = true;
    try {
      const response = await send(call.url, { ...init, headers });
      // Read to the end here too: an answer that breaks off has not arrived, even if its headers did.
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      if (response.ok && isJson) await response.clone().arrayBuffer();
      hasFailed = !response.ok;
      return response;
    } finally {
      // A call that the caller aborted counts as failed too: a client's own timeout looks the same, and the answer may have
      // been paid for.
      if (hasFailed) await remember(call, key);
    }
  };
}

async function digestOf({ url, userId, body }: ChatCall): Promise<string> {
  const bytes = new TextEncoder().encode([userId, url, body].join('\n'));
  return String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
