import type { KeySource } from '#providers/keys/key-source.ts';
import type { VendorFetch } from '#providers/vendor-fetch.ts';

const UNAUTHENTICATED = 401;
const BAD_REQUEST = 400;
const LENGTH_REACHED = '{"candidates":[{"finishReason":"MAX_TOKENS","index":0}]}';

/**
 * The `fetch` of one call, with our own key. It sends one request: when an answer ends with a continuation token, the library asks
 * for more by itself, at the price of the whole prompt again. That request is answered here, with the reason `MAX_TOKENS`.
 */
export function callFetch(fetch: VendorFetch, key: KeySource | undefined): VendorFetch {
  let isSent = false;
  return async (input, init) => {
    if (isSent) return lengthReached(String(input instanceof Request ? input.url : input));
    isSent = true;
    const headers = new Headers(init?.headers);
    headers.delete('x-goog-api-key');
    const current = await key?.current();
    if (current !== undefined && key?.isToken === true) headers.set('authorization', `Bearer ${current}`);
    else if (current !== undefined) headers.set('x-goog-api-key', current);
    const response = await fetch(input, { ...init, headers });
    if (current !== undefined && (await refusesKey(response))) key?.refused(current);
    return response;
  };
}

/** The Gemini API answers a wrong key with the status of an invalid request. */
async function refusesKey(response: Response): Promise<boolean> {
  if (response.status !== BAD_REQUEST) return response.status === UNAUTHENTICATED;
  return (await response.clone().text()).includes('"API_KEY_INVALID"');
}

function lengthReached(url: string): Response {
  const isStream = url.includes(':streamGenerateContent');
  const type = isStream ? 'text/event-stream' : 'application/json';
  return new Response(isStream ? `data: ${LENGTH_REACHED}\n\n` : LENGTH_REACHED, { headers: { 'content-type': type } });
}
