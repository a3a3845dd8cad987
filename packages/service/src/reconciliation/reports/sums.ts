import { MICROS_MAX } from '#kernel/values/micros.ts';
import type { Booked } from '#reconciliation/reports/compare.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import type { Movement } from '#payments/processor/movement.ts';

/** Movements of one kind and currency, added up. Amounts are micros. */
export interface Sum {
  /** The category in the processor's words. */
  readonly category: string;
  readonly currency: string;
  readonly count: number;
  readonly gross: bigint;
  readonly fee: bigint;
  readonly net: bigint;
}

/** What the report has, by category and currency, in their alphabetical order. Throws `FileFault` beyond nine billion units. Fees of disputes are in those of their category. */
export function sumsOf(movements: readonly Movement[]): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const { category, currency, gross, fee, net } of movements) {
    const name = `${category} ${currency}`;
    const sum = sums.get(name) ?? { category, currency, count: 0, gross: 0n, fee: 0n, net: 0n };
    const { count } = sum;
    const next = { ...sum, count: count + 1, gross: sum.gross + gross, fee: sum.fee + fee, net: sum.net + net };
    // JSON carries larger numbers inexactly. No processor moves nine billion in a month.
    if ([next.gross, next.fee, next.net].some((total) => total > MICROS_MAX || -total > MICROS_MAX)) {
      throw new FileFault(`The amounts of \`${category}\` in ${currency} add up to more than can be counted.`);
    }
    sums.set(name, next);
  }
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}

/** What our books have of the same time, by state and currency. */
export interface OwnSum {
  /** What the sum is of, such as `payment credited`. */
  readonly what: string;
  readonly currency: string;
  readonly count: number;
  readonly amount: bigint;
}

export function ownSumsOf(booked: readonly Booked[]): readonly OwnSum[] {
  const sums = new Map<string, OwnSum>();
  for (const { kind, state, currency, amount } of booked) {
    const what = `${kind === 'movement' ? 'dispute' : kind} ${state}`;
    const sum = sums.get(`${what} ${currency}`) ?? { what, currency, count: 0, amount: 0n };
    sums.set(`${what} ${currency}`, { ...sum, count: sum.count + 1, amount: sum.amount + amount });
  }
  return [...sums.entries()].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum);
}
