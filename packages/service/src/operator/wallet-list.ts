import type { Pool } from '#db/pool.ts';
import type { AppId } from '#kernel/ids.ts';
import { selectAnyWallets, type WalletFilter } from '#ledger/wallet/operator-queries.ts';
import { type Wallet, walletOf } from '#ledger/wallet/wallet.ts';

/** How many wallets one page may look at: some 10 ms of PostgreSQL. */
const LOOK_MOST = 5_000;

export interface ListedWallet extends Wallet {
  readonly appId: AppId;
  readonly openedAtMs: number;
}

interface Page {
  readonly isOldestFirst: boolean;
  /** The `next` of the page before. */
  readonly after: bigint | undefined;
  readonly most: number;
}

/** Finds wallets of all apps. */
export interface WalletList {
  /**
   * A page of the wallets that fit. It has looked at 5,000 wallets at most, so it can be short, or empty, and still have a
   * `next`: the search goes on there.
   */
  readonly page: (
    filter: WalletFilter,
    page: Page,
  ) => Promise<{ readonly wallets: readonly ListedWallet[]; readonly next: bigint | undefined }>;
}

export function createWalletList(pool: Pool): WalletList {
  return {
    page: async (filter, page) => {
      const { rows, last } = await selectAnyWallets(pool, filter, {
        ...page,
        most: page.most + 1,
        lookMost: LOOK_MOST,
      });
      const wallets = rows.slice(0, page.most).map((row) => ({
        ...walletOf(row),
        appId: row.app_id,
        openedAtMs: row.created_at.getTime(),
      }));
      return { wallets, next: rows.length > page.most ? wallets.at(-1)?.walletId : last };
    },
  };
}
