import type { gaxios } from 'google-auth-library';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

type Fetch = NonNullable<gaxios.GaxiosOptions['fetchImplementation']>;

/** The library knows no other token endpoint for service accounts: it ignores the `token_uri` of their file. */
export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';

/**
 * The `fetch` of the library that gets access tokens: our HTTP, with its proxies and certificates. Metadata services are reached
 * directly. Nothing follows a redirect, and nothing is retried. `tokenUri` replaces Google's endpoint for service accounts.
 */
export function tokenFetch(http: Pick<VendorHttp, 'requestCredentials'>, tokenUri: string): Fetch {
  return async (input, init = {}) => {
    const address = String(input instanceof Request ? input.url : input);
    const url = address === GOOGLE_TOKEN_URI ? tokenUri : address;
    const headers = new Headers(init.headers);
    if (init.body instanceof URLSearchParams) headers.set('content-type', 'application/x-www-form-urlencoded');
    const { method = 'GET', body } = init;
    const asked = { url, method, headers: Object.fromEntries(headers), body: textOf(body) };
    const answer = await http.requestCredentials(asked);
    // Statuses such as 204 allow no body.
    return new Response(answer.body.length === 0 ? null : new Uint8Array(answer.body), {
      status: answer.status,
      headers: answer.headers,
    });
  };
}

/** The library sends forms, and JSON as text. */
function textOf(body: unknown): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('The library for access tokens sent a body that is not text.');
}
