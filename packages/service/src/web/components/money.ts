import { type Html, html } from '#kernel/html.ts';
import type { Micros } from '#kernel/micros.ts';
import type { Formats } from '#web/format/formats.ts';

/** An amount with its currency. Micros alone mean nothing: amounts of two wallets may be in two currencies. */
interface Money {
  readonly amount: Micros;
  readonly currency: string;
}

/** The one amount that a page is about, in large digits. */
export function headlineAmount({ amount, currency }: Money, formats: Formats): Html {
  return html`<p class="amount">${formats.amount(amount, currency)}</p>`;
}

/** Typographic signs: a hyphen in place of the minus is lost at the end of a line. `beside` changes no balance. */
const SIGNS = { in: '+', out: '−', beside: '' } as const;

/** An amount with the sign by which the balance changes. */
export function signedAmount({ amount, currency }: Money, direction: keyof typeof SIGNS, formats: Formats): Html {
  return html`${SIGNS[direction]}${formats.amount(amount, currency)}`;
}
