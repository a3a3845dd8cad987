import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId } from '#kernel/ids.ts';
import { type Micros, microsFromRow, microsSumFromRow, ZERO_MICROS } from '#kernel/micros.ts';
import { insertWallet, type NewWallet, selectWallet, updateCap, updateConnected } from '#ledger/wallet/queries.ts';

/** A real wallet as its owner may see it (BI-01). */
export interface Wallet {
  /** The id under which its usage is kept. Internal. */
  readonly walletId: bigint;
  readonly userId: EndUserId;
  readonly currency: string;
  readonly isConnected: boolean;
  readonly isSuspended: boolean;
  readonly balance: Micros;
  /** Set aside for calls that run. */
  readonly held: Micros;
  /** What a new call may use: balance without holds, never below 0 (WA-12). */
  readonly available: Micros;
  /** What a claw-back or refund could not take: owed, and the wallet is suspended (WA-06). */
  readonly shortfall: Micros;
  /** Undefined: no cap. */
  readonly cap: Micros | undefined;
  readonly spentThisMonth: Micros;
}

interface WalletKey {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

export interface Wallets {
  /** The wallet of an (app, user) pair, connected or not; undefined where there is none. */
  readonly find: (appId: AppId, userId: EndUserId) => Promise<Wallet | undefined>;
  /** Opens a connected wallet for a user who agreed elsewhere. False where the user has one. */
  readonly open: (wallet: NewWallet) => Promise<boolean>;
  /**
   * Sets the monthly cap; undefined for none. Binds the next call. False where there is no wallet. For `connections` alone to
   * call, which knows whether the cap is that of a pause.
   */
  readonly setCap: (wallet: WalletKey & { readonly cap: Micros | undefined }) => Promise<boolean>;
  /** Connects or disconnects; a suspension stays (WA-11). False where there is no wallet. */
  readonly setConnected: (wallet: WalletKey & { readonly isConnected: boolean }) => Promise<boolean>;
}

export function createWallets(db: Queryable): Wallets {
  return {
    find: async (appId, userId) => {
      const row = await selectWallet(db, appId, userId);
      if (row === undefined) return undefined;
      const free = row.balance_micros - row.held_micros;
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
    },
    open: (wallet) => insertWallet(db, wallet),
    setCap: (wallet) => updateCap(db, wallet),
    setConnected: (wallet) => updateConnected(db, wallet),
  };
}
