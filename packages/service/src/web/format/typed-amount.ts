import { type Micros, MICROS_MAX, micros } from '#kernel/values/micros.ts';

const MICROS_DIGITS = 6;
const CENTS_DIGITS = 2;
/** The largest amount has ten digits before the separator. */
const AMOUNT = /^(\d{1,10})(?:[.,](\d{1,6}))?$/;
/**
 * To some readers `1.234` is a thousand and more, and to others one and a bit. With money, nobody should have to guess.
 */
const GROUPED = /^[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * Reads an amount as people type it: digits, with one point or comma before the decimals; exact to the micro. Undefined for
 * anything else: signs, exponents, groups of thousands, more than `MICROS_MAX`, or a text that can be read in two ways.
 */
export function parseAmount(text: string): Micros | undefined {
  const typed = text.trim();
  const [, whole, decimals = ''] = (GROUPED.test(typed) ? undefined : AMOUNT.exec(typed)) ?? [];
  if (whole === undefined) return undefined;
  const amount = BigInt(whole + decimals.padEnd(MICROS_DIGITS, '0'));
  return amount <= MICROS_MAX ? micros(amount) : undefined;
}

/**
 * Writes an amount so that `parseAmount` reads the same one. Zeros at the end are left out, but never down to one decimal
 * (`12.5` looks unfinished) or to three, which `parseAmount` refuses as ambiguous.
 */
export function amountText(amount: Micros): string {
  const digits = amount.toString().padStart(MICROS_DIGITS + 1, '0');
  const decimals = digits.slice(-MICROS_DIGITS).replace(/0+$/, '');
  const shown = decimals.length === 3 ? `${decimals}0` : decimals.padEnd(CENTS_DIGITS, '0');
  const whole = digits.slice(0, -MICROS_DIGITS);
  return decimals === '' ? whole : `${whole}.${shown}`;
}
