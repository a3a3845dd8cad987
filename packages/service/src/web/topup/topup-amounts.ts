import { parseAmount } from '#web/format/typed-amount.ts';
import type { Form } from '#web/forms/form.ts';
import { type Micros, micros } from '#kernel/values/micros.ts';
import { isPayable, type PayableAmounts } from '#payments/processor/amounts.ts';

/** The amounts that somebody can choose, and the bounds of one that they type. */
export interface OfferedAmounts {
  readonly choices: readonly Micros[];
  readonly least: Micros;
  readonly most: Micros;
}

const MICROS_PER_UNIT = 1_000_000n;
const CHOICES = [5n, 10n, 20n, 50n];
const TYPED_MOST = 1_000n;
/** The smallest choice is at least ten times the processor's minimum: near the minimum its fee eats most of the payment. */
const LEAST_TIMES = 10n;

/**
 * Offers 5, 10, 20 and 50 units, or 1 to 1,000 typed. In currencies with small units, it offers ten times that, or a
 * hundred, and so on.
 */
export function offeredAmounts(payable: PayableAmounts): OfferedAmounts {
  let unit = MICROS_PER_UNIT;
  while ((CHOICES[0] ?? 1n) * unit < payable.least * LEAST_TIMES) unit *= 10n;
  const most = TYPED_MOST * unit < payable.most ? TYPED_MOST * unit : payable.most;
  return {
    choices: CHOICES.map((count) => micros(count * unit)).filter((amount) => isPayable(amount, payable)),
    least: unit > payable.least ? micros(unit) : payable.least,
    most: micros(most),
  };
}

/**
 * The smallest payment with which a refused call goes through. `hold`: the smallest hold worth having for it. Undefined if the
 * wallet has enough already, or if it takes more than can be paid at once.
 */
export function leastPayment(hold: Micros | undefined, available: Micros, payable: PayableAmounts): Micros | undefined {
  if (hold === undefined || hold <= available) return undefined;
  const lacking = hold - available;
  const whole = ((lacking + payable.unit - 1n) / payable.unit) * payable.unit;
  const amount = micros(whole > payable.least ? whole : payable.least);
  return amount <= offeredAmounts(payable).most ? amount : undefined;
}

/**
 * The amounts as a form offers them: the round ones, and the least that lets a refused call through if it is not below what can
 * be typed. One is chosen: the first that is enough, and otherwise the second smallest.
 */
export function choicesOf({ choices, least: typedLeast }: OfferedAmounts, needed: Micros | undefined): AmountChoices {
  const least = needed !== undefined && needed >= typedLeast && !choices.includes(needed) ? needed : undefined;
  const enough = choices.find((choice, at) => (needed === undefined ? at === 1 : choice >= needed && at > 0));
  return { choices, least, chosen: enough ?? least ?? choices.at(-1) };
}

interface AmountChoices {
  readonly choices: readonly Micros[];
  /** The amount that is just enough for the refused call. It is undefined if a round amount says it as well. */
  readonly least: Micros | undefined;
  readonly chosen: Micros | undefined;
}

/** The choice of an amount that is typed. */
export const OTHER_AMOUNT = 'other';

/** An amount of the choices, in micros. At most 16 digits, as the largest amount has. */
const MICROS_TEXT = /^\d{1,16}$/;

/** The amount of the top-up form, or what is wrong with it. Two amounts are refused: money is never guessed. */
export function chosenAmount(form: Form, payable: PayableAmounts): Micros | 'none' | 'two' | 'unusable' {
  const isOther = form.field('amount') === OTHER_AMOUNT;
  const chosen = isOther ? '' : form.field('amount');
  const typed = form.field('other').trim();
  if (chosen === '' && typed === '') return 'none';
  if (chosen !== '' && typed !== '') return 'two';
  const { least, most } = offeredAmounts(payable);
  // A choice may be lower than anything that can be typed: the least that lets the refused call through.
  const amount = typed !== '' ? parseAmount(typed) : MICROS_TEXT.test(chosen) ? BigInt(chosen) : undefined;
  const floor = typed !== '' ? least : payable.least;
  if (amount === undefined || amount < floor || amount > most) return 'unusable';
  return isPayable(micros(amount), payable) ? micros(amount) : 'unusable';
}
