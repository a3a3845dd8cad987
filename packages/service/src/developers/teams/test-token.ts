import { type Account, accountOf } from '#developers/sessions/session.ts';
import { lockTeam } from '#developers/teams/queries.ts';
import {
  countTestTokens,
  deleteTestToken,
  insertTestToken,
  selectTestToken,
  selectTestTokens,
  touchTestToken,
} from '#developers/teams/test-token-queries.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { sha256 } from '#kernel/crypto/crypto.ts';
import { type AppId, newTestTokenId } from '#kernel/values/ids.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** A token of an app, without its text. */
export interface TestToken {
  readonly testTokenId: string;
  /** The e-mail of the owner who made it. */
  readonly madeBy: string;
  readonly createdAtMs: number;
  /** The time of the last use, to the minute. It is undefined if the token was never used. */
  readonly lastUsedAtMs: number | undefined;
}

/** Whom a token acts for, and the only app that it is for. */
export interface Tester {
  readonly tokenId: string;
  readonly appId: AppId;
  readonly account: Account;
}

/**
 * Tokens of the control plane for automated tests (SB-07, decision 19). One lists and resets the test users of one app and opens no
 * other route. It works until it is revoked, while the account that made it owns the app. No API key can do what it does.
 */
export interface TestTokens {
  /** Makes a token. Its text is in this answer and nowhere else. Refused beyond ten an app. */
  readonly make: (
    owner: Owner,
    appId: AppId,
  ) => Promise<{ readonly testTokenId: string; readonly text: string } | Refusal<'CONFLICT'>>;
  /** The tokens that work, newest first. */
  readonly list: (appId: AppId) => Promise<readonly TestToken[]>;
  /** Ends a token at once. False if the app has no such token. */
  readonly revoke: (owner: Owner, appId: AppId, testTokenId: string) => Promise<boolean>;
  /** Undefined when the text is unknown, was revoked, or is no test token. */
  readonly find: (text: string) => Promise<Tester | undefined>;
}

const TOKENS_MAX = 10;
const PREFIX = 'svc_tester_';
const RANDOM_LENGTH = 43; // 256 bits.
const SHAPE = /^svc_tester_[0-9A-Za-z]{43}$/;

export function createTestTokens(pool: Pool): TestTokens {
  return {
    make: (owner, appId) =>
      inTransaction(pool, async (tx) => {
        await lockTeam(tx, appId); // Otherwise two at once could both see room for one more.
        if ((await countTestTokens(tx, appId)) >= TOKENS_MAX) {
          return refuse('CONFLICT', `An app has at most ${TOKENS_MAX} test tokens. Revoke one first.`);
        }
        const text = PREFIX + randomBase62(RANDOM_LENGTH);
        const testTokenId = newTestTokenId();
        await insertTestToken(tx, { tokenId: testTokenId, appId, accountId: owner.accountId, digest: sha256(text) });
        const act = { action: 'sandbox.token.create', subject: testTokenId, appId };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return { testTokenId, text };
      }),
    list: async (appId) =>
      (await selectTestTokens(pool, appId)).map((row) => ({
        testTokenId: row.token_id,
        madeBy: row.email,
        createdAtMs: row.created_at.getTime(),
        lastUsedAtMs: row.last_used_at?.getTime(),
      })),
    revoke: (owner, appId, testTokenId) =>
      inTransaction(pool, async (tx) => {
        if (!(await deleteTestToken(tx, appId, testTokenId))) return false;
        const act = { action: 'sandbox.token.revoke', subject: testTokenId, appId };
        await insertAuditEntry(tx, ownersEntry(owner, act));
        return true;
      }),
    find: async (text) => {
      if (!SHAPE.test(text)) return undefined; // No read for texts that cannot be a token of ours.
      const row = await selectTestToken(pool, sha256(text));
      if (row === undefined) return undefined;
      await touchTestToken(pool, row.token_id);
      return { tokenId: row.token_id, appId: row.app_id, account: accountOf(row.account) };
    },
  };
}
