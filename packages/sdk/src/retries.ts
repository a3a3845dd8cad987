import type { Fetch } from './platform.ts';

/** Stock clients count in it how often they have tried, some of them: LangChain always says 0, the AI SDK nothing. */
const COUNT = 'x-stainless-retry-count';
const CALLS_MAX = 1_000;

type Init = NonNullable<Parameters<Fetch>[1]>;

/** A chat call that a retry can be known again by. */
export interface ChatCall {
  readonly url: string;
  readonly userId: string;
  readonly body: string;
}

export type ChatFetch = (call: ChatCall, init: Init) => ReturnType<Fetch>;

/**
 * Gives what sends chat calls, with the retries among them marked: the service then gives the answer again that was paid for and did not
 * arrive, and charges nothing. A retry is the same call for the same user after one that failed otherwise than by a refusal (4xx); how
 * a client counts is not relied upon. It rejects as `send` does, and also where the answer breaks off, unless that is a stream.
 */
export function markRetries(send: Fetch): ChatFetch {
  /** Digests of calls that failed and were not tried again yet, as often as they did. */
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
      // Read here as well, and not by the client alone: what breaks off has not arrived.
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      if (response.ok && isJson) await response.clone().arrayBuffer();
      // What is refused at once was not begun. The refusal of a retry leaves what it came for.
      isLost = isRetry ? !response.ok : response.status >= 500;
      return response;
    } finally {
      // Given up by the caller, too: a client's own time limit looks the same. What it finds then was paid for.
      if (isLost && failed.push(await digestOf(call)) > CALLS_MAX) failed.shift();
    }
  };
}

async function digestOf({ url, userId, body }: ChatCall): Promise<string> {
  const bytes = new TextEncoder().encode([userId, url, body].join('\n'));
  return String.fromCharCode(...new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)));
}
