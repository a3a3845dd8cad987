import { inSnapshot } from '#db/pool/pool.ts';
import { type EntryRow, type HoldRow, selectEntriesOfWallet, selectHoldsOfWallet } from '#ledger/history/queries.ts';
import type { MovementPage, NamedWallet } from '#ledger/history/movements.ts';
import { OPENED_HERE, type Place } from '#ledger/history/place.ts';
import { createWallets, type Wallet, walletOf } from '#ledger/wallet/wallet.ts';
import type { Act } from '#operator/acts/act.ts';
import { doMoneyAct, type MoneyAct, type MoneyGround, type WalletName } from '#operator/money/money-acts.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { WalletFilter, WalletPage, WalletRows } from '#ledger/overview/operator-queries.ts';

export interface WalletDetails {
  readonly wallet: Wallet;
  /** The oldest 1,000. */
  readonly holds: readonly HoldRow[];
  /** The newest first. */
  readonly entries: readonly CellEntry[];
  /** Pass it as `before` to get older entries; undefined on the last page. */
  readonly next: Place | undefined;
}

/** An entry, with the cell that booked it if its wallet was in several. */
export interface CellEntry extends EntryRow {
  readonly cell?: string;
}

/** Entries of a wallet in all cells in which it was. Undefined if it was always in this one. */
export type EntriesElsewhere = (
  wallet: NamedWallet,
  page: MovementPage,
) => Promise<Pick<WalletDetails, 'entries' | 'next'> | undefined>;

/**
 * All real wallets of the service, as operators see and change them. Sandbox wallets are not among them. Every act that moves
 * money is refused beyond the limits of the operator, and is kept if it needs a second person.
 */
export type OperatorWallets = ReturnType<typeof createOperatorWallets>;

const HOLDS_MAX = 1_000;

/** Takes `elsewhere`, which is undefined if there are no other cells. */
export function createOperatorWallets(ground: MoneyGround, elsewhere?: EntriesElsewhere) {
  return {
    /** A wallet with its holds and a page of its entries, all of one moment. Undefined if there is no such wallet. */
    find: async ({ appId, userId }: WalletName, page: MovementPage): Promise<WalletDetails | undefined> => {
      const { before, most } = page;
      const details = await inSnapshot(ground.pool, async (tx): Promise<WalletDetails | undefined> => {
        const wallet = await createWallets(tx).find(appId, userId);
        if (wallet === undefined) return undefined;
        const { walletId } = wallet;
        const holds = await selectHoldsOfWallet(tx, walletId, HOLDS_MAX);
        const found = await selectEntriesOfWallet(tx, walletId, { before: before?.seq, most: most + 1 });
        const entries = found.slice(0, most);
        const last = found.length > most ? entries.at(-1) : undefined;
        return { wallet, holds, entries, next: last && { move: OPENED_HERE, seq: last.seq } };
      });
      if (details === undefined || elsewhere === undefined) return details;
      return { ...details, ...(await elsewhere({ appId, userId, walletId: details.wallet.walletId }, page)) };
    },
    /** Does an act on a wallet. Returns the wallet after it, or the act that waits for a second person (CP-07). */
    act: (act: Act, money: MoneyAct) => doMoneyAct(ground, act, money),
  };
}

export type ListedWallet = ReturnType<typeof listedOf>;

/** The cell that has a wallet is undefined if there are no cells. */
type Row = WalletRows['rows'][number] & { readonly cell?: string };

/** Reads wallets of all apps: in one cell, or in all. */
export type ReadWallets = (
  filter: WalletFilter,
  page: WalletPage,
) => Promise<{ readonly rows: readonly Row[]; readonly upTo: string | undefined }>;

/** Finds wallets of all apps. */
export type WalletList = ReturnType<typeof createWalletList>;

const PLACE_IN_TIME = /^\d{1,17}\.\d{1,18}$/;
const PLACE_BY_USER = /^[ -~]+$/;

export function createWalletList(read: ReadWallets) {
  return {
    /**
     * A page of the wallets that fit. It has looked at 5,000 wallets of each cell at most, so it can be short, or empty, and still have a
     * `next` to pass as `after`: the search goes on there. Refused if `after` is not the `next` of such a list.
     */
    page: async (filter: WalletFilter, page: WalletPage) => {
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
        wallets: shown.map(listedOf),
        next: next === undefined ? undefined : Buffer.from(next, 'utf8').toString('base64url'),
      };
    },
  };
}

function listedOf(row: Row) {
  return { ...walletOf(row), appId: row.app_id, openedAtMs: row.created_at.getTime(), cell: row.cell };
}
