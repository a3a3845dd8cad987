import { createReadStream } from 'node:fs';
import type { Config } from '#app/settings/config.ts';
import { readProcessor } from '#app/compose/payments.ts';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import type { Pool } from '#db/pool/pool.ts';
import { epochMsOf, isoOf, systemClock } from '#kernel/time/clock.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { Difference } from '#reconciliation/reports/compare.ts';
import type { Period } from '#reconciliation/files/period.ts';
import { createReconciliations } from '#reconciliation/reports/reconciliations.ts';

/** Reads the days that a file is about. `to` is the day after the last. Throws `UsageError`. */
export function readPeriod({ from, to }: Period): Period {
  return { from: dayOf('--from', from), to: dayOf('--to', to) };
}

function dayOf(option: string, text: string): string {
  const ms = /^2\d{3}-\d{2}-\d{2}$/.test(text) ? epochMsOf(text) : Number.NaN;
  if (!Number.isNaN(ms) && isoOf(ms).startsWith(text)) return text;
  throw new UsageError(`${option} must be a UTC day, such as 2026-11-30.`);
}

/** The bytes of a file, as they are read. Throws `CommandError` if it cannot be. */
export async function* bytesOf(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file) as AsyncIterable<Buffer>;
  } catch {
    throw new CommandError(`The file \`${file}\` cannot be read.`);
  }
}

interface ReconcileOptions {
  readonly file: string | undefined;
  readonly period: Period;
}

/** Compares a report of the payment processor with the books, and files it if it is clean. Exit status 1 on any difference. */
export async function printReconciliation(
  owner: Pool,
  config: Config,
  { file, period }: ReconcileOptions,
): Promise<number> {
  const of = await readProcessor(config);
  const reconciliations = createReconciliations({ pool: owner, reports: owner, clock: systemClock, ...of });
  const act = { actor: 'command-line', reason: undefined, limits: undefined };
  const done = await reconciliations.reconcile(act, period, file === undefined ? undefined : bytesOf(file));
  if (done instanceof Refusal) throw new CommandError(done.message);
  for (const difference of done.differences) console.log(lineOf(difference));
  const hidden = done.found - done.differences.length;
  if (hidden > 0) console.log(`... and ${hidden} more`);
  for (const { category, currency, count, gross, fee, net } of done.sums) {
    console.log(`${category}: ${count}, gross ${gross}, fees ${fee}, net ${net} micros ${currency}`);
  }
  const money = done.found - done.daysApart;
  console.log(
    `${done.lines} movements, ${done.matched} on both sides, ${money} differences, ${done.daysApart} on another day`,
  );
  if (done.foreign > 0) console.log(`${done.foreign} movements of other software were left out`);
  console.log(done.filed === undefined ? 'The report is not filed.' : `The report is filed as ${done.filed.reportId}.`);
  return money === 0 ? 0 : 1;
}

function lineOf({ kind, subject, line, processorId, paymentId, there, here }: Difference): string {
  const at = line === undefined ? '' : `line ${line}: `;
  const ids = [processorId, paymentId].filter((id) => id !== undefined).join(' ');
  return `${at}${kind} (${subject}) ${ids}${sideOf('report', there)}${sideOf('books', here)}`;
}

function sideOf(name: string, side: Difference['there']): string {
  return side === undefined ? '' : `, ${name} ${side.amount} micros ${side.currency} on ${side.day}`;
}
