import type { Pool } from '#db/pool/pool.ts';
import { archiveIn, hashArchive, writeArchive, writeManifest } from '#ledger/archives/file.ts';
import { findMonth } from '#ledger/months/months.ts';
import { MonthFault } from '#ledger/months/month-fault.ts';
import type { MonthRow } from '#ledger/months/queries.ts';
import { detachReceipts, noteArchived } from '#ledger/archives/queries.ts';
import { readReceiptLines } from '#ledger/months/receipt-lines.ts';
import { withLocks } from '#ledger/months/with-locks.ts';

/** The form of the text in an archive, see `month_page.sql`. */
const FORM = 1;

/**
 * Writes the receipts of a closed month to a folder, as compressed CSV with a manifest, reads the file back and compares it with what
 * was sealed. An archive that was there is replaced after that, and not before. Nothing in the database changes but the note that there
 * is an archive. Safe to repeat: it writes the same again.
 *
 * Throws `MonthFault` if the month is not closed, is detached, its receipts are not what was sealed, or the file cannot be written.
 */
export async function archiveMonth(owner: Pool, name: string, folder: string): Promise<string> {
  const month = await findMonth(owner, name);
  if (month.rows_hash === null) throw new MonthFault(`Close ${name} first: \`purser ledger close-month ${name}\`.`);
  if (month.detached_at !== null)
    throw new MonthFault(`The receipts of ${name} are in an archive, and no longer here.`);
  const file = archiveIn(folder, month.month);
  const write = async (take: (piece: string) => Promise<void>): Promise<void> => {
    const { hash } = await readReceiptLines(owner, month.month, take);
    if (month.rows_hash?.equals(hash) === true) return;
    throw new MonthFault(
      `THE RECEIPTS OF ${name} ARE NOT WHAT WAS SEALED: SHA-256 ${hash.toString('hex')}, sealed ${month.rows_hash?.toString('hex')}.`,
    );
  };
  await writeArchive(file, write, (part) => verify(part, month));
  await writeManifest(file, manifestOf(month));
  await noteArchived(owner, month.month);
  return file;
}

interface DetachOptions {
  /** Where the archive is. */
  readonly folder: string;
  readonly isEarly: boolean;
  /** The statistics have been over all receipts of calls before this one. */
  readonly summedFrom: string;
}

/**
 * Takes the receipts of a month out of the database, after reading its archive in this folder once more. Sums, balances and the journal
 * stay. A month that is detached already is left as it is.
 *
 * Throws `MonthFault` if the month was never archived, ended less than 13 months ago (unless `isEarly`), its archive is not
 * there or not whole, or the check and the statistics have not been over it.
 */
export async function detachMonth(
  owner: Pool,
  name: string,
  { folder, isEarly, summedFrom }: DetachOptions,
): Promise<void> {
  const month = await findMonth(owner, name);
  if (month.detached_at !== null) return;
  if (month.archived_at === null)
    throw new MonthFault(`Archive ${name} first: \`purser ledger archive ${name} --to <folder>\`.`);
  if (!month.is_old && !isEarly) {
    throw new MonthFault(
      `${name} ended less than 13 months ago. With --early, its receipts are no longer shown to anybody.`,
    );
  }
  if (!month.is_checked || summedFrom < month.before_call) {
    throw new MonthFault(
      `The check and the statistics have not been over all of ${name} yet. A gateway does that within minutes.`,
    );
  }
  await verify(archiveIn(folder, month.month), month);
  await withLocks(owner, (tx) => detachReceipts(tx, month.month));
}

/** Reads an archive and compares it with what was sealed. */
async function verify(file: string, { rows_hash: sealed }: MonthRow): Promise<void> {
  const hash = await hashArchive(file).catch((fault: unknown) => {
    throw new MonthFault(`${file} cannot be read, or is not whole.`, { cause: fault });
  });
  if (sealed?.equals(hash) === true) return;
  throw new MonthFault(`${file} is not the archive of this month: its SHA-256 is ${hash.toString('hex')}.`);
}

function manifestOf(month: MonthRow): object {
  return {
    form: FORM,
    month: month.month.slice(0, 7),
    isFirst: month.is_first,
    receipts: Number(month.receipts),
    entries: Number(month.entries),
    chargedMicros: String(month.charged_micros),
    sha256: month.rows_hash?.toString('hex'),
    chainSha256: month.chain_hash?.toString('hex'),
    closedAt: month.closed_at?.toISOString(),
  };
}
