import { type BoundTo, revokeBoundKey, selectKeysBoundTo } from '#developers/keys/bound-key-queries.ts';
import { type ApiKey, keyOf } from '#developers/keys/api-key.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import type { IdentityId, KeyId } from '#kernel/values/ids.ts';

/** What somebody who owns a wallet may know and do about the live keys that are bound to it (ON-06). */
export interface BoundKeys {
  /** Lists those in force, newest first, at most 25. */
  readonly list: (user: BoundTo) => Promise<readonly ApiKey[]>;
  /**
   * Revokes one for good: at once in this process, and in the others by `WhenEverywhere`. False if this user has no such key in force.
   * The caller has checked that the wallet is theirs.
   */
  readonly stop: (owner: WalletHolder, keyId: KeyId) => Promise<boolean>;
}

interface WalletHolder extends BoundTo {
  readonly identityId: IdentityId;
}

interface BoundKeysOptions {
  readonly pool: Pool;
  /** Makes this process see the revocation before its owner gets the answer. */
  readonly refresh: () => Promise<void>;
}

const LISTED_MAX = 25;

export function createBoundKeys({ pool, refresh }: BoundKeysOptions): BoundKeys {
  return {
    list: async (user) => (await selectKeysBoundTo(pool, user, LISTED_MAX)).map(keyOf),
    stop: async ({ identityId, ...user }, keyId) => {
      const isStopped = await inTransaction(pool, async (tx) => {
        const isRevoked = await revokeBoundKey(tx, { ...user, keyId }, await bumpGeneration(tx, 'accounts'));
        const act = { actor: identityId, action: 'key.stop', subject: keyId, appId: user.appId, reason: undefined };
        if (isRevoked) await insertAuditEntry(tx, act);
        return isRevoked;
      });
      if (isStopped) await refresh();
      return isStopped;
    },
  };
}
