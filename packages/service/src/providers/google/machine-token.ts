import { systemClock } from '#kernel/time/clock.ts';
import { isJsonObject, parseJson } from '#kernel/text/json.ts';
import type { AccessToken } from '#providers/google/access-tokens.ts';
import { UpstreamError } from '#providers/port/provider.ts';
import type { VendorHttp } from '#providers/transport/vendor-fetch.ts';

const HOST = '169.254.169.254';
const PATH = '/computeMetadata/v1/instance/service-accounts/default/token';
/** A machine that is not Google's has nobody at this address. The service itself answers within milliseconds. */
const TIMEOUT_MS = 3_000;
const FLAVOR = 'metadata-flavor';

/** Variables of the environment, by Google's names. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The token of the service account that Google's machine runs as, from its metadata server. Not by the library: that one would send
 * the request to the proxy of `HTTPS_PROXY`. Throws an `UpstreamError`.
 */
export async function machineToken(
  http: Pick<VendorHttp, 'requestCredentials'>,
  environment: Environment,
  scopes: readonly string[],
): Promise<AccessToken> {
  const host = environment['GCE_METADATA_IP'] || environment['GCE_METADATA_HOST'] || HOST;
  const url = new URL(PATH, /^https?:/.test(host) ? host : `http://${host}`);
  url.searchParams.set('scopes', scopes.join(','));
  const asked = { url: url.href, method: 'GET', headers: { [FLAVOR]: 'Google' }, timeoutMs: TIMEOUT_MS };
  const { status, headers, body } = await http.requestCredentials(asked).catch(() => {
    throw new UpstreamError('unauthorized', 'There is no credentials file, and no metadata server of Google.');
  });
  if (status >= 500 || status === 429) throw new UpstreamError('outage', `The metadata server failed (${status}).`);
  const answer = parseJson(body.toString('utf8'));
  const isGoogle = status === 200 && headers[FLAVOR] === 'Google' && isJsonObject(answer);
  const { access_token: token, expires_in: seconds } = isGoogle ? answer : {};
  if (typeof token === 'string' && typeof seconds === 'number') {
    return { token, expiresAt: systemClock.nowMs() + seconds * 1_000 };
  }
  throw new UpstreamError('unauthorized', `The metadata server gave no token (${status}).`);
}
