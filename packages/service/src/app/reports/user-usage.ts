import type { Ground } from '#app/process/ground.ts';
import { selectGivers } from '#cells/topology/queries.ts';
import { slotOf } from '#kernel/values/slot.ts';
import type { Pool } from '#db/pool/pool.ts';
import { createFormerCells, type FormerAnswer, type User } from '#http/cells/wallets/former-cells.ts';
import type { CellPeers, CellRoute } from '#http/cells/questions/question.ts';
import { USER_CALLS, USER_MONTH, USER_RECEIPT, usageEverywhere } from '#http/cells/wallets/usage.ts';
import { createWallets, type Wallets } from '#ledger/wallet/wallet.ts';
import { selectReceipt } from '#calls/usage/queries.ts';
import { createUsage, type UsageReader } from '#calls/usage/usage.ts';

/** What apps read of their users beside calls: wallets, and what was used. */
export interface UserReads {
  readonly wallets: Wallets;
  readonly usage: UsageReader;
  /** What gateways of other cells may ask about it. */
  readonly cellRoutes: readonly CellRoute[];
}

export function openUserReads({ pools }: Ground, peers: CellPeers | undefined): UserReads {
  const db = pools.reads;
  const [wallets, usage] = [createWallets(db), createUsage(db)];
  if (peers === undefined) return { wallets, usage, cellRoutes: [] };
  const { answer } = peers;
  const withGivers = withGiversOf(db);
  return {
    wallets,
    usage: usageEverywhere(usage, createFormerCells(peers)),
    cellRoutes: [
      answer(USER_RECEIPT, async ({ appId, userId, callId }) => {
        const row = await selectReceipt(db, appId, callId);
        return withGivers({ appId, userId }, row?.user_id === userId ? row : null);
      }),
      answer(USER_CALLS, async ({ appId, userId, calls }) => {
        const wallet = await wallets.find(appId, userId);
        const found = wallet === undefined ? [] : await usage.ofCalls({ appId, ...wallet }, calls);
        return withGivers(
          { appId, userId },
          [...found].map(([callId, one]) => ({ callId, ...one })),
        );
      }),
      answer(USER_MONTH, async ({ appId, userId, month }) => {
        const wallet = await wallets.find(appId, userId);
        const found = wallet === undefined ? [] : await usage.ofMonth({ appId, ...wallet }, month);
        return withGivers({ appId, userId }, found);
      }),
    ],
  };
}

/**
 * What this cell has found of a user, with the cells that gave their slot to it. From the database, and not from the map in memory, which
 * may be a moment older than a move from here.
 */
export function withGiversOf(db: Pool) {
  return async <Found>({ appId, userId }: User, found: Found): Promise<FormerAnswer<Found>> => {
    const givers = await selectGivers(db, slotOf(appId, userId));
    return { found, givers: givers.map(({ cell }) => cell) };
  };
}
