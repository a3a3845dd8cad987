import { selectSession } from '#developers/sessions/queries.ts';
import {
  countListenTokens,
  deleteListenToken,
  insertListenToken,
  selectListenToken,
  selectListenTokens,
  touchListenToken,
} from '#developers/teams/listen-token-queries.ts';
import { accountOf, OPERATOR_IDLE_MS, type SignedIn, sessionOf } from '#developers/sessions/session.ts';
import { lockTeam } from '#developers/teams/queries.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { type AppId, newListenTokenId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A token of an app, without its text. */
export interface ListenToken {
  readonly listenTokenId: string;
  /** The e-mail of the account that made it. */
  readonly madeBy: string;
  readonly createdAtMs: number;
  readonly expiresAtMs: number;
  /** The time of the last use, to the minute. It is undefined if the token was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/**
 * Tokens for `purser listen` (decision 20). One opens the event feed of one app and no other route, for a day. It is bound to
 * the session that made it: it ends with it, and acts with the role that its account has in the app at the time.
 */
export interface ListenTokens {
  /** Makes a token. Its text is in this answer and nowhere else. Refused beyond fifty an app. */
  readonly make: (
    owner: Owner,
    signedIn: SignedIn,
    appId: AppId,
  ) => Promise<
    { readonly listenTokenId: string; readonly text: string; readonly expiresAtMs: number } | Refusal<'CONFLICT'>
  >;
  /** The tokens that still work, newest first. */
  readonly list: (appId: AppId) => Promise<readonly ListenToken[]>;
  /** Ends a token at once. A request that waits for events may last 20 s longer. False if the app has no such token. */
  readonly revoke: (owner: Owner, appId: AppId, listenTokenId: string) => Promise<boolean>;
  /** Who a token acts for, and the only app that it is for. Undefined when it is unknown, has ended, or is no listen token. */
  readonly find: (text: string) => Promise<{ readonly signedIn: SignedIn; readonly appId: AppId } | undefined>;
}

const LIFETIME_MS = 24 * 60 * 60 * 1_000;
/** A session that would not open a page any more opens no feed either. */
const AS_LONG = { proofMs: 0, idleMs: OPERATOR_IDLE_MS };
const TOKENS_MAX = 50;
const PREFIX = 'svc_listen_';
const RANDOM_LENGTH = 43; // 256 bits.
const SHAPE = /^svc_listen_[0-9A-Za-z]{43}$/;

export function createListenTokens(pool: Pool): ListenTokens {
  return {
    make: (owner, { session: { sessionId } }, appId) =>
      inTransaction(pool, async (tx) => {
        await lockTeam(tx, appId); // Otherwise two at once could both see room for one more.
        if ((await countListenTokens(tx, appId)) >= TOKENS_MAX) {
          return refuse('CONFLICT', `An app has at most ${TOKENS_MAX} listen tokens. Revoke one first.`);
        }
        const text = PREFIX + randomBase62(RANDOM_LENGTH);
        const listenTokenId = newListenTokenId();
        const token = { tokenId: listenTokenId, appId, sessionId, digest: sha256(text), lifetimeMs: LIFETIME_MS };
        const expiresAt = await insertListenToken(tx, token);
        const after = { expiresAt: expiresAt.toISOString() };
        const act = { action: 'webhook.token.create', subject: listenTokenId, appId, after };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return { listenTokenId, text, expiresAtMs: expiresAt.getTime() };
      }),
    list: async (appId) =>
      (await selectListenTokens(pool, appId)).map((row) => ({
        listenTokenId: row.token_id,
        madeBy: row.email,
        createdAtMs: row.created_at.getTime(),
        expiresAtMs: row.expires_at.getTime(),
        lastUsedAtMs: row.last_used_at?.getTime(),
      })),
    revoke: (owner, appId, listenTokenId) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteListenToken(tx, appId, listenTokenId))) return false;
        const act = { action: 'webhook.token.revoke', subject: listenTokenId, appId };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return true;
      }),
    find: async (text) => {
      if (!SHAPE.test(text)) return undefined; // No read for texts that cannot be a token of ours.
      const token = await selectListenToken(pool, sha256(text));
      const row = token && (await selectSession(pool, token.session_digest, AS_LONG));
      if (token === undefined || row === undefined) return undefined;
      await touchListenToken(pool, token.token_id);
      return {
        signedIn: { account: accountOf(row.account), session: sessionOf(row), isProved: false },
        appId: token.app_id,
      };
    },
  };
}
