import { parseArgs } from 'node:util';
import { CommandError, UsageError } from '#cli/command-error.ts';
import { bytesOf, readFileOptions } from '#cli/reconcile-command.ts';
import type { Pool } from '#db/pool.ts';
import { systemClock } from '#kernel/clock.ts';
import { Refusal } from '#kernel/refusal.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bill-line.ts';
import { type BillOf, createProviderBills } from '#reconciliation/bills.ts';
import { BILL_FORMATS } from '#reconciliation/provider-bill.ts';
import { microsIn } from '#reconciliation/decimal.ts';

interface BillOptions extends BillOf {
  readonly file: string;
}

/** Reads `<file> --provider <name> --format <format> --from <day> --to <day> [--dollar <amount>]`. Throws `UsageError`. */
export function readBillOptions(words: readonly string[]): BillOptions {
  const usage =
    '`bill` takes a file, --provider <name>, --format openrouter|anthropic|openai, --from <day>, --to <day>, and --dollar <amount> unless your currency is the US dollar.';
  const text = { type: 'string' } as const;
  let given;
  try {
    const options = { provider: text, format: text, from: text, to: text, dollar: text };
    given = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch {
    throw new UsageError(usage);
  }
  const { provider, format, from = '', to = '', dollar } = given.values;
  const dollarMicros = dollar === undefined ? undefined : microsIn(dollar);
  const known = BILL_FORMATS.find((one) => one === format);
  if (provider === undefined || known === undefined || (dollar !== undefined && (dollarMicros ?? 0n) <= 0n)) {
    throw new UsageError(usage);
  }
  const { file, period } = readFileOptions('bill', [...given.positionals, '--from', from, '--to', to]);
  if (file === undefined) throw new UsageError(usage);
  return { file, provider, format: known, period, dollarMicros };
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
