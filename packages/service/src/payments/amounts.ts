import { type Micros, micros } from '#kernel/micros.ts';

/** What can be paid at once in a currency. */
export interface PayableAmounts {
  /** Every amount is a multiple of it. */
  readonly unit: Micros;
  readonly least: Micros;
  readonly most: Micros;
}

const MICROS_PER_UNIT = 1_000_000n;
/** Eight digits of the smallest coin. */
const MINOR_MOST = 99_999_999n;

/** Currencies that have no smaller coin. */
const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
/** Written with two decimals, which must be zeros. */
const WHOLE_WITH_DECIMALS = new Set(['ISK', 'UGX']);
/** Written with three decimals, the last of which must be a zero. */
const THREE_DECIMALS = new Set('BHD JOD KWD OMR TND'.split(' '));

/** The least that is worth its fee, in whole units and hundredths; elsewhere half a unit, or a hundred where coins are small. */
const LEAST_HUNDREDTHS: Readonly<Record<string, bigint>> = {
  AED: 200n,
  CZK: 1_500n,
  DKK: 250n,
  HKD: 400n,
  HUF: 17_500n,
  JPY: 5_000n,
  MXN: 1_000n,
  MYR: 200n,
  NOK: 300n,
  PLN: 200n,
  RON: 200n,
  SEK: 300n,
  THB: 1_000n,
};
const LEAST_ELSEWHERE = 50n;
const LEAST_OF_WHOLE = 10_000n;

/** Micros in the smallest amount that the number of a currency's minor units can tell. */
function minorUnitOf(currency: string): bigint {
  if (WHOLE.has(currency)) return MICROS_PER_UNIT;
  return THREE_DECIMALS.has(currency) ? MICROS_PER_UNIT / 1_000n : MICROS_PER_UNIT / 100n;
}

/** What card processors take at once in a currency. */
export function payableIn(currency: string): PayableAmounts {
  const minor = minorUnitOf(currency);
  const isWhole = WHOLE.has(currency) || WHOLE_WITH_DECIMALS.has(currency);
  const hundredths = LEAST_HUNDREDTHS[currency] ?? (isWhole ? LEAST_OF_WHOLE : LEAST_ELSEWHERE);
  const unit = THREE_DECIMALS.has(currency) ? minor * 10n : isWhole ? MICROS_PER_UNIT : minor;
  return {
    unit: micros(unit),
    least: micros((hundredths * MICROS_PER_UNIT) / 100n),
    most: micros(((MINOR_MOST * minor) / unit) * unit),
  };
}

export function isPayable(amount: Micros, { unit, least, most }: PayableAmounts): boolean {
  return amount >= least && amount <= most && amount % unit === 0n;
}

/** The largest payable multiple in an amount. */
export function wholeUnits(amount: Micros, { unit }: Pick<PayableAmounts, 'unit'>): Micros {
  return micros(amount - (amount % unit));
}

/** An amount as processors count it. It must be a whole number of those units: any other is a fault of ours. */
export function toMinorUnits(amount: Micros, currency: string): number {
  const minor = minorUnitOf(currency);
  if (amount % minor !== 0n) throw new RangeError('The amount is no whole number of minor units.');
  return Number(amount / minor);
}

/** What a processor counts, as an amount. */
export function fromMinorUnits(count: number, currency: string): Micros {
  return micros(BigInt(count) * minorUnitOf(currency));
}
