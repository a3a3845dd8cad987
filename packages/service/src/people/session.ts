import type { Queryable } from '#db/pool/pool.ts';
import type { Email } from '#people/email.ts';
import { deleteCodesOf, deleteExpired, upsertIdentity } from '#people/queries.ts';
import {
  deleteSessions,
  deleteSessionsOf,
  hasSession,
  insertSession,
  selectSession,
  upsertSession,
} from '#people/session-queries.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { type IdentityId, newIdentityId, newSessionId, type SessionId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

/** A person who has shown that they receive mail at this address. */
export interface Identity {
  readonly identityId: IdentityId;
  readonly email: Email;
}

/** A browser in which a person is signed in. */
export interface Person {
  readonly identity: Identity;
  readonly sessionId: SessionId;
  readonly createdAtMs: number;
}

/** The result of signing in. */
export interface PersonSignIn {
  readonly identity: Identity;
  readonly token: string;
  /** The browser's proof that it has signed in with this e-mail. It grants no access, only attempts of its own. */
  readonly known: string;
}

/** Sessions of people who own wallets. They work only as a cookie of the hosted pages, never as an API credential. */
export interface PersonSessions {
  readonly find: (token: string) => Promise<Person | undefined>;
  /** Signs in a person who has proved that the e-mail is theirs. The token appears in this answer only; its digest is stored. */
  readonly open: (email: Email) => Promise<{ readonly identity: Identity; readonly token: string }>;
  /**
   * Signs in a person who is signed in to another cell, under the same id and since the same time. A browser that
   * had this id before is signed out. Undefined if the id is somebody else's here.
   */
  readonly takeOver: (
    from: Pick<Person, 'sessionId' | 'createdAtMs'> & { readonly email: Email },
  ) => Promise<{ readonly identity: Identity; readonly token: string } | undefined>;
  /** Whether a sign-in of this person is in force. */
  readonly isInForce: (signIn: { readonly email: Email; readonly sessionId: SessionId }) => Promise<boolean>;
  /** What `end` does, or `endAll` if `sessionId` is undefined, for a person who may be unknown here. */
  readonly endOf: (email: Email, sessionId: SessionId | undefined) => Promise<void>;
  readonly end: (person: Person) => Promise<void>;
  /** Signs out everywhere, this browser included, and voids every code that was mailed so far. */
  readonly endAll: (person: Person) => Promise<void>;
}

const EXPIRED_MAX = 10_000;
const LIFETIME_MS = 30 * 24 * 60 * 60 * 1_000;
const TOKEN_LENGTH = 43; // 256 bits.
const SHAPE = /^[0-9A-Za-z]{43}$/;

export function createPersonSessions(db: Queryable): PersonSessions {
  return {
    find: async (token) => {
      const row = SHAPE.test(token) ? await selectSession(db, sha256(token)) : undefined;
      if (row === undefined) return undefined;
      const { identity_id: identityId, email, session_id: sessionId, created_at: createdAt } = row;
      return { identity: { identityId, email }, sessionId, createdAtMs: createdAt.getTime() };
    },
    open: async (email) => {
      const row = await upsertIdentity(db, newIdentityId(), email);
      const token = randomBase62(TOKEN_LENGTH);
      const identityId = row.identity_id;
      const digest = sha256(token);
      await insertSession(db, { sessionId: newSessionId(), identityId, digest, lifetimeMs: LIFETIME_MS });
      return { identity: { identityId, email: row.email }, token };
    },
    takeOver: async ({ email, sessionId, createdAtMs }) => {
      const { identity_id: identityId, email: kept } = await upsertIdentity(db, newIdentityId(), email);
      const token = randomBase62(TOKEN_LENGTH);
      const digest = sha256(token);
      const isOpen = await upsertSession(db, { sessionId, identityId, digest, lifetimeMs: LIFETIME_MS, createdAtMs });
      return isOpen ? { identity: { identityId, email: kept }, token } : undefined;
    },
    isInForce: ({ email, sessionId }) => hasSession(db, email, sessionId),
    endOf: async (email, sessionId) => {
      if (sessionId === undefined) await deleteCodesOf(db, email);
      await deleteSessionsOf(db, email, sessionId);
    },
    end: ({ identity, sessionId }) => deleteSessions(db, identity.identityId, sessionId),
    endAll: async ({ identity }) => {
      await deleteCodesOf(db, identity.email);
      await deleteSessions(db, identity.identityId, undefined);
    },
  };
}

/** Deletes expired sessions, codes and challenges. */
export function createForgetSignIns(db: Queryable): () => Promise<void> {
  return () => deleteExpired(db, EXPIRED_MAX);
}
