import { assert } from '#kernel/faults/assert.ts';
import type { Brand } from '#kernel/values/brand.ts';

/** Millionths of a currency unit, as a whole number. Amounts are never negative. */
export type Micros = Brand<bigint, 'Micros'>;

/** The largest amount that JSON carries exactly: 2^53 - 1 micros, about nine billion units (WA-01). */
export const MICROS_MAX = 9_007_199_254_740_991n as Micros;

export const ZERO_MICROS = 0n as Micros;

/** Makes an amount from a whole number between 0 and `MICROS_MAX`. Throws for anything else, which is a bug of ours. */
export function micros(value: bigint): Micros {
  // The message is built only on failure: every call makes several amounts.
  if (value < 0n || value > MICROS_MAX) assert(false, `${value} is not an amount of micros`);
  return value as Micros;
}

/** Converts an amount to a JSON integer. Exact, because `micros` admits nothing above 2^53 - 1. */
export function microsToWire(value: Micros): number {
  return Number(value);
}

/** Reads an amount from a PostgreSQL `bigint`, which the driver delivers as a JavaScript `bigint` (see `db/pool/pool.ts`). */
export function microsFromRow(value: bigint): Micros {
  return micros(value);
}

/** Reads a sum of amounts from a row. A sum beyond `MICROS_MAX` is reported as `MICROS_MAX`; the ledger keeps it exactly. */
export function microsSumFromRow(value: bigint): Micros {
  return value > MICROS_MAX ? MICROS_MAX : micros(value);
}
