import { needsVerifiedEmail } from '#developers/sign-in/email-verification.ts';
import type { MakeSingleUseKey } from '#developers/keys/single-use-keys.ts';
import { type Owner, ownersEntry } from '#audit/entry.ts';
import { insertAuditEntry } from '#audit/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { AppId, EndUserId, Mode } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

interface PlaygroundCall {
  readonly owner: Owner;
  readonly appId: AppId;
  readonly mode: Mode;
  /** The user that the call is for. Like the model that it asks for, it is for the trail. */
  readonly userId: EndUserId;
  readonly model: string;
}

/** Keys for single calls that people make in the console. */
export interface PlaygroundKeys {
  /**
   * A key for one call of this process, within a minute. It is in no list and in no table. A live one spends real money of
   * that user, so it is in the trail, and the account needs a verified e-mail, as for a live key.
   */
  readonly make: (call: PlaygroundCall) => Promise<string | Refusal<'FORBIDDEN' | 'NOT_FOUND'>>;
}

export function createPlaygroundKeys(pool: Pool, makeSingleUseKey: MakeSingleUseKey): PlaygroundKeys {
  return {
    make: async ({ owner, appId, mode, userId, model }) => {
      const notVerified = mode === 'live' ? await needsVerifiedEmail(pool, owner.accountId) : undefined;
      if (notVerified !== undefined) return notVerified;
      const key = await makeSingleUseKey(appId, mode);
      if (key === undefined) return refuse('NOT_FOUND', 'You have no such app.');
      const act = { action: 'playground.call', subject: appId, appId, after: { mode, userId, model } };
      if (mode === 'live') await insertAuditEntry(pool, ownersEntry(owner, act));
      return key;
    },
  };
}
