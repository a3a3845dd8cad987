import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import { bytesOf, readPeriod } from '#cli/books/reconcile-command.ts';
import type { Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import { type BillOf, createProviderBills } from '#reconciliation/bills/bills.ts';
import type { Period } from '#reconciliation/files/period.ts';
import { BILL_FORMATS } from '#reconciliation/bills/provider-bill.ts';
import { microsIn } from '#reconciliation/files/decimal.ts';

interface BillOptions extends BillOf {
  readonly file: string;
}

/** These are the options of `bill` as they are written. */
interface BillWords extends Period {
  readonly provider: string;
  readonly format: string;
  readonly dollar?: string | undefined;
}

/** Reads the options of `bill`. Throws `UsageError`. */
export function readBill(file: string, { provider, format, from, to, dollar }: BillWords): BillOptions {
  const known = BILL_FORMATS.find((one) => one === format);
  if (known === undefined) throw new UsageError(`--format must be one of ${BILL_FORMATS.join(', ')}.`);
  const dollarMicros = dollar === undefined ? undefined : microsIn(dollar);
  if (dollar !== undefined && (dollarMicros ?? 0n) <= 0n) {
    throw new UsageError('--dollar must be an amount above 0, such as 0.92.');
  }
  return { file, provider, format: known, period: readPeriod({ from, to }), dollarMicros };
}

/** Compares a provider's bill with receipts and prints each row that differs. Exit status 1 on an unexplained difference. */
export async function printBill(owner: Pool, currency: string, { file, ...of }: BillOptions): Promise<number> {
  const bills = createProviderBills({ reports: owner, clock: systemClock, currency });
  const compared = await bills.compare(of, bytesOf(file));
  if (compared instanceof Refusal) throw new CommandError(compared.message);
  for (const { day, model, theirs, ours, requests } of compared.rows) {
    const difference = (theirs - ours.cost) / PICOS_PER_MICRO;
    if (difference === 0n) continue;
    const sides = `billed ${theirs / PICOS_PER_MICRO}, ours ${ours.cost / PICOS_PER_MICRO}, difference ${difference} micros`;
    console.log(`${day} ${model ?? 'no model'}: ${sides}; calls ${requests ?? '-'} / ${ours.calls}`);
  }
  const { theirs, ours, unpaid, difference } = compared;
  console.log(`billed ${theirs}, ours ${ours} (${unpaid} not paid for), difference ${difference} micros ${currency}`);
  return difference === 0n ? 0 : 1;
}
