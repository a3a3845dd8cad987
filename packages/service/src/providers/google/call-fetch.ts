import type { VendorFetch } from '#providers/vendor-fetch.ts';

/** Says who we are in the headers of a request. */
export interface Authorization {
  /** The header of the next request. Rejects with an `UpstreamError` if there is none to be had. */
  readonly header: () => Promise<Readonly<Record<string, string>>>;
  /** The vendor refused this header as unknown or ended (401). */
  readonly onRefused: (header: Readonly<Record<string, string>>) => void;
}

const UNAUTHENTICATED = 401;
const LENGTH_REACHED = '{"candidates":[{"finishReason":"MAX_TOKENS","index":0}]}';

/**
 * The `fetch` of one call, with our own credentials. It sends one request: when an answer ends with a continuation token, the library
 * asks for more by itself, at the price of the whole prompt again. That request is answered here, with the reason `MAX_TOKENS`.
 */
export function callFetch(fetch: VendorFetch, authorization: Authorization): VendorFetch {
  let isSent = false;
  return async (input, init) => {
    if (isSent) return lengthReached(String(input instanceof Request ? input.url : input));
    isSent = true;
    const headers = new Headers(init?.headers);
    headers.delete('x-goog-api-key');
    const header = await authorization.header();
    for (const [name, value] of Object.entries(header)) headers.set(name, value);
    const response = await fetch(input, { ...init, headers });
    if (response.status === UNAUTHENTICATED) authorization.onRefused(header);
    return response;
  };
}

function lengthReached(url: string): Response {
  const isStream = url.includes(':streamGenerateContent');
  const type = isStream ? 'text/event-stream' : 'application/json';
  return new Response(isStream ? `data: ${LENGTH_REACHED}\n\n` : LENGTH_REACHED, { headers: { 'content-type': type } });
}
