import { parseAmount } from '#web/components/amount-field.ts';
import type { Form } from '#web/frame/read-form.ts';
import { type Micros, micros } from '#kernel/micros.ts';
import { isPayable, type PayableAmounts } from '#payments/amounts.ts';

/** What somebody may choose to pay. */
interface OfferedAmounts {
  readonly choices: readonly Micros[];
  /** Of an amount that is typed. */
  readonly least: Micros;
  readonly most: Micros;
}

const MICROS_PER_UNIT = 1_000_000n;
const CHOICES = [5n, 10n, 20n, 50n];
const TYPED_MOST = 1_000n;
/** The smallest choice is at least so many times what the processor takes at least: below, its fee eats the payment. */
const LEAST_TIMES = 10n;

/** 5, 10, 20 and 50 units, and from 1 to 1,000 typed; ten or more times that where units are small. */
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
 * The least to pay so that a call goes through whose smallest hold this was; undefined where enough is there, and where it
 * is more than is taken at once.
 */
export function leastPayment(hold: Micros | undefined, available: Micros, payable: PayableAmounts): Micros | undefined {
  if (hold === undefined || hold <= available) return undefined;
  const lacking = hold - available;
  const whole = ((lacking + payable.unit - 1n) / payable.unit) * payable.unit;
  const amount = micros(whole > payable.least ? whole : payable.least);
  return amount <= offeredAmounts(payable).most ? amount : undefined;
}

const MICROS_TEXT = /^\d{1,16}$/;

/** The amount that a form of the top-up page asks for, or what is wrong with it. */
export function chosenAmount(form: Form, payable: PayableAmounts): Micros | 'none' | 'two' | 'unusable' {
  const chosen = form.field('amount');
  const typed = form.field('other').trim();
  if (chosen === '' && typed === '') return 'none';
  if (chosen !== '' && typed !== '') return 'two';
  const { least, most } = offeredAmounts(payable);
  // Of the amounts to choose, one may be the least that lets a call through, which is below what may be typed.
  const amount = typed !== '' ? parseAmount(typed) : MICROS_TEXT.test(chosen) ? BigInt(chosen) : undefined;
  const floor = typed !== '' ? least : payable.least;
  if (amount === undefined || amount < floor || amount > most) return 'unusable';
  return isPayable(micros(amount), payable) ? micros(amount) : 'unusable';
}
