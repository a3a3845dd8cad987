import { countSignIn } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { type Email, emailOf } from '#people/email.ts';
import { createKnownBrowsers } from '#people/known-browser.ts';
import { answerChallenge } from '#people/queries.ts';
import { createPersonSessions, type Person, type PersonSignIn } from '#people/session.ts';
import type { Clock } from '#kernel/time/clock.ts';
import { equalBytes, seal, sha256 } from '#kernel/crypto/crypto.ts';
import { parseId, type SessionId } from '#kernel/values/ids.ts';
import { type Keys, unsealAny } from '#kernel/crypto/keys.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** A person's sign-in, as cells name it to each other. It has the same id in all of them. */
export interface SignInElsewhere {
  readonly email: Email;
  readonly sessionId: SessionId;
}

/** What one cell tells another about a person who goes there. Only sealed, and for a minute. */
interface HandOver extends SignInElsewhere {
  /** The cell in which the person is signed in. */
  readonly from: string;
  /** When they signed in. A hand-over makes no sign-in younger. */
  readonly createdAtMs: number;
  /** The return path in the other cell. */
  readonly next: string;
  /** Whether nobody has shown its token before. */
  readonly isFirst: boolean;
}

/**
 * Takes people who are signed in to one cell to their pages in another, without a second sign-in. The other cell begins it, in the browser
 * that will be signed in: so nobody can sign somebody else's browser in as themselves.
 */
export interface HandOvers {
  /** A secret for the cookie of a browser that is about to leave, and its digest, which may stand in an address. */
  readonly begin: (kept: string | undefined) => { readonly secret: string; readonly state: string };
  /** The token for a person who goes to the cell `to`. Undefined if no cell has begun this (`state`). */
  readonly offer: (person: Person, to: string, way: Way) => string | undefined;
  /** Opens a token that came in an address, and uses it up, also in a wrong browser. Undefined if it is forged, expired, or for another cell. */
  readonly spend: (token: string) => Promise<Spent | undefined>;
  /** Signs in the browser that began it (`secret`). Undefined if it was another browser, or the sign-in has ended there. */
  readonly take: (spent: Spent, browser: Browser) => Promise<PersonSignIn | undefined>;
}

interface Way {
  readonly state: string;
  readonly next: string;
}

type Spent = HandOver & Pick<Way, 'state'>;

interface Browser {
  readonly secret: string | undefined;
  /** The network address of the caller. */
  readonly address: string;
}

interface HandOverOptions {
  readonly pool: Pool;
  readonly keys: Keys;
  readonly clock: Clock;
  /** The name of this cell. */
  readonly own: string;
  /** Asks another cell whether a sign-in is still in force there. */
  readonly isInForce: (cell: string, signIn: SignInElsewhere) => Promise<boolean>;
}

/** How long a token works, and how far the clocks of two machines may be apart. */
const LIFETIME_MS = 60_000;
const CONTEXT = Buffer.from('hand-over');
const TOKEN = /^[A-Za-z0-9_-]{38,8000}$/;
const SECRET_LENGTH = 43; // 256 bits.
const SECRET = /^[0-9A-Za-z]{43}$/;
const STATE = /^[A-Za-z0-9_-]{43}$/;

export function createHandOvers({ pool, keys, clock, own, isInForce }: HandOverOptions): HandOvers {
  const sealKeys = keys.proof('person-hand-over');
  const browsers = createKnownBrowsers(keys);
  const sessions = createPersonSessions(pool);
  return {
    begin: (kept = '') => {
      // Two pages that are opened at once share the value, so that neither makes the other one fail.
      const secret = SECRET.test(kept) ? kept : randomBase62(SECRET_LENGTH);
      return { secret, state: sha256(secret).toString('base64url') };
    },
    offer: ({ identity, sessionId, createdAtMs }, to, { state, next }) => {
      if (!STATE.test(state)) return undefined;
      const said: Sealed = [own, to, clock.nowMs(), state, next, identity.email, sessionId, createdAtMs];
      return seal(sealKeys[0], CONTEXT, JSON.stringify(said)).toString('base64url');
    },
    spend: async (token) => {
      const bytes = TOKEN.test(token) ? Buffer.from(token, 'base64url') : undefined;
      // Different texts can decode to the same bytes. Each could be shown once, so only one of them is valid.
      if (bytes?.toString('base64url') !== token) return undefined;
      const said = readSealed(unsealAny(sealKeys, CONTEXT, bytes));
      if (said === undefined || said.to !== own || Math.abs(clock.nowMs() - said.atMs) > LIFETIME_MS) return undefined;
      const isFirst = await answerChallenge(pool, { digest: sha256(token), expiresAtMs: said.atMs + LIFETIME_MS });
      return { ...said, isFirst };
    },
    take: async ({ isFirst, state, from, ...signIn }, { secret = '', address }) => {
      if (!isFirst || !equalBytes(sha256(secret), Buffer.from(state, 'base64url'))) return undefined;
      const opened = await inTransaction(pool, async (tx) => {
        const taken = await createPersonSessions(tx).takeOver(signIn);
        if (taken === undefined) return undefined;
        await countSignIn(tx, { who: taken.identity.identityId, result: 'signed_in', from: address });
        return taken;
      });
      if (opened === undefined) return undefined;
      // Asked only now: a sign-out there that comes later ends this session too. Asked before, it could be opened just after that.
      if (await isInForce(from, signIn)) return { ...opened, known: browsers.issue(signIn.email) };
      await sessions.endOf(signIn.email, signIn.sessionId);
      return undefined;
    },
  };
}

/**
 * The elements are from, to, when, state, next, and who: e-mail, session, since when. It is a list, because it stands
 * in an address.
 */
type Sealed = readonly [string, string, number, string, string, Email, SessionId, number];

/** It was sealed by a gateway, but perhaps by one of another version. */
function readSealed(text: string | undefined): (Omit<Spent, 'isFirst'> & { to: string; atMs: number }) | undefined {
  if (text === undefined) return undefined;
  const [from, to, atMs, state, next, shownEmail, shownId, createdAtMs] = JSON.parse(text) as Partial<Sealed>;
  const email = emailOf(shownEmail ?? '');
  const sessionId = parseId('session', shownId);
  if (from === undefined || to === undefined || atMs === undefined || state === undefined) return undefined;
  if (next === undefined || email === undefined || sessionId === undefined || createdAtMs === undefined)
    return undefined;
  return { from, to, atMs, state, next, email, sessionId, createdAtMs };
}
