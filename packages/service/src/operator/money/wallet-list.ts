import type { AppId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { WalletFilter, WalletPage, WalletRows } from '#ledger/overview/operator-queries.ts';
import { type Wallet, walletOf } from '#ledger/wallet/wallet.ts';

export interface ListedWallet extends Wallet {
  readonly appId: AppId;
  readonly openedAtMs: number;
  /** The cell that has it. Undefined if there are no cells. */
  readonly cell: string | undefined;
}

interface ListedWallets {
  readonly wallets: readonly ListedWallet[];
  /** Pass it as `after` to get the next page. Undefined if there is none. */
  readonly next: string | undefined;
}

/** Reads wallets of all apps: in one cell, or in all. */
export type ReadWallets = (
  filter: WalletFilter,
  page: WalletPage,
) => Promise<{
  readonly rows: readonly (WalletRows['rows'][number] & { readonly cell?: string })[];
  readonly upTo: string | undefined;
}>;

/** Finds wallets of all apps. */
export interface WalletList {
  /**
   * A page of the wallets that fit. It has looked at 5,000 wallets of each cell at most, so it can be short, or empty, and still have a
   * `next`: the search goes on there. Refused if `after` is not the `next` of such a list.
   */
  readonly page: (filter: WalletFilter, page: WalletPage) => Promise<ListedWallets | Refusal<'BAD_REQUEST'>>;
}

const PLACE_IN_TIME = /^\d{1,17}\.\d{1,18}$/;
const PLACE_BY_USER = /^[ -~]+$/;

export function createWalletList(read: ReadWallets): WalletList {
  return {
    page: async (filter, page) => {
      const after = page.after === undefined ? undefined : Buffer.from(page.after, 'base64url').toString('utf8');
      const place = filter.userId === undefined ? PLACE_IN_TIME : PLACE_BY_USER;
      if (after !== undefined && !place.test(after)) {
        return refuse('BAD_REQUEST', '`after` must be the `next` of an earlier page of the same list.', {
          param: 'after',
        });
      }
      const { rows, upTo } = await read(filter, { ...page, after, most: page.most + 1 });
      const shown = rows.slice(0, page.most);
      const next = rows.length > page.most ? shown.at(-1)?.place : upTo;
      return {
        wallets: shown.map((row) => ({
          ...walletOf(row),
          appId: row.app_id,
          openedAtMs: row.created_at.getTime(),
          cell: row.cell,
        })),
        next: next === undefined ? undefined : Buffer.from(next, 'utf8').toString('base64url'),
      };
    },
  };
}
