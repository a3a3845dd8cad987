import type { Queryable } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { type MovementKind, selectMovementsOfWallet } from '#ledger/wallet/history-queries.ts';

/** An entry as the owner of its wallet reads it. */
export interface WalletMovement {
  readonly seq: bigint;
  readonly kind: MovementKind;
  /** Of a charge. */
  readonly callId: CallId | undefined;
  readonly amount: Micros;
  /** `beside`: it left the wallet before, when it was set aside. */
  readonly direction: 'in' | 'out' | 'beside';
  readonly balanceAfter: Micros;
  readonly atMs: number;
}

interface MovementPage {
  /** The number of an entry: those before it. Undefined: from the newest on. */
  readonly before: bigint | undefined;
  readonly most: number;
}

export interface WalletMovements {
  /** The newest first. What is booked beside the wallet is left out: what is owed to us, and what we lost. */
  readonly page: (walletId: bigint, page: MovementPage) => Promise<readonly WalletMovement[]>;
}

export function createWalletMovements(db: Queryable): WalletMovements {
  return {
    page: async (walletId, page) => {
      const rows = await selectMovementsOfWallet(db, walletId, page);
      return rows.map((row) => ({
        seq: row.seq,
        kind: row.kind,
        callId: row.kind === 'charge' ? row.cause : undefined,
        amount: microsFromRow(row.amount_micros),
        direction: row.credit === 'wallet' ? 'in' : row.debit === 'wallet' ? 'out' : 'beside',
        balanceAfter: microsFromRow(row.balance_after_micros),
        atMs: row.at.getTime(),
      }));
    },
  };
}
