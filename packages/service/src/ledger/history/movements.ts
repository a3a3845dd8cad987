import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, CallId, EndUserId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import {
  type DayRow,
  type MovementKind,
  type MovementRow,
  type OtherMovementRow,
  selectDaysOfWallet,
  selectMovementsOfWallet,
  selectOtherMovements,
} from '#ledger/history/queries.ts';
import { OPENED_HERE, type Place } from '#ledger/history/place.ts';

/** An entry as the owner of its wallet reads it. */
export interface WalletMovement extends Place {
  readonly kind: MovementKind;
  /** The call that was charged. It is set only for a charge. */
  readonly callId: CallId | undefined;
  readonly amount: Micros;
  /** With `beside`, the money had left the wallet earlier, when it was set aside. */
  readonly direction: 'in' | 'out' | 'beside';
  readonly balanceAfter: Micros;
  readonly atMs: number;
}

/** A movement that is no call. */
export interface OtherMovement extends WalletMovement {
  /** How many entries that owners do not read are above it in its part of a day. */
  readonly unseenAbove: number;
}

/** A wallet, as its movements are looked up by. */
export interface NamedWallet {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly walletId: bigint;
}

export interface MovementPage {
  /** Only earlier entries are read. If it is undefined, the page starts with the newest. */
  readonly before: Place | undefined;
  readonly most: number;
}

export interface WalletMovements {
  /** Reads a page, the newest first. Entries between our own books are left out: shortfalls and our losses. */
  readonly page: (wallet: NamedWallet, page: MovementPage) => Promise<readonly WalletMovement[]>;
  /** Reads a page of days, the newest first. No call is read for it, however many there were. */
  readonly days: (wallet: NamedWallet, page: MovementPage) => Promise<WalletDays>;
  /** Reads the movements of these days that are no calls, at most `most` of each day, the newest first. */
  readonly others: (wallet: NamedWallet, days: readonly WalletDay[], most: number) => Promise<readonly OtherMovement[]>;
}

export interface WalletDays {
  readonly days: readonly WalletDay[];
  /** What was booked before this moment is missing: a cell in which the wallet was does not answer. Undefined if nothing is. */
  readonly missingBeforeMs: number | undefined;
}

/** Entries of a day that one cell has, by their numbers. */
export interface DayPart {
  readonly move: number;
  readonly first: bigint;
  readonly last: bigint;
}

/** What a wallet's movements of a UTC day come to. */
export interface DayFigures {
  /** The day, as `YYYY-MM-DD`. */
  readonly day: string;
  readonly calls: number;
  /** What the calls took from the wallet. */
  readonly charged: Micros;
  /** How many other movements there were. */
  readonly others: number;
  readonly balanceAfter: Micros;
  readonly balanceBefore: Micros;
}

/** What one cell has of a day, and what it comes to. */
export type BookedPart = DayPart & Omit<DayFigures, 'day' | 'charged'>;

/** A UTC day of a wallet. */
export interface WalletDay extends DayFigures {
  /** Where its entries are, the newest first. More than one: the wallet moved to another cell that day. */
  readonly parts: readonly [BookedPart, ...BookedPart[]];
}

/** The movements of wallets that were always in this cell. */
export function createWalletMovements(db: Queryable): WalletMovements {
  return {
    page: async ({ walletId }, { before, most }) => {
      const rows = await selectMovementsOfWallet(db, walletId, { before: before?.seq, most });
      return rows.map((row) => movementOf(row, OPENED_HERE));
    },
    days: async ({ walletId }, { before, most }) => {
      const rows = await selectDaysOfWallet(db, walletId, { before: before?.seq, most });
      const days = rows.map((row) => dayOf(figuresOf(row), partOf(row, OPENED_HERE)));
      return { days, missingBeforeMs: undefined };
    },
    others: async ({ walletId }, days, most) => {
      const parts = days.filter(({ others }) => others > 0).flatMap((day) => day.parts);
      const rows = parts.length === 0 ? [] : await selectOtherMovements(db, walletId, parts, most);
      return rows.map((row) => otherOf(row, OPENED_HERE));
    },
  };
}

export function movementOf(row: MovementRow, move: number): WalletMovement {
  return {
    move,
    seq: row.seq,
    kind: row.kind,
    callId: row.kind === 'charge' ? row.cause : undefined,
    amount: microsFromRow(row.amount_micros),
    direction: row.credit === 'wallet' ? 'in' : row.debit === 'wallet' ? 'out' : 'beside',
    balanceAfter: microsFromRow(row.balance_after_micros),
    atMs: row.at.getTime(),
  };
}

export function otherOf(row: OtherMovementRow, move: number): OtherMovement {
  return { ...movementOf(row, move), unseenAbove: Number(row.unseen_above) };
}

/** A day of which one part is known. */
export function dayOf(figures: DayFigures, { move, first, last }: DayPart): WalletDay {
  const { calls, others, balanceAfter, balanceBefore } = figures;
  return { ...figures, parts: [{ move, first, last, calls, others, balanceAfter, balanceBefore }] };
}

export function figuresOf(row: DayRow): DayFigures {
  return {
    day: row.day,
    calls: Number(row.calls),
    charged: microsFromRow(row.charged),
    others: Number(row.others),
    balanceAfter: microsFromRow(row.balance_after),
    balanceBefore: microsFromRow(row.balance_before),
  };
}

export function partOf(row: DayRow, move: number): DayPart {
  return { move, first: row.first_seq, last: row.last_seq };
}
