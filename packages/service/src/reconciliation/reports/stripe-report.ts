import { epochMsOf } from '#kernel/time/clock.ts';
import { MICROS_MAX } from '#kernel/values/micros.ts';
import { isCountable } from '#payments/processor/amounts.ts';
import { CHECKOUT_NAME } from '#payments/stripe/metadata-names.ts';
import { SUBJECTS } from '#payments/stripe/reporting-categories.ts';
import type { CsvRecord } from '#reconciliation/files/csv.ts';
import { microsIn } from '#reconciliation/files/decimal.ts';
import { FileFault } from '#reconciliation/files/file-fault.ts';
import type { Movement } from '#payments/processor/movement.ts';
import { dayOf, type Period } from '#reconciliation/files/period.ts';

/** The columns without which nothing can be compared. The others are used if they are there. */
const NEEDED = [
  'balance_transaction_id',
  'created_utc',
  'currency',
  'gross',
  'fee',
  'net',
  'reporting_category',
  'source_id',
  'payment_intent_id',
] as const;
const OURS = `payment_metadata[${CHECKOUT_NAME}]`;

const ROWS_MAX = 250_000;
/** The most wrong lines that are named. Somebody who mends a file wants to see more than the first. */
const NAMED_MAX = 20;

/**
 * Reads Stripe's report "Balance change from activity, itemized" (`balance_change_from_activity.itemized.3`,
 * https://docs.stripe.com/reports/report-types/balance). Amounts are in whole units with a point, times in UTC. Throws
 * `FileFault`: if a column is missing, and if any line is wrong. A report is read whole or not at all.
 */
export async function readStripeReport(
  records: AsyncIterable<CsvRecord>,
  period: Period,
): Promise<readonly Movement[]> {
  let columns: readonly string[] | undefined;
  const movements: Movement[] = [];
  const lineOf = new Map<string, number>();
  const wrong: string[] = [];
  for await (const { line, fields } of records) {
    if (columns === undefined) {
      columns = columnsOf(fields);
      continue;
    }
    const movement = movementOf(columns, { line, fields }, period);
    const before = typeof movement === 'string' ? undefined : lineOf.get(movement.transaction);
    if (typeof movement === 'string') wrong.push(`Line ${line}: ${movement}`);
    else if (before !== undefined) wrong.push(`Line ${line}: ${movement.transaction} is on line ${before} already.`);
    else {
      lineOf.set(movement.transaction, line);
      movements.push(movement);
    }
    if (wrong.length > NAMED_MAX) break;
    if (movements.length > ROWS_MAX) {
      throw new FileFault(`The report has more than ${ROWS_MAX} rows. Split its period.`, { isTooLarge: true });
    }
  }
  if (columns === undefined)
    throw new FileFault('The file is empty. Its first line must have the names of the columns.');
  if (wrong.length > 0) {
    const more = wrong.length > NAMED_MAX ? ' More lines are wrong.' : '';
    throw new FileFault(`${wrong.slice(0, NAMED_MAX).join(' ')}${more} Nothing was compared.`);
  }
  return movements;
}

function columnsOf(names: readonly string[]): readonly string[] {
  const missing = NEEDED.filter((name) => !names.includes(name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new FileFault(`The column \`${twice}\` is there twice.`);
  if (missing.length === 0) return names;
  const list = missing.map((name) => `\`${name}\``).join(', ');
  throw new FileFault(
    `Columns are missing: ${list}. In Stripe's dashboard, open Reports, Balance, download "Balance change from activity" as itemized, and choose these columns.`,
  );
}

/** A movement, or what is wrong with its line. */
function movementOf(columns: readonly string[], { line, fields }: CsvRecord, period: Period): Movement | string {
  if (fields.length !== columns.length) return `${fields.length} fields in place of ${columns.length}.`;
  const field = (name: string): string => fields[columns.indexOf(name)] ?? '';
  const currency = field('currency').toUpperCase();
  if (!/^[A-Z]{3}$/.test(currency)) return '`currency` is not one.';
  const [gross, fee, net] = ['gross', 'fee', 'net'].map((name) => amountIn(field(name), currency));
  if (gross === undefined || fee === undefined || net === undefined) {
    return '`gross`, `fee` and `net` must be amounts such as `-1234.50`: a point, no groups, no more places than the currency has.';
  }
  if (gross - fee !== net) return '`gross` less `fee` is not `net`.';
  const createdMs = momentIn(field('created_utc'));
  if (createdMs === undefined) return '`created_utc` must be a moment such as `2026-11-30 23:59:59`.';
  const day = dayOf(createdMs);
  if (day < period.from || day >= period.to) return `${day} is outside the period.`;
  const transaction = field('balance_transaction_id');
  if (!isId(transaction)) return '`balance_transaction_id` is not an id.';
  const category = field('reporting_category');
  const [source, payment] = [field('source_id'), field('payment_intent_id')];
  if ((source !== '' && !isId(source)) || (payment !== '' && !isId(payment)))
    return 'an id has other characters than ids have.';
  const subject = SUBJECTS[category];
  const paid = paidIn(field, { gross, currency });
  if (paid === undefined)
    return '`customer_facing_amount` and `customer_facing_currency` must be an amount and a currency.';
  return {
    line,
    transaction,
    category: /^[a-z_]{1,64}$/.test(category) ? category : 'other',
    subject,
    createdMs,
    currency,
    gross,
    fee,
    net,
    source: source === '' ? undefined : source,
    payment: payment === '' ? undefined : payment,
    paid,
    isOurs: columns.includes(OURS) ? field(OURS) !== '' : undefined,
  };
}

function isId(text: string): boolean {
  return /^[\x21-\x7e]{1,255}$/.test(text);
}

function amountIn(text: string, currency: string): bigint | undefined {
  const amount = microsIn(text);
  if (amount === undefined || absolute(amount) > MICROS_MAX) return undefined;
  return isCountable(amount, currency) ? amount : undefined;
}

/** Reads a time such as `2026-11-30 23:59:59`, in UTC. */
function momentIn(text: string): number | undefined {
  if (!/^2\d{3}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)) return undefined;
  const epochMs = epochMsOf(`${text.replace(' ', 'T')}Z`);
  return Number.isNaN(epochMs) ? undefined : epochMs;
}

/**
 * Returns what the payer paid or got. Stripe leaves both columns empty for movements that are about no charge or
 * refund.
 */
function paidIn(
  field: (name: string) => string,
  { gross, currency }: { readonly gross: bigint; readonly currency: string },
): Movement['paid'] | undefined {
  const shown = field('customer_facing_amount');
  if (shown === '') return { amount: absolute(gross), currency };
  const facing = field('customer_facing_currency').toUpperCase();
  const amount = /^[A-Z]{3}$/.test(facing) ? amountIn(shown, facing) : undefined;
  return amount === undefined ? undefined : { amount: absolute(amount), currency: facing };
}

function absolute(amount: bigint): bigint {
  return amount < 0n ? -amount : amount;
}
