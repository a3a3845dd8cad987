import type { ClientAuth, Configuration } from 'openid-client';
import { type Claims, mergedClaims } from '#developers/sso/claims.ts';
import type { SsoSettings } from '#developers/sso/settings.ts';
import type { SsoTicket } from '#developers/sso/ticket.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import type { Log } from '#kernel/log.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** Talks to the OpenID Connect provider. */
export interface SsoClient {
  /** The provider's page that signs a person in. `isFresh`: it asks them to show who they are, even if it knows them. */
  readonly addressOf: (
    ticket: SsoTicket,
    options: { readonly isFresh: boolean },
  ) => Promise<string | Refusal<'UPSTREAM_PROVIDER_ERROR'>>;
  /** What the provider says about the person who came back with `query`. Every check of the answer and its token is made. */
  readonly claimsOf: (
    ticket: SsoTicket,
    query: URLSearchParams,
    options: { readonly isFresh: boolean },
  ) => Promise<Claims | Refusal<'UPSTREAM_PROVIDER_ERROR' | 'FORBIDDEN' | 'BAD_REQUEST'>>;
}

interface SsoClientOptions {
  readonly settings: SsoSettings;
  /** The address that the provider sends people back to. */
  readonly callback: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The provider's addresses and algorithms are read again after this. */
const DISCOVERY_MS = 60 * 60 * 1_000;
/** The limit of each request to the provider, because a person waits for it. */
const TIMEOUT_SECONDS = 5;
/**
 * How long a person may have been signed in at the provider: as long as a session of an operator here. It makes the provider say
 * since when. Providers that know no `max_age` leave that out, so it is not checked; it counts as a proof only if it is recent.
 */
const KNOWN_SECONDS = 12 * 60 * 60;
/** How far the provider's clock may differ from ours. */
const CLOCK_TOLERANCE_SECONDS = 30;
/** How long ago a person may have shown the provider who they are, for it to be a fresh proof. The time is the ticket's. */
const FRESH_SECONDS = 10 * 60;

export function createSsoClient(options: SsoClientOptions): SsoClient {
  const { settings, callback, log } = options;
  const discovered = createDiscovery(options);

  /** The library's messages may quote tokens, so the log gets its codes only. */
  async function attempt<Result>(step: string, work: () => Promise<Result>) {
    try {
      return await work();
    } catch (fault) {
      const { refusal, reason } = await judged(fault, settings.name);
      log.warn({ step, reason }, 'a sign-in through the OpenID Connect provider failed');
      return refusal;
    }
  }

  return {
    addressOf: async (ticket, { isFresh }) => {
      const address = await attempt('begin', async () => {
        const { buildAuthorizationUrl } = await import('openid-client');
        return buildAuthorizationUrl(await discovered(), {
          redirect_uri: callback,
          scope: settings.scopes,
          state: ticket.state,
          nonce: ticket.nonce,
          code_challenge: sha256(ticket.verifier).toString('base64url'),
          code_challenge_method: 'S256',
          max_age: String(isFresh ? FRESH_SECONDS : KNOWN_SECONDS),
          ...(isFresh ? { prompt: 'login' } : {}),
        }).href;
      });
      return typeof address === 'string' ? address : awayOf(settings.name);
    },
    claimsOf: (ticket, query, { isFresh }) =>
      attempt('finish', async () => {
        const { authorizationCodeGrant, fetchUserInfo } = await import('openid-client');
        const configuration = await discovered();
        const tokens = await authorizationCodeGrant(configuration, new URL(`${callback}?${query.toString()}`), {
          expectedState: ticket.state,
          expectedNonce: ticket.nonce,
          pkceCodeVerifier: ticket.verifier,
          idTokenExpected: true,
          ...(isFresh ? { maxAge: FRESH_SECONDS } : {}),
        });
        const claims: Claims = { ...tokens.claims() };
        const isWhole = 'email' in claims && settings.roleClaim in claims;
        const { userinfo_endpoint: endpoint } = configuration.serverMetadata();
        if (isWhole || endpoint === undefined || typeof claims['sub'] !== 'string') return claims;
        // Many providers keep the rest of the claims there.
        return mergedClaims(claims, await fetchUserInfo(configuration, tokens.access_token, claims['sub']));
      }),
  };
}

/** Finds out the provider's addresses, and keeps them for an hour. A failure is not kept. */
function createDiscovery({ settings, clock }: SsoClientOptions): () => Promise<Configuration> {
  let kept: { readonly configuration: Promise<Configuration>; readonly untilMs: number } | undefined;
  return async () => {
    if (kept !== undefined && clock.nowMs() < kept.untilMs) return kept.configuration;
    const found = { configuration: discover(settings), untilMs: clock.nowMs() + DISCOVERY_MS };
    kept = found;
    try {
      return await found.configuration;
    } catch (fault) {
      if (kept === found) kept = undefined;
      throw fault;
    }
  };
}

async function discover({ issuer, clientId, clientSecret }: SsoSettings): Promise<Configuration> {
  const openid = await import('openid-client');
  const { ClientSecretBasic, ClientSecretPost } = openid;
  // RFC 8414: a provider that lists no methods takes `client_secret_basic`.
  const authenticate: ClientAuth = (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    const by = methods.includes('client_secret_basic') ? ClientSecretBasic : ClientSecretPost;
    return by(clientSecret)(server, ...rest);
  };
  const server = new URL(issuer);
  return openid.discovery(
    server,
    clientId,
    { client_secret: clientSecret, [openid.clockTolerance]: CLOCK_TOLERANCE_SECONDS },
    authenticate,
    {
      timeout: TIMEOUT_SECONDS,
      // The signature is checked although the token comes straight from the provider. Only loopback may do without TLS.
      execute: [
        openid.enableNonRepudiationChecks,
        ...(server.protocol === 'http:' ? [openid.allowInsecureRequests] : []),
      ],
    },
  );
}

type Judged = {
  readonly refusal: Refusal<'UPSTREAM_PROVIDER_ERROR' | 'FORBIDDEN' | 'BAD_REQUEST'>;
  readonly reason: string;
};

/** What a failure means to the person, and its code for the log. */
async function judged(fault: unknown, name: string): Promise<Judged> {
  const { AuthorizationResponseError, ClientError, ResponseBodyError } = await import('openid-client');
  if (fault instanceof AuthorizationResponseError) {
    return {
      refusal: refuse('FORBIDDEN', `${name} did not sign you in. Try again, or ask the people who run it.`),
      reason: codeOf(fault.error),
    };
  }
  if (fault instanceof ResponseBodyError) return { refusal: voidSignIn(), reason: codeOf(fault.error) };
  const cause = fault instanceof Error ? fault.cause : undefined;
  if (fault instanceof ClientError && !(cause instanceof DOMException)) {
    const isAway = fault.code === 'OAUTH_RESPONSE_IS_NOT_CONFORM' || fault.code === 'OAUTH_TIMEOUT';
    return { refusal: isAway ? awayOf(name) : voidSignIn(), reason: codeOf(fault.code) };
  }
  return { refusal: awayOf(name), reason: fault instanceof Error ? fault.name : 'unknown' };
}

/** Codes of the protocol are short words. Anything else a provider wrote does not get into the log. */
function codeOf(text: unknown): string {
  return typeof text === 'string' && /^\w{1,64}$/.test(text) ? text : 'unknown';
}

function awayOf(name: string): Refusal<'UPSTREAM_PROVIDER_ERROR'> {
  return refuse('UPSTREAM_PROVIDER_ERROR', `${name} does not answer as it should. Try again in a minute.`);
}

/** One answer for everything that does not fit together. The log says which it was. */
export function voidSignIn(): Refusal<'BAD_REQUEST'> {
  return refuse(
    'BAD_REQUEST',
    'This sign-in is not valid. It was used before, has expired, or began in another browser. Start again.',
  );
}
