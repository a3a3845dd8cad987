import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Account } from './accounts.ts';

export interface Message {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** One browser that is signed in. It ends with this process. */
export interface Session {
  readonly account: Account;
  /** What was said so far. */
  readonly messages: Message[];
  /** Whether an answer is being written. */
  isBusy: boolean;
  /** The message that the next page shows, once. */
  notice: string | undefined;
  /** Fires when the session ends. All its work ends then, too. */
  readonly over: AbortSignal;
  /** The `state` of the visit to Purser from which this browser is to come back. */
  state: string | undefined;
}

const COOKIE = 'chat-session';
const LASTS_MS = 12 * 60 * 60 * 1_000;

export interface Sessions {
  /** Returns the header that sets the cookie. */
  readonly open: (account: Account) => string;
  readonly of: (cookies: string | undefined) => Session | undefined;
  /** Returns the header that removes the cookie. It is harmless if there is no session. */
  readonly end: (cookies: string | undefined) => string;
}

export function createSessions(isSecure: boolean): Sessions {
  const sessions = new Map<string, { readonly session: Session; readonly end: () => void }>();
  const attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  return {
    open: (account) => {
      const token = randomToken();
      const key = keyOf(token);
      const over = new AbortController();
      const end = (): void => {
        clearTimeout(timer);
        sessions.delete(key);
        over.abort();
      };
      const timer = setTimeout(end, LASTS_MS).unref();
      const session = { account, messages: [], isBusy: false, notice: undefined, state: undefined, over: over.signal };
      sessions.set(key, { session, end });
      return `${COOKIE}=${token}${attributes}`;
    },
    of: (cookies) => sessions.get(keyOf(tokenOf(cookies)))?.session,
    end: (cookies) => {
      sessions.get(keyOf(tokenOf(cookies)))?.end();
      return `${COOKIE}=${attributes}; Max-Age=0`;
    },
  };
}

/** Makes the `state` by which this session is recognised when its browser comes back from Purser. */
export function beginWay(session: Session): string {
  session.state = randomToken();
  return session.state;
}

/** Whether this `state` belongs to that session. It is valid once. */
export function endWay(session: Session, state: string): boolean {
  const { state: begun } = session;
  if (begun === undefined || begun.length !== state.length) return false;
  if (!timingSafeEqual(Buffer.from(keyOf(begun)), Buffer.from(keyOf(state)))) return false;
  session.state = undefined;
  return true;
}

function randomToken(): string {
  return randomBytes(32).toString('base64url');
}

/** The digest of a token. Only digests are kept, which tell nothing to anybody who sees them. */
function keyOf(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function tokenOf(cookies = ''): string {
  const found = cookies.split('; ').find((cookie) => cookie.startsWith(`${COOKIE}=`));
  return found?.slice(COOKIE.length + 1) ?? '';
}
