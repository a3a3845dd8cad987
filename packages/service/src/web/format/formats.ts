import type { IncomingMessage } from 'node:http';
import { type Html, html } from '#kernel/html.ts';
import { isoOf } from '#kernel/clock.ts';
import type { Micros } from '#kernel/micros.ts';

/** Amounts and moments as the reader's language writes them. */
export interface Formats {
  /** To the micro: as many decimals as it has, at least the currency's own. */
  readonly amount: (amount: Micros, currency: string) => string;
  /** A moment to the minute, in UTC. */
  readonly moment: (epochMs: number) => Html;
}

const LANGUAGES_MAX = 5;
const MICROS_DIGITS = 6;

/** By `accept-language`; English where it names none that is known. */
export function formatsOf({ headers }: IncomingMessage): Formats {
  const locales = localesOf(headers['accept-language'] ?? '');
  const amounts = new Map<string, Intl.NumberFormat>(); // A page has many of one currency.
  const moments = new Intl.DateTimeFormat(locales, { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });
  return {
    amount: (amount, currency) => {
      const format = amounts.get(currency) ?? amountFormat(locales, currency);
      amounts.set(currency, format);
      return format.format(decimalOf(amount) as `${number}`); // As text, which is exact: a number would not be.
    },
    moment: (epochMs) => html`<time datetime="${isoOf(epochMs)}">${moments.format(epochMs)} UTC</time>`,
  };
}

function amountFormat(locales: readonly string[], currency: string): Intl.NumberFormat {
  const style = { style: 'currency', currency } as const;
  const { minimumFractionDigits = 0 } = new Intl.NumberFormat(locales, style).resolvedOptions();
  return new Intl.NumberFormat(locales, { ...style, minimumFractionDigits, maximumFractionDigits: MICROS_DIGITS });
}

function localesOf(header: string): readonly string[] {
  const named = header.split(',', LANGUAGES_MAX).map((part) => part.replace(/;.*/, '').trim());
  return [...named.filter(isLocale), 'en'];
}

function isLocale(name: string): boolean {
  try {
    return Intl.NumberFormat.supportedLocalesOf(name).length > 0;
  } catch {
    return false;
  }
}

/** An amount as a decimal number with a point, in whole and exact. */
export function decimalOf(amount: Micros): string {
  const digits = amount.toString().padStart(MICROS_DIGITS + 1, '0');
  return `${digits.slice(0, -MICROS_DIGITS)}.${digits.slice(-MICROS_DIGITS)}`;
}
