import type { Fetch } from './platform.ts';

/** Some clients count their retries in this header. It is not reliable: LangChain always says 0, the AI SDK sends none. */
const COUNT = 'x-stainless-retry-count';
const CALLS_MAX = 1_000;

type Init = NonNullable<Parameters<Fetch>[1]>;

/** What makes two chat calls the same call. */
export interface ChatCall {
  readonly url: string;
  readonly userId: string;
  readonly body: string;
}

export type ChatFetch = (call: ChatCall, init: Init) => ReturnType<Fetch>;

/**
 * Wraps `send` so that it marks retries. The service then repeats an answer that was paid for and did not arrive, and
 * charges nothing. A retry is the same call for the same user after a failure that was not a refusal (4xx). What clients
 * count themselves is not used. Rejects when `send` does, and when an answer breaks off, unless it is a stream.
 */
export function markRetries(send: Fetch): ChatFetch {
  /** Digests of calls that failed and were not retried yet. A call that failed twice is in it twice. */
  const failed: string[] = [];
  return async (call, init) => {
    const place = failed.length > 0 ? failed.indexOf(await digestOf(call)) : -1;
    const isRetry = place >= 0;
    if (isRetry) failed.splice(place, 1);
    const headers = new Headers(init.headers);
    if (isRetry || !headers.has(COUNT)) headers.set(COUNT, isRetry ? '1' : '0');
    let isLost = true;
    try {
      const response = await send(call.url, { ...init, headers });
      // Read to the end here too: an answer that breaks off has not arrived, even if its headers did.
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      if (response.ok && isJson) await response.clone().arrayBuffer();
      // A refused call was not begun, so there is nothing to fetch again. A refused retry leaves the first answer unfetched.
      isLost = isRetry ? !response.ok : response.status >= 500;
      return response;
    } finally {
      // A call that the caller aborted counts as failed too: a client's own timeout looks the same, and the answer may have
      // been paid for.
      if (isLost && failed.push(await digestOf(call)) > CALLS_MAX) failed.shift();
    }
  };
}

async function digestOf({ url, userId, body }: ChatCall): Promise<string> {
  const bytes = new TextEncoder().encode([userId, url, body].join('\n'));
  return String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
