import type { Html } from '#kernel/text/html.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { textField } from '#web/fields/text-field.ts';
import { parseAmount } from '#web/format/typed-amount.ts';

interface AmountField {
  readonly name: string;
  /** Names the currency: the field itself has room for digits only. */
  readonly label: string;
  /** What it holds at first: an amount as `amountText` writes it, or what was typed before. */
  readonly text: string;
  readonly isRequired?: boolean;
}

/**
 * The limit is 20 characters: the largest amount has 10 digits, a separator and 6 decimals, and spaces may be pasted
 * around it.
 */
const LENGTH_MAX = 20;

/**
 * A field for an amount of money. It is a text field, because a number field rejects the decimal comma in some browsers.
 * A text that `parseAmount` cannot read is marked as wrong.
 */
export function amountField({ name, label, text, isRequired = false }: AmountField): Html {
  return textField({
    name,
    label,
    value: text,
    type: 'text',
    hint: AMOUNT_TEXTS.hint,
    autocomplete: 'off',
    inputMode: 'decimal',
    lengthMax: LENGTH_MAX,
    isRequired,
    isInvalid: text !== '' && parseAmount(text) === undefined,
  });
}
