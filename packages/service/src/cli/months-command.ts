import path from 'node:path';
import { parseArgs } from 'node:util';
import { CommandError, UsageError } from '#cli/command-error.ts';
import type { Pool } from '#db/pool.ts';
import { archiveMonth, detachMonth } from '#ledger/months/archive.ts';
import { closeMonth, DAYS_AFTER_END, MONTHS_KEPT } from '#ledger/months/close.ts';
import { MonthFault } from '#ledger/months/month-fault.ts';
import { holdMonths, letMonthsGo, type MonthRow, selectMonths } from '#ledger/months/queries.ts';
import { restoreMonth } from '#ledger/months/restore.ts';
import { selectSummedFrom } from '#stats/queries.ts';

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const USAGE =
  '`ledger` takes `check`, `months`, `close-month <month>`, `archive <month> --to <folder>`, `detach <month> --archive <folder>` with or without ' +
  '--early, or `restore-month <file>`. A month is written as 2026-07.';

/** A command on the months of a database. */
interface MonthsCommand {
  readonly isOnlyLooking: boolean;
  readonly run: (owner: Pool) => Promise<void>;
}

/** Reads what follows `purser ledger`. Throws `UsageError`. */
export function readMonths([sub = '', ...words]: readonly string[]): MonthsCommand {
  const run = commandOf(sub, words);
  if (run === undefined) throw new UsageError(USAGE);
  return { isOnlyLooking: sub === 'months', run };
}

/** Runs a command that changes months, one at a time on a database. */
export async function runMonths({ isOnlyLooking, run }: MonthsCommand, owner: Pool): Promise<void> {
  const client = await owner.connect();
  try {
    if (!isOnlyLooking && !(await holdMonths(client))) {
      throw new CommandError('Another command works on the months of this database. Wait until it has ended.');
    }
    await run(owner);
    await letMonthsGo(client);
  } catch (fault) {
    throw fault instanceof MonthFault ? new CommandError(fault.message, { cause: fault }) : fault;
  } finally {
    client.release(true); // And with it the lock, if the command failed.
  }
}

/** Undefined if the words are no command. */
function commandOf(sub: string, words: readonly string[]): MonthsCommand['run'] | undefined {
  const text = { type: 'string' } as const;
  let given;
  try {
    const options = { to: text, archive: text, early: { type: 'boolean' } } as const;
    given = parseArgs({ args: [...words], options, allowPositionals: true });
  } catch {
    return undefined;
  }
  const { to, archive, early } = given.values;
  const [named = '', ...others] = given.positionals;
  const options = Object.keys(given.values).join();
  if (others.length > 0) return undefined;
  if (sub === 'months' && named === '' && options === '') return list;
  if (sub === 'restore-month' && named !== '' && options === '') return (owner) => restore(owner, path.resolve(named));
  if (!MONTH.test(named)) return undefined;
  if (sub === 'close-month' && options === '') return (owner) => close(owner, named);
  if (sub === 'archive' && to !== undefined && options === 'to') {
    return (owner) => archiveTo(owner, named, path.resolve(to));
  }
  if (sub === 'detach' && archive !== undefined && to === undefined) {
    return (owner) => detach(owner, named, { folder: path.resolve(archive), isEarly: early === true });
  }
  return undefined;
}

async function list(owner: Pool): Promise<void> {
  for (const month of await selectMonths(owner, DAYS_AFTER_END, MONTHS_KEPT)) console.log(inWords(month));
}

async function close(owner: Pool, name: string): Promise<void> {
  console.log(inWords(await closeMonth(owner, name)));
}

async function archiveTo(owner: Pool, name: string, folder: string): Promise<void> {
  console.log(await archiveMonth(owner, name, folder));
}

async function detach(
  owner: Pool,
  name: string,
  from: { readonly folder: string; readonly isEarly: boolean },
): Promise<void> {
  await detachMonth(owner, name, { ...from, summedFrom: await selectSummedFrom(owner) });
  console.log(`The receipts of ${name} are in the archive, and no longer in the database. Keep the archive.`);
}

async function restore(owner: Pool, file: string): Promise<void> {
  console.log(`The receipts of ${await restoreMonth(owner, file)} are in the database again.`);
}

function inWords(month: MonthRow): string {
  const name = month.month.slice(0, 7) + (month.is_first ? ' and before' : '');
  if (month.closed_at === null) return `${name}: open${month.has_ended ? ', can be closed' : ''}`;
  return [
    `${name}: closed ${month.closed_at.toISOString().slice(0, 10)}`,
    `${month.receipts} receipts`,
    `${month.charged_micros} micros`,
    ...(month.detached_at === null ? [] : ['only in an archive']),
    ...(month.archived_at === null || month.detached_at !== null ? [] : ['archived']),
    `SHA-256 ${month.rows_hash?.toString('hex')}`,
    `chain ${month.chain_hash?.toString('hex')}`,
  ].join(', ');
}
