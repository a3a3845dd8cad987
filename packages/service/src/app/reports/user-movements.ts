import type { Ground } from '#app/process/ground.ts';
import { withGiversOf } from '#app/reports/user-usage.ts';
import { createFormerCells, type User } from '#http/cells/wallets/former-cells.ts';
import type { CellPeers, CellRoute } from '#http/cells/questions/question.ts';
import { entriesEverywhere, USER_ENTRIES } from '#http/cells/wallets/entries.ts';
import { movementsEverywhere, USER_DAYS, USER_MOVEMENTS, USER_OTHERS } from '#http/cells/wallets/movements.ts';
import { usageEverywhere } from '#http/cells/wallets/usage.ts';
import { createWalletMovements, type NamedWallet, type WalletMovements } from '#ledger/history/movements.ts';
import { createStayReader, type OfStays } from '#ledger/history/stays.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import type { EntriesElsewhere } from '#operator/money/wallets.ts';
import { createUsage, type UsageReader } from '#calls/usage/usage.ts';

/** What is read of wallets, in all cells. */
export interface UserHistory {
  /** The movements of wallets, for their owners. */
  readonly movements: WalletMovements;
  readonly usage: UsageReader;
  /** The entries in other cells, for operators. It is undefined if there are no other cells. */
  readonly entriesElsewhere: EntriesElsewhere | undefined;
  /** What gateways of other cells may ask about users who were here. */
  readonly cellRoutes: readonly CellRoute[];
}

export function openUserHistory({ pools, log }: Ground, peers: CellPeers | undefined): UserHistory {
  const pool = pools.planes;
  const [local, usage] = [createWalletMovements(pool), createUsage(pool)];
  if (peers === undefined) return { movements: local, usage, entriesElsewhere: undefined, cellRoutes: [] };
  const { own, map, answer: answerOthers } = peers;
  const former = createFormerCells(peers);
  const to = { own, map, former, log };
  const stays = createStayReader(pool);
  const wallets = createWallets(pool);
  const withGivers = withGiversOf(pool);

  async function answer<Row>(user: User, read: (wallet: NamedWallet) => Promise<OfStays<Row>>) {
    const { appId, userId } = user;
    const wallet = await wallets.find(appId, userId);
    const rows = wallet === undefined ? [] : (await read({ appId, userId, walletId: wallet.walletId })).rows;
    return withGivers(user, rows);
  }

  return {
    movements: movementsEverywhere({ local, stays }, to),
    usage: usageEverywhere(usage, former),
    entriesElsewhere: entriesEverywhere(stays, to),
    cellRoutes: [
      answerOthers(USER_MOVEMENTS, (asked) => answer(asked, (wallet) => stays.page(wallet, asked))),
      answerOthers(USER_DAYS, (asked) => answer(asked, (wallet) => stays.days(wallet, asked))),
      answerOthers(USER_OTHERS, (asked) => answer(asked, (wallet) => stays.others(wallet, asked.parts, asked.most))),
      answerOthers(USER_ENTRIES, async (asked) => {
        const { found, givers } = await answer(asked, (wallet) => stays.entries(wallet, asked));
        return { found: found.map((row) => ({ ...row, cell: own })), givers };
      }),
    ],
  };
}
