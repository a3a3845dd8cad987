import { answerAccountChallenge } from '#developers/factors/queries.ts';
import type { OpenSsoSession, SignInPlace } from '#developers/sessions/open-session.ts';
import type { SendNews } from '#developers/accounts/news.ts';
import { needsProof } from '#developers/sessions/fresh-proof.ts';
import type { SignedIn, SignIn } from '#developers/sessions/session.ts';
import { signInBySso, linkSso, proveBySso } from '#developers/sso/sign-in.ts';
import { personOf } from '#developers/sso/claims.ts';
import { type SsoClient, voidSignIn } from '#developers/sso/client.ts';
import type { SsoSettings } from '#developers/sso/settings.ts';
import { createSsoTickets, type SsoPurpose, type SsoTicket } from '#developers/sso/ticket.ts';
import { countSignIn } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { equalBytes } from '#kernel/crypto/crypto.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { AttemptLimiter } from '#limits/attempt-limiter.ts';

type SsoRefusal = Refusal<
  'BAD_REQUEST' | 'UNAUTHORIZED' | 'FORBIDDEN' | 'CONFLICT' | 'TOO_MANY_REQUESTS' | 'UPSTREAM_PROVIDER_ERROR'
>;

/** Operators sign in through an OpenID Connect provider (CP-06, CP-13, decision 66). */
export interface Sso {
  /** What the provider is called on pages. */
  readonly name: string;
  /**
   * Sends a person to the provider. The browser must keep `cookie` until it comes back. To link an account, its holder must be
   * signed in to it with a fresh proof.
   */
  readonly begin: (asked: {
    readonly purpose: SsoPurpose;
    readonly signedIn: SignedIn | undefined;
    /** The page to go on to afterwards. */
    readonly next: string;
  }) => Promise<{ readonly location: string; readonly cookie: string } | SsoRefusal>;
  /**
   * Judges what the provider sent back, once for each beginning. A sign-in and a link open a session; a proof renews the one
   * that there is.
   */
  readonly finish: (given: {
    readonly cookie: string | undefined;
    readonly query: URLSearchParams;
    readonly signedIn: SignedIn | undefined;
    readonly place: SignInPlace;
  }) => Promise<{ readonly signIn: SignIn | undefined; readonly next: string } | SsoRefusal>;
}

export interface SsoOptions {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly keys: Keys;
  readonly attempts: AttemptLimiter;
  readonly client: SsoClient;
  readonly settings: SsoSettings;
  /** The operator of the settings keeps their password: they are the way in when the provider is down. */
  readonly except: string | undefined;
  readonly open: OpenSsoSession;
  readonly sendNews: SendNews;
}

export function createSso(options: SsoOptions): Sso {
  const { pool, clock, keys, attempts, client, settings } = options;
  const tickets = createSsoTickets(keys.proof('account-sso'), clock);

  return {
    name: settings.name,
    begin: async ({ purpose, signedIn, next }) => {
      const refusal = beginRefusal(options, purpose, signedIn);
      if (refusal !== undefined) return refusal;
      const holder = purpose === 'sign-in' ? '' : (signedIn?.account.accountId ?? '');
      const { cookie, ticket } = tickets.issue({ purpose, holder, next });
      const location = await client.addressOf(ticket, { isFresh: purpose !== 'sign-in' });
      return location instanceof Refusal ? location : { location, cookie };
    },
    finish: async ({ cookie, query, signedIn, place }) => {
      const used = [{ kind: 'sso', of: place.from }] as const;
      const tooMany = await attempts.take(used);
      if (tooMany !== undefined) return tooMany;
      const ticket = tickets.read(cookie);
      const result = ticket === undefined ? voidSignIn() : await judge(options, { ticket, query, signedIn, place });
      if (result instanceof Refusal) {
        await countSignIn(pool, { who: signedIn?.account.accountId, result: 'refused_sso', from: place.from });
        return result;
      }
      await attempts.giveBack(used);
      return { signIn: result === 'proved' ? undefined : result, next: ticket?.next ?? '' };
    },
  };
}

interface Came {
  readonly ticket: SsoTicket;
  readonly query: URLSearchParams;
  readonly signedIn: SignedIn | undefined;
  readonly place: SignInPlace;
}

async function judge(options: SsoOptions, { ticket, query, signedIn, place }: Came) {
  const { pool, client, settings } = options;
  const { purpose } = ticket;
  // First, so that a link of a stranger does not use up the sign-in that is under way.
  if (!equalBytes(Buffer.from(query.get('state') ?? ''), Buffer.from(ticket.state))) return voidSignIn();
  if (purpose !== 'sign-in' && signedIn?.account.accountId !== ticket.holder) return voidSignIn();
  if (!(await answerAccountChallenge(pool, ticket))) return voidSignIn();
  const claims = await client.claimsOf(ticket, query, { isFresh: purpose !== 'sign-in' });
  if (claims instanceof Refusal) return claims;
  const person = personOf(claims, settings);
  if (person instanceof Refusal) return person;
  const entering = { ...options, person, place };
  return inTransaction(pool, async (tx) => {
    if (purpose === 'sign-in' || signedIn === undefined) return signInBySso(tx, entering);
    return purpose === 'prove' ? proveBySso(tx, entering, signedIn) : linkSso(tx, entering, signedIn);
  });
}

function beginRefusal(
  { settings, except }: SsoOptions,
  purpose: SsoPurpose,
  signedIn: SignedIn | undefined,
): Refusal<'UNAUTHORIZED' | 'CONFLICT' | 'FORBIDDEN'> | undefined {
  if (purpose === 'sign-in') return undefined;
  if (signedIn === undefined) return refuse('UNAUTHORIZED', 'Sign in first.');
  const { isSso, email } = signedIn.account;
  if (purpose === 'prove') {
    return isSso ? undefined : refuse('CONFLICT', `This account does not sign in through ${settings.name}.`);
  }
  if (isSso) return refuse('CONFLICT', `This account signs in through ${settings.name} already.`);
  if (email === except) {
    return refuse(
      'CONFLICT',
      'This account is the operator of the settings. It keeps its password, as the way in when the provider is down.',
    );
  }
  return needsProof(signedIn);
}
