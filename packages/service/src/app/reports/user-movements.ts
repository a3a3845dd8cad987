import type { CellPeers } from '#app/cells/cell-peers.ts';
import type { Ground } from '#app/process/ground.ts';
import { withGiversOf } from '#app/reports/user-usage.ts';
import { createFormerCells } from '#http/cells/wallets/former-cells.ts';
import { answerCells, type CellRoute } from '#http/cells/questions/question.ts';
import { entriesEverywhere, USER_ENTRIES } from '#http/cells/wallets/entries.ts';
import { movementsEverywhere, USER_DAYS, USER_MOVEMENTS, USER_OTHERS } from '#http/cells/wallets/movements.ts';
import { type User, usageEverywhere } from '#http/cells/wallets/usage.ts';
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
  const { own, map, requests, client } = peers;
  const former = createFormerCells(own, map);
  const to = { own, map, former, client, log };
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
    usage: usageEverywhere(usage, former, client),
    entriesElsewhere: entriesEverywhere(stays, to),
    cellRoutes: [
      answerCells(requests, USER_MOVEMENTS, (asked) => answer(asked, (wallet) => stays.page(wallet, asked))),
      answerCells(requests, USER_DAYS, (asked) => answer(asked, (wallet) => stays.days(wallet, asked))),
      answerCells(requests, USER_OTHERS, (asked) =>
        answer(asked, (wallet) => stays.others(wallet, asked.parts, asked.most)),
      ),
      answerCells(requests, USER_ENTRIES, async (asked) => {
        const { found, givers } = await answer(asked, (wallet) => stays.entries(wallet, asked));
        return { found: found.map((row) => ({ ...row, cell: own })), givers };
      }),
    ],
  };
}
