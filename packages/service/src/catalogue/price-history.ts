import { type PriceHistoryRow, selectPriceHistory } from '#catalogue/queries.ts';
import type { Pool } from '#db/pool/pool.ts';

/** A price row as the catalogue knew it. Times are milliseconds since 1970 UTC. */
export interface PastPrice {
  /** The row of the price. Its provider and provider model are null in rows from before prices named them. */
  readonly price: PriceHistoryRow;
  /** When it came, or comes, into force. */
  readonly fromMs: number;
  /** When another took its place, or the catalogue named it no longer. Undefined if no end is known. */
  readonly untilMs: number | undefined;
  readonly state: 'past' | 'current' | 'future' | 'withdrawn';
}

const ROWS_MAX = 1_000;

/** Reads the prices that a model has had, has and will have, the newest row first, at most 1,000. */
export async function readPriceHistory(pool: Pool, modelId: string, nowMs: number): Promise<readonly PastPrice[]> {
  return pastPrices(await selectPriceHistory(pool, modelId, ROWS_MAX), nowMs);
}

/** Works out when each price was in force. One that ended before its time never was. */
export function pastPrices(rows: readonly PriceHistoryRow[], nowMs: number): readonly PastPrice[] {
  return rows.map((price) => {
    const fromMs = startOf(price);
    if (isWithdrawn(price)) return { price, fromMs, untilMs: undefined, state: 'withdrawn' };
    const nextMs = rows
      .filter((row) => isSameUpstream(row, price) && !isWithdrawn(row) && isLater(row, price))
      .map(startOf);
    const untilMs = Math.min(...nextMs, price.ended_ms ?? Infinity);
    const state = fromMs > nowMs ? 'future' : untilMs > nowMs ? 'current' : 'past';
    return { price, fromMs, untilMs: untilMs === Infinity ? undefined : untilMs, state };
  });
}

/** A row from after its own time is an edit of a price that was in force already. It counts from the edit on. */
function startOf({ effective_from_ms, since_ms }: PriceHistoryRow): number {
  return Math.max(effective_from_ms ?? since_ms, since_ms);
}

function isWithdrawn(row: PriceHistoryRow): boolean {
  return row.ended_ms !== null && row.ended_ms < startOf(row);
}

function isSameUpstream(row: PriceHistoryRow, other: PriceHistoryRow): boolean {
  return row.provider === other.provider && row.provider_model === other.provider_model;
}

function isLater(row: PriceHistoryRow, other: PriceHistoryRow): boolean {
  const [left, right] = [startOf(row), startOf(other)];
  return left === right ? row.price_id > other.price_id : left > right;
}
