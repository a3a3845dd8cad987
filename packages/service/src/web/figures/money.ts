import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import type { Formats } from '#web/format/formats.ts';

/** An amount with its currency. Micros alone mean nothing: amounts of two wallets may be in two currencies. */
interface Money {
  readonly amount: Micros;
  readonly currency: string;
}

/** The one amount that a page is about, in large digits: in whole coins. The exact amount follows in small print if it differs. */
export function headlineAmount({ amount, currency }: Money, formats: Formats): Html {
  const [coins, exact] = [formats.coins(amount, currency), formats.amount(amount, currency)];
  const small = coins === exact ? undefined : html`\n<p class="exact">${AMOUNT_TEXTS.exactly(exact)}</p>`;
  return html`<p class="amount">${coins}</p>${small}`;
}

/**
 * The signs are typographic, because a hyphen in place of the minus is lost at the end of a line. With `none`, the
 * amount is a balance.
 */
const SIGNS = { in: '+', out: '−', none: '' } as const;

/** An amount with the sign by which the balance changes. */
export function signedAmount({ amount, currency }: Money, direction: keyof typeof SIGNS, formats: Formats): Html {
  return html`${SIGNS[direction]}${formats.amount(amount, currency)}`;
}

/**
 * An amount of a column, decimal under decimal. `decimals`: as many as the longest of the column has. The style makes room for
 * those that are missing, so that nobody hears or copies them.
 */
export function alignedAmount(
  { amount, currency }: Money,
  { direction = 'none', decimals }: { readonly direction?: keyof typeof SIGNS; readonly decimals: number },
  formats: Formats,
): Html {
  const own = formats.decimalsOf([amount], currency);
  const missing = (own === 0 ? '.' : '') + '0'.repeat(Math.max(0, decimals - own));
  const fill = decimals <= own ? undefined : html`<span data-fill="${missing}"></span>`;
  return html`${SIGNS[direction]}${formats.amount(amount, currency)}${fill}`;
}
