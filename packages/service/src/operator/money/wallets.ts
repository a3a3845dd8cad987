import { inSnapshot } from '#db/pool/pool.ts';
import { type EntryRow, type HoldRow, selectEntriesOfWallet, selectHoldsOfWallet } from '#ledger/history/queries.ts';
import type { MovementPage, NamedWallet } from '#ledger/history/movements.ts';
import { OPENED_HERE, type Place } from '#ledger/history/place.ts';
import { createWallets, type Wallet } from '#ledger/wallet/wallet.ts';
import type { Act } from '#operator/acts/act.ts';
import {
  doMoneyAct,
  type MoneyAct,
  type MoneyGround,
  type MoneyRefusal,
  type WalletName,
} from '#operator/money/money-acts.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';

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
export interface OperatorWallets {
  /** A wallet with its holds and a page of its entries, all of one moment. Undefined if there is no such wallet. */
  readonly find: (name: WalletName, page: MovementPage) => Promise<WalletDetails | undefined>;
  /** Does an act on a wallet. Returns the wallet after it, or the act that waits for a second person (CP-07). */
  readonly act: (act: Act, money: MoneyAct) => Promise<Wallet | PendingAct | MoneyRefusal>;
}

const HOLDS_MAX = 1_000;

/** Takes `elsewhere`, which is undefined if there are no other cells. */
export function createOperatorWallets(ground: MoneyGround, elsewhere?: EntriesElsewhere): OperatorWallets {
  return {
    find: async ({ appId, userId }, page) => {
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
    act: (act, money) => doMoneyAct(ground, act, money),
  };
}
