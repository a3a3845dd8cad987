import { copyDirectory, guardDirectory } from '#cells/directory/copy.ts';
import { CellFault, settleCell } from '#cells/topology/cells.ts';
import { selectDirectoryUrl, selectOwnCell } from '#cells/topology/queries.ts';
import {
  countRows,
  createPublication,
  hasPublication,
  hasSubscription,
  refreshSubscription,
  selectUncopied,
  selectWalLevel,
  setPublication,
} from '#cells/directory/queries.ts';
import { DIRECTORY } from '#cells/topology/tables.ts';
import { inTransaction, type Pool, type Queryable, sqlStateOf } from '#db/pool/pool.ts';
import { type Log } from '#kernel/log.ts';
import { sleep } from '#kernel/time/sleep.ts';

const NAMES = DIRECTORY.map(({ name }) => name);
const COPY_MS_MAX = 3_600_000;
const LOOK_MS = 250;
const REFUSED_ELSEWHERE = 'PC001';

/** Where the directory is written, if a fault says that it is not here. Undefined for every other fault. */
export function directoryOf(fault: unknown): string | undefined {
  if (sqlStateOf(fault) !== REFUSED_ELSEWHERE) return undefined;
  return fault instanceof Error && 'detail' in fault ? String(fault.detail) : '';
}

/** Offers the directory of this database to other cells, with all tables that this version has. Safe to repeat. Throws `CellFault`. */
export async function publishDirectory(owner: Pool): Promise<void> {
  const own = await selectOwnCell(owner);
  if (own === undefined)
    throw new CellFault('No gateway has said yet which cell this database is. Start one with PURSER_CELL first.');
  const elsewhere = await selectDirectoryUrl(owner);
  if (elsewhere !== undefined) throw new CellFault(`The directory is written in another cell, at ${elsewhere}.`);
  if ((await selectWalLevel(owner)) !== 'logical') {
    throw new CellFault(
      'The database server keeps too little in its log for copies: set wal_level=logical and restart it.',
    );
  }
  await inTransaction(owner, async (tx) => {
    if (await hasPublication(tx)) await setPublication(tx, NAMES);
    else await createPublication(tx, NAMES);
  });
}

interface Subscribed {
  /** The cell that this database becomes, or is. */
  readonly name: string;
  /** The database that has the directory, as this one's server reaches it, with a user that may replicate. */
  readonly databaseUrl: string;
  /** Where people change accounts, apps and the catalogue. */
  readonly publicUrl: string;
  readonly beginWalletIds: (tx: Queryable, cellNumber: number) => Promise<boolean>;
  readonly log: Log;
}

/**
 * Makes a database that nobody has used yet a cell of the directory, and waits until everything is copied. From then on nobody else writes the
 * directory here. Safe to repeat, also after it was killed halfway, and after an upgrade, when it takes in new tables. Throws `CellFault`.
 */
export async function subscribe(owner: Pool, options: Subscribed): Promise<void> {
  const { name, databaseUrl, publicUrl, beginWalletIds, log } = options;
  const own = await selectOwnCell(owner);
  if (own !== undefined && (own !== name || (await selectDirectoryUrl(owner)) === undefined)) {
    throw new CellFault(`This database is the cell ${own}, which has a directory of its own.`);
  }
  if (await hasSubscription(owner)) {
    await refreshSubscription(owner);
    await untilCopied(owner);
  } else await begin(owner, { name, databaseUrl, log });
  await guardDirectory(owner);
  await settleCell(owner, { name, directoryUrl: publicUrl }, beginWalletIds);
}

async function begin(owner: Pool, options: Pick<Subscribed, 'name' | 'databaseUrl' | 'log'>): Promise<void> {
  for (const { name: table } of DIRECTORY.filter(({ isSeeded }) => !isSeeded)) {
    if ((await countRows(owner, table)) > 0n) {
      throw new CellFault(`This database has been used: there are rows in ${table}. Begin a cell with an empty one.`);
    }
  }
  await copyDirectory(owner, options);
}

async function untilCopied(owner: Pool): Promise<void> {
  for (let ms = 0; ms < COPY_MS_MAX; ms += LOOK_MS) {
    if ((await selectUncopied(owner)).length === 0) return;
    await sleep(LOOK_MS);
  }
  const tables = (await selectUncopied(owner)).join(', ');
  throw new CellFault(
    `These tables are not copied after an hour: ${tables}. Look at the log of both database servers.`,
  );
}
