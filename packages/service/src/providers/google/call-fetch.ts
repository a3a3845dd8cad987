import type { VendorKey } from '#providers/dialect/dialect.ts';
import type { VendorFetch } from '#providers/transport/vendor-fetch.ts';

const LENGTH_REACHED = '{"candidates":[{"finishReason":"MAX_TOKENS","index":0}]}';

/**
 * The `fetch` of one call, with our own key. It sends one request: when an answer ends with a continuation token, the library asks
 * for more by itself, at the price of the whole prompt again. That request is answered here, with the reason `MAX_TOKENS`.
 */
export function callFetch(fetch: VendorFetch, key: VendorKey | undefined): VendorFetch {
  let isSent = false;
  return (input, init) => {
    if (isSent) return Promise.resolve(lengthReached(String(input instanceof Request ? input.url : input)));
    isSent = true;
    const headers = new Headers(init?.headers);
    headers.delete('x-goog-api-key');
    if (key?.isToken === true) headers.set('authorization', `Bearer ${key.text}`);
    else if (key !== undefined) headers.set('x-goog-api-key', key.text);
    return fetch(input, { ...init, headers });
  };
}

function lengthReached(url: string): Response {
  const isStream = url.includes(':streamGenerateContent');
  const type = isStream ? 'text/event-stream' : 'application/json';
  return new Response(isStream ? `data: ${LENGTH_REACHED}\n\n` : LENGTH_REACHED, { headers: { 'content-type': type } });
}
