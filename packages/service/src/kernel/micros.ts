import { assert } from '#kernel/assert.ts';
import type { Brand } from '#kernel/brand.ts';

/** Millionths of a currency unit: a whole number, never negative where it is an amount. */
export type Micros = Brand<bigint, 'Micros'>;

/** The largest amount that JSON carries exactly: 2^53 - 1 micros, about nine billion units (WA-01). */
export const MICROS_MAX = 9_007_199_254_740_991n as Micros;

export const ZERO_MICROS = 0n as Micros;

/** Brands a whole amount between 0 and `MICROS_MAX`. Anything else is a fault of ours. */
export function micros(value: bigint): Micros {
  // The words are made only where they are needed: a call makes several amounts.
  if (value < 0n || value > MICROS_MAX) assert(false, `${value} is not an amount of micros`);
  return value as Micros;
}

/** An amount as the wire carries it: a JSON integer, exact by the range of `micros`. */
export function microsToWire(value: Micros): number {
  return Number(value);
}

/** An amount from a PostgreSQL `bigint`, which the driver hands over as a `bigint` (see `db/pool.ts`). */
export function microsFromRow(value: bigint): Micros {
  return micros(value);
}

/** A sum of amounts from a row. One above the largest amount is told as that amount: the books keep it exactly. */
export function microsSumFromRow(value: bigint): Micros {
  return value > MICROS_MAX ? MICROS_MAX : micros(value);
}
