import type { Pool } from '#db/pool/pool.ts';
import { hashArchive, readArchive } from '#ledger/archives/file.ts';
import { MonthFault } from '#ledger/months/month-fault.ts';
import { beginRestore, endRestore, insertReceipts, selectDetached } from '#ledger/archives/queries.ts';
import { HEADER, readReceiptLines, RECEIPT_COLUMNS } from '#ledger/months/receipt-lines.ts';
import { withLocks } from '#ledger/months/with-locks.ts';

const ROWS_AT_ONCE = 2_000;
/** A field and what ends it. A text is in quotes, what is null is empty. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\n]*))([,\n])/y;

/**
 * Brings the receipts of a detached month back from its archive, which is found by its hash and not by its name. They are a part of the
 * whole again only when the rows that were written have that hash too. Safe to repeat, also after it was killed: what was
 * written is then dropped first. Gives the name of the month.
 *
 * Throws `MonthFault` if the file cannot be read, or no detached month has this hash.
 */
export async function restoreMonth(owner: Pool, file: string): Promise<string> {
  const hash = await hashArchive(file).catch((fault: unknown) => {
    throw new MonthFault(`${file} cannot be read, or is not whole.`, { cause: fault });
  });
  const month = await selectDetached(owner, hash);
  if (month === undefined) {
    throw new MonthFault(
      `${file} is the archive of no month that is detached from this database: its SHA-256 is ${hash.toString('hex')}.`,
    );
  }
  await beginRestore(owner, month);
  for await (const rows of recordsOf(readArchive(file))) {
    await insertReceipts(owner, month, rows);
  }
  const written = await readReceiptLines(owner, month);
  if (!written.hash.equals(hash)) throw new Error('The restored rows are not those of the archive.');
  await withLocks(owner, (tx) => endRestore(tx, month));
  return month.slice(0, 7);
}

type Row = Readonly<Record<string, string | null>>;

/** The records of an archive, so many at a time, without the line of names. */
async function* recordsOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly Row[]> {
  let text = '';
  let isBegun = false;
  let rows: Row[] = [];
  for await (const piece of pieces) {
    text += piece;
    if (!isBegun) {
      if (text.length < HEADER.length) continue;
      if (!text.startsWith(HEADER)) throw new MonthFault('The archive has other columns than this version knows.');
      text = text.slice(HEADER.length);
      isBegun = true;
    }
    const { records, rest } = wholeRecords(text);
    text = rest;
    rows.push(...records);
    if (rows.length >= ROWS_AT_ONCE) {
      yield rows;
      rows = [];
    }
  }
  if (rows.length > 0) yield rows;
}

/** The records that end within a text, and what is left of it. */
function wholeRecords(text: string): { readonly records: readonly Row[]; readonly rest: string } {
  const records: Row[] = [];
  let begun = 0;
  let fields: (string | null)[] = [];
  FIELD.lastIndex = 0;
  for (let found = FIELD.exec(text); found !== null; found = FIELD.exec(text)) {
    const [, quoted, plain, end] = found;
    fields.push(quoted === undefined ? (plain === '' ? null : (plain ?? null)) : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    if (fields.length !== RECEIPT_COLUMNS.length)
      throw new MonthFault('A line of the archive has another number of fields.');
    const values = fields;
    records.push(Object.fromEntries(RECEIPT_COLUMNS.map((name, index) => [name, values[index] ?? null])));
    fields = [];
    begun = FIELD.lastIndex;
  }
  return { records, rest: text.slice(begun) };
}
