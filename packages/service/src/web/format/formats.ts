import { type Micros, micros } from '#kernel/values/micros.ts';
import { minorDecimalsOf } from '#kernel/values/minor-units.ts';

/** Amounts and moments as the reader's language writes them. */
export interface Formats {
  /**
   * Writes an amount exact to the micro: with as many decimals as the amount has, and at least those of the currency.
   */
  readonly amount: (amount: Micros, currency: string) => string;
  /**
   * Writes an amount in whole coins, rounded down, so that it never shows more than there is. Below one coin, it says
   * that it is less than one.
   */
  readonly coins: (amount: Micros, currency: string) => string;
  /** How many decimals the longest of these amounts is written with. */
  readonly decimalsOf: (amounts: readonly Micros[], currency: string) => number;
  /** A day, given by any moment of it in UTC. */
  readonly day: (epochMs: number) => string;
  readonly count: (count: number) => string;
  /** A moment to the minute, in UTC. For text and attributes; pages show it with the component `moment`. */
  readonly moment: (epochMs: number) => string;
}

/** A header may name any number of languages. The first few are the ones that somebody reads. */
const LANGUAGES_MAX = 5;
const MICROS_DIGITS = 6;

/**
 * Chooses the formats by the `accept-language` of a request. It is English, if it names no language that this runtime
 * knows.
 */
export function formatsOf(acceptLanguage = ''): Formats {
  // Formatters are slow to make, and a page writes up to a hundred amounts in one currency. Each is made when first needed,
  // and so are the languages: the first question about one takes 14 ms.
  let found: readonly string[] | undefined;
  const locales = (): readonly string[] => (found ??= localesOf(acceptLanguage));
  const amounts = new Map<string, Intl.NumberFormat>();
  let moments: Intl.DateTimeFormat | undefined;
  let days: Intl.DateTimeFormat | undefined;
  const formatOf = (currency: string): Intl.NumberFormat => {
    const format = amounts.get(currency) ?? amountFormat(locales(), currency);
    amounts.set(currency, format);
    return format;
  };
  // As text, which is exact. A number would round.
  const write = (amount: Micros, currency: string) => formatOf(currency).format(decimalOf(amount) as `${number}`);
  return {
    amount: write,
    coins: (amount, currency) => {
      const coin = 10n ** BigInt(MICROS_DIGITS - minorDecimalsOf(currency));
      const whole = amount - (amount % coin);
      return whole === 0n && amount > 0n ? `< ${write(micros(coin), currency)}` : write(micros(whole), currency);
    },
    decimalsOf: (amounts, currency) => {
      const fewest = minorDecimalsOf(currency);
      return Math.max(fewest, ...amounts.map((amount) => decimalOf(amount).replace(/^.*\.|0+$/g, '').length));
    },
    day: (epochMs) => {
      days ??= new Intl.DateTimeFormat(locales(), { dateStyle: 'medium', timeZone: 'UTC' });
      return days.format(epochMs);
    },
    count: (count) => new Intl.NumberFormat(locales()).format(count),
    moment: (epochMs) => {
      moments ??= new Intl.DateTimeFormat(locales(), { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
      return `${moments.format(epochMs)} UTC`;
    },
  };
}

/** The currency's own decimals are the fewest that are shown: a cap of 20 euros is €20.00, of 20 yen ¥20. */
function amountFormat(locales: readonly string[], currency: string): Intl.NumberFormat {
  const decimals = { minimumFractionDigits: minorDecimalsOf(currency), maximumFractionDigits: MICROS_DIGITS };
  return new Intl.NumberFormat(locales, { style: 'currency', currency, ...decimals });
}

function localesOf(header: string): readonly string[] {
  const named = header.split(',', LANGUAGES_MAX).map((part) => part.replace(/;.*/, '').trim());
  return [...named.filter(isLocale), 'en'];
}

/** The header comes from outside: a malformed name makes `Intl` throw. */
function isLocale(name: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(name).length > 0;
  } catch {
    return false;
  }
}

/** An amount as a decimal number with a point and all six decimals. For programs and `Intl`, not for readers. */
export function decimalOf(amount: Micros): string {
  const digits = amount.toString().padStart(MICROS_DIGITS + 1, '0');
  return `${digits.slice(0, -MICROS_DIGITS)}.${digits.slice(-MICROS_DIGITS)}`;
}
