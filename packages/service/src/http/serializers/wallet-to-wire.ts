import { microsToWire } from '#kernel/values/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';

/** A wallet in the form of `GET /balance` (BI-01). Every amount of a wallet is small enough to be exact as a JSON number. */
export function walletToWire(wallet: Wallet) {
  return {
    userId: wallet.userId,
    balanceMicros: microsToWire(wallet.balance),
    reservedMicros: microsToWire(wallet.held),
    availableMicros: microsToWire(wallet.available),
    currency: wallet.currency,
    spendCapMicros: wallet.cap === undefined ? null : microsToWire(wallet.cap),
    spentThisMonthMicros: microsToWire(wallet.spentThisMonth),
    status: wallet.isSuspended ? ('suspended' as const) : ('active' as const),
  };
}
