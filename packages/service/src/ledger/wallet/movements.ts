import type { Queryable } from '#db/pool.ts';
import type { CallId } from '#kernel/ids.ts';
import { type Micros, microsFromRow } from '#kernel/micros.ts';
import {
  type MovementKind,
  type MovementRow,
  selectDaysOfWallet,
  selectMovementsOfWallet,
  selectOtherMovements,
} from '#ledger/wallet/history-queries.ts';

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
  /** Reads a page of days, the newest first. No call is read for it, however many there were. */
  readonly days: (walletId: bigint, page: MovementPage) => Promise<readonly WalletDay[]>;
  /** Reads the movements of these days that are no calls, at most `most` of each day, the newest first. */
  readonly others: (walletId: bigint, days: readonly WalletDay[], most: number) => Promise<readonly WalletMovement[]>;
}

/** A UTC day of a wallet. */
export interface WalletDay {
  /** `YYYY-MM-DD`. */
  readonly day: string;
  /** The numbers of its first and last entry. */
  readonly first: bigint;
  readonly last: bigint;
  readonly calls: number;
  /** What the calls took from the wallet. */
  readonly charged: Micros;
  /** How many other movements there were. */
  readonly others: number;
  readonly balanceAfter: Micros;
}

export function createWalletMovements(db: Queryable): WalletMovements {
  return {
    page: async (walletId, page) => {
      return (await selectMovementsOfWallet(db, walletId, page)).map(movementOf);
    },
    days: async (walletId, page) => {
      const rows = await selectDaysOfWallet(db, walletId, page);
      return rows.map((row) => ({
        day: row.day,
        first: row.first_seq,
        last: row.last_seq,
        calls: Number(row.calls),
        charged: microsFromRow(row.charged),
        others: Number(row.others),
        balanceAfter: microsFromRow(row.balance_after),
      }));
    },
    others: async (walletId, days, most) => {
      const ranges = days.filter(({ others }) => others > 0);
      return ranges.length === 0 ? [] : (await selectOtherMovements(db, walletId, ranges, most)).map(movementOf);
    },
  };
}

function movementOf(row: MovementRow): WalletMovement {
  return {
    seq: row.seq,
    kind: row.kind,
    callId: row.kind === 'charge' ? row.cause : undefined,
    amount: microsFromRow(row.amount_micros),
    direction: row.credit === 'wallet' ? 'in' : row.debit === 'wallet' ? 'out' : 'beside',
    balanceAfter: microsFromRow(row.balance_after_micros),
    atMs: row.at.getTime(),
  };
}
