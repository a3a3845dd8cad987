import path from 'node:path';
import { CommandError, UsageError } from '#cli/terminal/command-error.ts';
import type { DatabaseCommand } from '#cli/ground/ground.ts';
import type { Pool } from '#db/pool/pool.ts';
import { archiveMonth, detachMonth } from '#ledger/archives/archive.ts';
import { closeMonth } from '#ledger/closing/close.ts';
import { DAYS_AFTER_END, MONTHS_KEPT } from '#ledger/months/months.ts';
import { holdMonths, letMonthsGo, type MonthRow, selectMonths } from '#ledger/months/queries.ts';
import { restoreMonth } from '#ledger/archives/restore.ts';
import { selectSummedFrom } from '#calls/roll-up/queries.ts';

const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;

/** Lists the months that receipts lie in. */
export const listMonths: DatabaseCommand = async (owner) => {
  for (const month of await selectMonths(owner, DAYS_AFTER_END, MONTHS_KEPT)) console.log(inWords(month));
};

/** Checks, adds up and seals a month. Throws `UsageError` if it is none. */
export function closing(month: string): DatabaseCommand {
  refuseNoMonth(month);
  return alone(async (owner) => console.log(inWords(await closeMonth(owner, month))));
}

/** Writes a closed month to a folder. Throws `UsageError` if it is none. */
export function archiving(month: string, { to }: { readonly to: string }): DatabaseCommand {
  refuseNoMonth(month);
  return alone(async (owner) => console.log(await archiveMonth(owner, month, path.resolve(to))));
}

/** Takes an archived month out of the database. Throws `UsageError` if it is none. */
export function detaching(
  month: string,
  { archive, early }: { readonly archive: string; readonly early?: true | undefined },
): DatabaseCommand {
  refuseNoMonth(month);
  const from = { folder: path.resolve(archive), isEarly: early === true };
  return alone(async (owner) => {
    await detachMonth(owner, month, { ...from, summedFrom: await selectSummedFrom(owner) });
    console.log(`The receipts of ${month} are in the archive, and no longer in the database. Keep the archive.`);
  });
}

/** Brings a month back from its archive. */
export function restoring(file: string): DatabaseCommand {
  return alone(async (owner) => {
    console.log(`The receipts of ${await restoreMonth(owner, path.resolve(file))} are in the database again.`);
  });
}

function refuseNoMonth(text: string): void {
  if (!MONTH.test(text)) throw new UsageError('A month is written as 2026-07.');
}

/** Commands that change months run one at a time on a database. */
function alone(command: (owner: Pool) => Promise<void>): DatabaseCommand {
  return async (owner) => {
    const client = await owner.connect();
    try {
      if (!(await holdMonths(client))) {
        throw new CommandError('Another command works on the months of this database. Wait until it has ended.');
      }
      await command(owner);
      await letMonthsGo(client);
    } finally {
      client.release(true); // And with it the lock, if the command failed.
    }
  };
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
