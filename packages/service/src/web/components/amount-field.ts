import { type Html, html } from '#kernel/html.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { type Micros, MICROS_MAX, micros } from '#kernel/micros.ts';

const MICROS_DIGITS = 6;
const CENTS_DIGITS = 2;
/** No amount that there can be has more digits before the separator. */
const AMOUNT = /^(\d{1,10})(?:[.,](\d{1,6}))?$/;
/** `1.234` is a thousand and more to some readers, and one and a bit to others: nobody has to guess which. */
const GROUPED = /^[1-9]\d{0,2}[.,]\d{3}$/;

/**
 * An amount as people type it: digits, and one point or comma before the decimals; exact to the micro. Undefined for
 * anything else, be it signs, exponents, groups of thousands, more than there can be, or what could be read in two ways.
 */
export function parseAmount(text: string): Micros | undefined {
  const typed = text.trim();
  const [, whole, decimals = ''] = (GROUPED.test(typed) ? undefined : AMOUNT.exec(typed)) ?? [];
  if (whole === undefined) return undefined;
  const amount = BigInt(whole + decimals.padEnd(MICROS_DIGITS, '0'));
  return amount <= MICROS_MAX ? micros(amount) : undefined;
}

/** An amount as `parseAmount` reads it: no decimals that are not needed, but never one, nor three. */
export function amountText(amount: Micros): string {
  const digits = amount.toString().padStart(MICROS_DIGITS + 1, '0');
  const decimals = digits.slice(-MICROS_DIGITS).replace(/0+$/, '');
  const shown = decimals.length === 3 ? `${decimals}0` : decimals.padEnd(CENTS_DIGITS, '0');
  const whole = digits.slice(0, -MICROS_DIGITS);
  return decimals === '' ? whole : `${whole}.${shown}`;
}

/** Where somebody types an amount. What was typed and is none is marked, for the page that asks for it again. */
export function amountField(field: {
  /** Of the form; the id too. */
  readonly name: string;
  /** Says the currency. */
  readonly label: string;
  /** What it holds at first. */
  readonly text: string;
  readonly isRequired?: boolean;
}): Html {
  const { name, label, text, isRequired = false } = field;
  const required = isRequired ? html` required` : undefined;
  const wrong = text !== '' && parseAmount(text) === undefined ? html` aria-invalid="true"` : undefined;
  return html`<label for="${name}">${label}</label>
<input id="${name}" name="${name}" type="text" inputmode="decimal" autocomplete="off" maxlength="20"${wrong} value="${text}"
  aria-describedby="${name}-hint"${required}>
<p class="hint" id="${name}-hint">${AMOUNT_TEXTS.hint}</p>`;
}
