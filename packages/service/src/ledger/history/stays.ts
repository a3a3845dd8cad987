import { slotOf } from '#kernel/values/slot.ts';
import type { Queryable } from '#db/pool/pool.ts';
import {
  type EntryRow,
  selectDaysOfWallet,
  selectEntriesOfWallet,
  selectMovementsOfWallet,
  selectOtherMovements,
  selectStays,
} from '#ledger/history/queries.ts';
import {
  type DayFigures,
  type DayPart,
  figuresOf,
  type MovementPage,
  movementOf,
  type NamedWallet,
  type OtherMovement,
  otherOf,
  partOf,
  type WalletMovement,
} from '#ledger/history/movements.ts';
import { OPENED_HERE, type Place } from '#ledger/history/place.ts';

/** What one cell has of a wallet that was in several. */
export interface OfStays<Row> {
  readonly rows: readonly Row[];
  /** The newest time that the wallet was here: the move by which it came, and when. */
  readonly newest: { readonly move: number; readonly sinceMs: number | undefined };
}

/** A day of one stay. */
export interface StayDay extends DayFigures {
  readonly part: DayPart;
}

/** An entry of the ledger, with the move by which its wallet had come. */
export type StayEntry = EntryRow & { readonly move: number };

/**
 * Reads what this cell has of wallets that have moved, in the order of places. A **stay** is the time between two moves. To its owner,
 * what carried the balance of a wallet from cell to cell is no movement.
 */
export interface StayReader {
  readonly page: (wallet: NamedWallet, page: MovementPage) => Promise<OfStays<WalletMovement>>;
  /** Reads at most `most` days of each stay. So the first `most` days of all cells together are whole. */
  readonly days: (wallet: NamedWallet, page: MovementPage) => Promise<OfStays<StayDay>>;
  /** Movements that are no calls, at most `most` of each part. Parts of other cells have none here. */
  readonly others: (wallet: NamedWallet, parts: readonly DayPart[], most: number) => Promise<OfStays<OtherMovement>>;
  /** All entries, with those that carried the balance. */
  readonly entries: (wallet: NamedWallet, page: MovementPage) => Promise<OfStays<StayEntry>>;
}

export function createStayReader(db: Queryable): StayReader {
  /** Reads stay by stay, the newest first, until `read` has found enough. */
  async function ofStays<Row>(
    wallet: NamedWallet,
    {
      before,
      isWhole = () => false,
    }: { readonly before: Place | undefined; readonly isWhole?: (rows: number) => boolean },
    read: (stay: Stay, rows: number) => Promise<readonly Row[]>,
  ): Promise<OfStays<Row>> {
    const stays = await readStays(db, wallet);
    const rows: Row[] = [];
    for (const stay of stays.flatMap((one) => below(one, before))) {
      if (isWhole(rows.length)) break;
      rows.push(...(await read(stay, rows.length)));
    }
    const [newest] = stays;
    return { rows, newest: { move: newest?.move ?? OPENED_HERE, sinceMs: newest?.sinceMs } };
  }

  return {
    page: (wallet, { before, most }) =>
      ofStays(wallet, { before, isWhole: (rows) => rows >= most }, async ({ move, own }, rows) => {
        const found = await selectMovementsOfWallet(db, wallet.walletId, { ...own, most: most - rows });
        return found.map((row) => movementOf(row, move));
      }),
    days: (wallet, { before, most }) =>
      ofStays(wallet, { before }, async ({ move, own }) => {
        const found = await selectDaysOfWallet(db, wallet.walletId, { ...own, most });
        return found.map((row) => ({ ...figuresOf(row), part: partOf(row, move) }));
      }),
    others: (wallet, parts, most) =>
      ofStays(wallet, { before: undefined }, async ({ move, own }) => {
        const here = parts.filter((part) => part.move === move).flatMap((part) => within(own, part));
        const found = here.length === 0 ? [] : await selectOtherMovements(db, wallet.walletId, here, most);
        return found.map((row) => otherOf(row, move));
      }),
    entries: (wallet, { before, most }) =>
      ofStays(wallet, { before, isWhole: (rows) => rows >= most }, async ({ move, all }, rows) => {
        const found = await selectEntriesOfWallet(db, wallet.walletId, { ...all, most: most - rows });
        return found.map((row) => ({ ...row, move }));
      }),
  };
}

interface Stay {
  readonly move: number;
  /** When the stay began. It is undefined if it began when the wallet was opened. */
  readonly sinceMs: number | undefined;
  readonly all: EntryRange;
  /** The entries that are something to the wallet's owner. */
  readonly own: EntryRange;
}

interface EntryRange {
  readonly first: bigint;
  readonly before: bigint | undefined;
}

/** The newest first. */
async function readStays(db: Queryable, { appId, userId, walletId }: NamedWallet): Promise<readonly Stay[]> {
  const rows = await selectStays(db, walletId, slotOf(appId, userId));
  return rows.map((row) => ({
    move: row.move,
    sinceMs: row.since?.getTime(),
    all: { first: row.first_seq, before: row.before_seq ?? undefined },
    own: { first: row.own_first, before: row.own_before ?? undefined },
  }));
}

/** The part of a stay before a place; nothing if all of it is later. */
function below(stay: Stay, before: Place | undefined): readonly Stay[] {
  if (before === undefined || stay.move < before.move) return [stay];
  if (stay.move > before.move) return [];
  const upTo = ({ first, before: end }: EntryRange): EntryRange => ({
    first,
    before: end === undefined || before.seq < end ? before.seq : end,
  });
  return [{ ...stay, all: upTo(stay.all), own: upTo(stay.own) }];
}

/** What of a part is in a range. Numbers from before any move may be those of another cell, in which the wallet was opened. */
function within({ first, before }: EntryRange, part: DayPart): readonly DayPart[] {
  const from = part.first > first ? part.first : first;
  const last = before !== undefined && before <= part.last ? before - 1n : part.last;
  return from > last ? [] : [{ ...part, first: from, last }];
}
