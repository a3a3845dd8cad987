import type { OperatorRole } from '@purser/contract/operator-access.ts';
import type { AccountRow, Role } from '#developers/accounts/queries.ts';
import {
  deleteOldestSessions,
  deleteOtherSessions,
  deleteSession,
  insertSession,
  selectSession,
  selectSessions,
  type SessionRow,
  touchSession,
} from '#developers/sessions/queries.ts';
import { insertSsoSession } from '#developers/sessions/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { type AccountId, newSessionId, type SessionId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** An account without its password hash, safe to pass around. */
export interface Account {
  readonly accountId: AccountId;
  readonly email: string;
  readonly name: string | undefined;
  readonly role: Role;
  /** The role among operators. It is undefined for owners, see `operatorRoleOf`. */
  readonly operatorRole: OperatorRole | undefined;
  readonly isDisabled: boolean;
  /** The account has proved that mail to its address reaches it. */
  readonly isEmailVerified: boolean;
  readonly hasSecondFactor: boolean;
  /** Signs in through the OpenID Connect provider, which answers for the second factor. It has no password. */
  readonly isSso: boolean;
  readonly createdAtMs: number;
}

/** One sign-in of an account. */
export interface Session {
  readonly sessionId: SessionId;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The time of the last use, to the minute. */
  readonly lastUsedAtMs: number;
}

/** The account behind a control-plane request, and the session it used. */
export interface SignedIn {
  readonly account: Account;
  readonly session: Session;
  /** The session was opened, or its holder proved who they are, within ten minutes, see `needsProof`. */
  readonly isProved: boolean;
}

/** The result of signing in. */
export interface SignIn {
  readonly account: Account;
  readonly session: Session;
  readonly token: string;
  /** The browser's proof that it has signed in before, see `createDevices`. */
  readonly device: string;
}

const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000;
/** An operator's session opens everybody's money, so a stolen or forgotten one ends sooner (CP-06). */
const OPERATOR_LIFETIME_MS = 12 * 60 * 60 * 1_000;
export const OPERATOR_IDLE_MS = 30 * 60 * 1_000;
const SESSIONS_MAX = 100;
/** How long a proof counts, from signing in or from proving it again. */
const PROOF_LIFETIME_MS = 10 * 60 * 1_000;
const PREFIX = 'svc_session_';
const RANDOM_LENGTH = 43; // 256 bits.
const SHAPE = /^svc_session_[0-9A-Za-z]{43}$/;

/** Finds and ends sessions. */
export interface Sessions {
  /** The session of a token. Undefined when it is unknown, expired or revoked, and for an API key (AU-06). */
  readonly find: (token: string) => Promise<SignedIn | undefined>;
  /** The account's sessions that have not expired, newest first. */
  readonly list: (accountId: AccountId) => Promise<readonly Session[]>;
  /** Ends a session at once. False when the account has no such session. */
  readonly revoke: (accountId: AccountId, sessionId: SessionId) => Promise<boolean>;
  /** Ends all other sessions of the account at once. */
  readonly revokeOthers: (signedIn: SignedIn) => Promise<void>;
}

export function createSessions(db: Queryable): Sessions {
  return {
    find: (token) => findSession(db, token),
    list: async (accountId) => (await selectSessions(db, accountId)).map(sessionOf),
    revoke: (accountId, sessionId) => deleteSession(db, accountId, sessionId),
    revokeOthers: ({ account, session }) => deleteOtherSessions(db, account.accountId, session.sessionId),
  };
}

/**
 * Opens a session. Only the token's digest is stored, so this answer is the only place where the token appears (AU-05).
 * Undefined when the account's password has changed since it was checked. Beyond a hundred sessions, the oldest ends.
 */
export function openSession(
  db: Queryable,
  { accountId, passwordHash }: { readonly accountId: AccountId; readonly passwordHash: string },
): Promise<Opened | undefined> {
  return opened(db, accountId, (made) => insertSession(db, { ...made, passwordHash, lifetimeMs: LIFETIME_MS }));
}

/** Opens a session of somebody whom the provider signed in, at `authTimeMs`. Undefined when the account has been disabled. */
export function openSsoSession(
  db: Queryable,
  { accountId, authTimeMs }: { readonly accountId: AccountId; readonly authTimeMs: number | undefined },
): Promise<Opened | undefined> {
  return opened(db, accountId, (made) => insertSsoSession(db, { ...made, authTimeMs }));
}

interface Opened {
  readonly token: string;
  readonly session: Session;
}

interface Made {
  readonly sessionId: SessionId;
  readonly accountId: AccountId;
  readonly digest: Buffer;
  readonly operatorLifetimeMs: number;
}

async function opened(
  db: Queryable,
  accountId: AccountId,
  insert: (made: Made) => Promise<SessionRow | undefined>,
): Promise<Opened | undefined> {
  const token = PREFIX + randomBase62(RANDOM_LENGTH);
  const digest = sha256(token);
  const row = await insert({
    sessionId: newSessionId(),
    accountId,
    digest,
    operatorLifetimeMs: OPERATOR_LIFETIME_MS,
  });
  if (row === undefined) return undefined;
  await deleteOldestSessions(db, accountId, SESSIONS_MAX);
  return { token, session: sessionOf(row) };
}

/** Finds a session and records its use. The record is not part of the answer, so it may lag by a minute. */
async function findSession(db: Queryable, token: string): Promise<SignedIn | undefined> {
  if (!SHAPE.test(token)) return undefined; // No read for texts that cannot be a token of ours.
  const row = await selectSession(db, sha256(token), { proofMs: PROOF_LIFETIME_MS, idleMs: OPERATOR_IDLE_MS });
  if (row === undefined) return undefined;
  // Once a minute: a write for every request would cost more than the time is worth.
  if (row.is_untouched) await touchSession(db, row.session_id);
  return { account: accountOf(row.account), session: sessionOf(row), isProved: row.is_proved };
}

/** Leaves out the password hash. */
export function accountOf(row: AccountRow): Account {
  return {
    accountId: row.account_id,
    email: row.email,
    name: row.name ?? undefined,
    role: row.role,
    operatorRole: row.operator_role ?? undefined,
    isDisabled: row.is_disabled,
    isEmailVerified: row.email_verified_at !== null,
    hasSecondFactor: row.has_second_factor,
    isSso: row.is_sso,
    createdAtMs: row.created_at.getTime(),
  };
}

export function sessionOf(row: SessionRow): Session {
  return {
    sessionId: row.session_id,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at.getTime(),
    lastUsedAtMs: row.last_used_at.getTime(),
  };
}
