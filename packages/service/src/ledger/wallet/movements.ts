import type { Queryable } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import { type MovementKind, selectMovementsOfWallet } from '#ledger/wallet/history-queries.ts';

/** An entry as the owner of its wallet reads it. */
export interface WalletMovement {
  readonly seq: bigint;
  readonly kind: MovementKind;
  /** Only for a charge. */
  readonly callId: CallId | undefined;
  readonly amount: Micros;
  /** `beside`: the money had left the wallet earlier, when it was set aside. */
  readonly direction: 'in' | 'out' | 'beside';
  readonly balanceAfter: Micros;
  readonly atMs: number;
}

interface MovementPage {
  /** An entry number: only earlier entries are read. Undefined starts with the newest. */
  readonly before: bigint | undefined;
  readonly most: number;
}

export interface WalletMovements {
  /** Reads a page, the newest first. Entries between our own books are left out: shortfalls and our losses. */
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
