import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow, microsSumFromRow, ZERO_MICROS } from '#kernel/values/micros.ts';
import {
  forgetOwner,
  forgetSessions,
  insertWallet,
  lockWallet,
  type NewWallet,
  selectConnectedWallet,
  selectWallet,
  updateCap,
  updateConnected,
  type WalletRow,
} from '#ledger/wallet/queries.ts';

/** A real wallet as its owner may see it (BI-01). */
export interface Wallet {
  /** Receipts refer to it. Internal: callers never see it. */
  readonly walletId: bigint;
  readonly userId: EndUserId;
  readonly currency: string;
  readonly isConnected: boolean;
  readonly isSuspended: boolean;
  readonly balance: Micros;
  /** The sum of the holds of running calls. */
  readonly held: Micros;
  /** What a new call may use: balance minus held, never below 0 (WA-12). */
  readonly available: Micros;
  /** What a claw-back or refund could not take. It is owed to us, and the wallet is suspended meanwhile (WA-06). */
  readonly shortfall: Micros;
  /** The monthly cap. It is undefined if there is no cap. */
  readonly cap: Micros | undefined;
  readonly spentThisMonth: Micros;
}

interface WalletKey {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

export interface Wallets {
  /** Finds the wallet of an (app, user) pair, connected or not. Undefined if there is none. */
  readonly find: (appId: AppId, userId: EndUserId) => Promise<Wallet | undefined>;
  /** Finds a wallet and locks it until the transaction ends: calls of the wallet wait meanwhile. For an act whose amount is what it finds. */
  readonly lock: (appId: AppId, userId: EndUserId) => Promise<Wallet | undefined>;
  /** Finds a wallet for the app's own questions: a disconnected wallet is to it as if it did not exist (WA-02). */
  readonly findConnected: (appId: AppId, userId: EndUserId) => Promise<Wallet | undefined>;
  /** Opens a connected wallet for a user who has agreed elsewhere. False if the user has one already. */
  readonly open: (wallet: NewWallet) => Promise<boolean>;
  /**
   * Sets the monthly cap; undefined removes it. It binds the next call. False if there is no wallet. Only `connections` may
   * call this, because it knows whether a cap of 0 is a pause.
   */
  readonly setCap: (wallet: WalletKey & { readonly cap: Micros | undefined }) => Promise<boolean>;
  /** Connects or disconnects the wallet. A suspension stays (WA-11). False if there is no wallet. */
  readonly setConnected: (wallet: WalletKey & { readonly isConnected: boolean }) => Promise<boolean>;
  /** The owner is deleted: calls of theirs that are charged late are not paid by the next one (WA-10). */
  readonly forgetOwner: (appId: AppId, userId: EndUserId) => Promise<void>;
  /** Removes what names the sessions of coding agents in a wallet that is released (CP-19). */
  readonly forgetSessions: (appId: AppId, userId: EndUserId) => Promise<void>;
}

export function createWallets(db: Queryable): Wallets {
  async function find(appId: AppId, userId: EndUserId): Promise<Wallet | undefined> {
    const row = await selectWallet(db, appId, userId);
    return row && walletOf(row);
  }

  return {
    find,
    lock: async (appId, userId) => ((await lockWallet(db, appId, userId)) ? find(appId, userId) : undefined),
    findConnected: async (appId, userId) => {
      const row = await selectConnectedWallet(db, appId, userId);
      return row && walletOf(row);
    },
    open: (wallet) => insertWallet(db, wallet),
    setCap: (wallet) => updateCap(db, wallet),
    setConnected: (wallet) => updateConnected(db, wallet),
    forgetOwner: (appId, userId) => forgetOwner(db, appId, userId),
    forgetSessions: (appId, userId) => forgetSessions(db, appId, userId),
  };
}

export function walletOf(row: WalletRow): Wallet {
  // Below 0 after a claw-back: it takes held money too (WA-12).
  const free = row.balance_micros - row.held_micros;
  assert(row.shortfall_micros === 0n || row.is_suspended, 'a wallet that owes is suspended');
  return {
    walletId: row.wallet_id,
    userId: row.user_id,
    currency: row.currency,
    isConnected: row.is_connected,
    isSuspended: row.is_suspended,
    balance: microsFromRow(row.balance_micros),
    held: microsFromRow(row.held_micros),
    shortfall: microsSumFromRow(row.shortfall_micros),
    available: free > 0n ? microsFromRow(free) : ZERO_MICROS,
    cap: row.cap_micros === null ? undefined : microsFromRow(row.cap_micros),
    spentThisMonth: microsSumFromRow(row.spent_this_month_micros),
  };
}
