import { createReadStream } from 'node:fs';
import { parseArgs } from 'node:util';
import { CommandError, UsageError } from '#cli/command-error.ts';
import type { Pool } from '#db/pool.ts';
import { epochMsOf, isoOf, systemClock } from '#kernel/clock.ts';
import { Refusal } from '#kernel/refusal.ts';
import type { Difference } from '#reconciliation/compare.ts';
import type { Period } from '#reconciliation/period.ts';
import { createReconciliations, type ListMovements } from '#reconciliation/reconciliations.ts';

/** The words after a command that compares a file with our books. */
export interface FileOptions {
  readonly file: string | undefined;
  readonly period: Period;
}

/** Reads `[<file>] --from <day> --to <day>`. Throws `UsageError`. */
export function readFileOptions(command: string, words: readonly string[]): FileOptions {
  const usage = `\`${command}\` takes a file, --from <day> and --to <day>, such as --from 2026-11-01 --to 2026-12-01. --to is the day after the last.`;
  let given;
  try {
    const options = { from: { type: 'string' }, to: { type: 'string' } } as const;
    given = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch {
    throw new UsageError(usage);
  }
  const { from, to } = given.values;
  if (from === undefined || to === undefined || given.positionals.length > 1) throw new UsageError(usage);
  return { file: given.positionals[0], period: { from: dayOf('--from', from), to: dayOf('--to', to) } };
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

interface ReconcileOptions extends FileOptions {
  readonly processor: string;
  readonly listMovements: ListMovements | undefined;
}

/** Compares a report of the payment processor with the books, and files it if it is clean. Exit status 1 on any difference. */
export async function printReconciliation(
  owner: Pool,
  { file, period, processor, listMovements }: ReconcileOptions,
): Promise<number> {
  const reconciliations = createReconciliations({
    pool: owner,
    reports: owner,
    clock: systemClock,
    processor,
    listMovements,
  });
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
