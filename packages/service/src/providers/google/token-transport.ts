import type { gaxios } from 'google-auth-library';
import { UpstreamError } from '#providers/provider.ts';
import type { VendorFetch, VendorHttp } from '#providers/vendor-fetch.ts';

type Fetch = NonNullable<gaxios.GaxiosOptions['fetchImplementation']>;

/** How long a request for a token may take, all of it. */
const TIMEOUT_MS = 10_000;
const ANSWER_BYTES_MAX = 64 * 1024;

/** The library knows no other token endpoint for service accounts: it ignores the `token_uri` of their file. */
export const GOOGLE_TOKEN_URI = 'https://oauth2.googleapis.com/token';

/**
 * The `fetch` of the library that gets access tokens. Its POSTs go to token endpoints, and take our HTTP with its proxies and
 * certificates. What it reads by GET are metadata services of the machine itself, which no proxy could reach. Nothing follows a
 * redirect, and nothing is retried. `tokenUri` replaces Google's endpoint for service accounts.
 */
export function tokenFetch(http: VendorHttp, tokenUri: string): Fetch {
  const post = http.fetchFor({ bytesMax: ANSWER_BYTES_MAX, framing: 'events', checkBody: () => {} });
  return async (input, init = {}) => {
    const address = String(input instanceof Request ? input.url : input);
    const url = address === GOOGLE_TOKEN_URI ? tokenUri : address;
    const headers = new Headers(init.headers);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      if (init.method !== 'POST') return await readLocally(url, headers, signal);
      const { body } = init;
      if (body instanceof URLSearchParams) headers.set('content-type', 'application/x-www-form-urlencoded');
      return await post(url, { headers, body: textOf(body ?? ''), signal });
    } catch (cause) {
      throw new UpstreamError('outage', 'The token endpoint could not be reached.', { cause });
    }
  };
}

/** The library sends forms, and JSON as text. */
function textOf(body: unknown): string {
  if (typeof body === 'string') return body;
  if (body instanceof URLSearchParams) return body.toString();
  throw new Error('The library for access tokens sent a body that is not text.');
}

async function readLocally(url: string, headers: Headers, signal: AbortSignal): ReturnType<VendorFetch> {
  const { request } = await import('undici');
  const { statusCode, body } = await request(url, { headers: Object.fromEntries(headers), signal });
  return new Response(await body.text(), { status: statusCode });
}
