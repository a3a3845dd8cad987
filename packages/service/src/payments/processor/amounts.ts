import { type Micros, micros } from '#kernel/values/micros.ts';

/** The amounts that one payment or refund can have in a currency. */
export interface PayableAmounts {
  /** Every amount is a multiple of this. */
  readonly unit: Micros;
  readonly least: Micros;
  readonly most: Micros;
}

const MICROS_PER_UNIT = 1_000_000n;
/** Card processors accept up to eight digits, counted in minor units. */
const MINOR_MOST = 99_999_999n;

/** Currencies without a smaller coin. The processor counts them in whole units. */
const WHOLE = new Set('BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF'.split(' '));
/**
 * Currencies that are counted in hundredths although there is no smaller coin, so the last two digits must be zeros.
 */
const WHOLE_WITH_DECIMALS = new Set(['ISK', 'UGX']);
/** Currencies that are counted in thousandths, but the last digit must be a zero. */
const THREE_DECIMALS = new Set('BHD JOD KWD OMR TND'.split(' '));

/**
 * The smallest payment that is worth its fee, in hundredths of a unit. Currencies that are not listed use half a unit, or
 * a hundred units if they have no smaller coin.
 */
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

/** The micros in one minor unit: the unit in which a processor counts this currency. */
function minorUnitOf(currency: string): bigint {
  if (WHOLE.has(currency)) return MICROS_PER_UNIT;
  return THREE_DECIMALS.has(currency) ? MICROS_PER_UNIT / 1_000n : MICROS_PER_UNIT / 100n;
}

/** The amounts that card processors accept in a currency. */
export function payableIn(currency: string): PayableAmounts {
  const minor = minorUnitOf(currency);
  const isWhole = WHOLE.has(currency) || WHOLE_WITH_DECIMALS.has(currency);
  const hundredths = LEAST_HUNDREDTHS[currency] ?? (isWhole ? LEAST_OF_WHOLE : LEAST_ELSEWHERE);
  // The unit may be larger than the minor unit: digits that must be zero are not for us to use.
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

/** Rounds an amount down to a multiple of the unit. The rest cannot be paid out and stays in the wallet. */
export function wholeUnits(amount: Micros, { unit }: Pick<PayableAmounts, 'unit'>): Micros {
  return micros(amount - (amount % unit));
}

/**
 * Converts an amount to the processor's minor units. Callers have checked that it is a whole number of them. This throws
 * on a remainder instead of rounding: a rounded amount would move money that no entry of the ledger accounts for.
 */
export function toMinorUnits(amount: Micros, currency: string): number {
  const minor = minorUnitOf(currency);
  if (amount % minor !== 0n) throw new RangeError('The amount is not a whole number of minor units.');
  return Number(amount / minor);
}

/** Whether a processor can count an amount, which may be negative, in its minor units. */
export function isCountable(amount: bigint, currency: string): boolean {
  return amount % minorUnitOf(currency) === 0n;
}

/** Converts a processor's count of minor units to an amount. Always exact. */
export function fromMinorUnits(count: number, currency: string): Micros {
  return micros(BigInt(count) * minorUnitOf(currency));
}
