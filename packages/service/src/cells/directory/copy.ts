import {
  closeRows,
  createSlotWithSnapshot,
  disableSubscription,
  enableSubscription,
  endCopying,
  fetchRows,
  holdCopy,
  insertStaged,
  isSlotAt,
  limitWaits,
  type NewSlot,
  openRows,
  replaceRows,
  replaceSubscription,
  selectAll,
  selectColumns,
  stage,
  tryOutSlot,
  useSnapshot,
  writeAsCopy,
} from '#cells/directory/copy-queries.ts';
import { CellFault } from '#cells/topology/cells.ts';
import { forgetComparison } from '#cells/directory/compare-queries.ts';
import { selectCells, selectDirectoryUrl, selectOwnCell } from '#cells/topology/queries.ts';
import {
  dropSlot,
  guard,
  hasPublication,
  isCopying,
  isSlotRead,
  selectNewestBeat,
  selectUnpublished,
  slotNameOf,
} from '#cells/directory/queries.ts';
import { DIRECTORY, type DirectoryTable, MARK } from '#cells/topology/tables.ts';
import { databaseAddressOf } from '#db/servers/hosts.ts';
import { writeTimesAlike } from '#db/records/moved-rows.ts';
import { createPool, inSnapshot, inTransaction, type Pool, type Queryable, sqlStateOf } from '#db/pool/pool.ts';
import { countCopy, waitForLocks } from '#db/processes/queries.ts';
import type { Log } from '#kernel/log.ts';
import { sleep } from '#kernel/time/sleep.ts';

interface CopyOptions {
  /** The cell that this database is, or becomes. */
  readonly name: string;
  /** The database that has the directory, as this one's server reaches it, with a user that may replicate. */
  readonly databaseUrl: string;
  readonly log: Log;
  /** How long to wait for each transaction that keeps a slot from being made, in milliseconds. */
  readonly waitMsMax?: number;
}

/** What was changed in a table. A row that differed went and came. */
interface Replaced {
  readonly table: string;
  readonly went: number;
  readonly came: number;
}

const ROWS_AT_ONCE = 1_000;
/** The servers notice after ten seconds, or after a minute by default, that nobody reads a slot any more. */
const RELEASE_MS_MAX = 90_000;
const LOOK_MS = 200;
const SLOT_TRIES_MAX = 20;
const WAIT_MS_MAX = 30_000;
const NOT_ALLOWED = '42501';
const WAITED_TOO_LONG = '55P03';
const NO_ROOM = '53400';

/** Does what `copyDirectory` does, for a cell that has a copy, which goes on meanwhile. Throws `CellFault`. */
export async function copyAgain(owner: Pool, options: CopyOptions): Promise<readonly Replaced[]> {
  const { name } = options;
  if ((await selectOwnCell(owner)) !== name || (await selectDirectoryUrl(owner)) === undefined) {
    throw new CellFault(`This database is no cell ${name} with a copy of the directory.`);
  }
  const replaced = await copyDirectory(owner, options);
  await guardDirectory(owner); // Tables that an upgrade has added may lack it.
  return replaced;
}

/** Lets nobody but the copying process write the directory in this database. Throws `CellFault` if a table stays locked for seconds. */
export async function guardDirectory(owner: Pool): Promise<void> {
  try {
    await inTransaction(owner, async (tx) => {
      await waitForLocks(tx);
      for (const table of DIRECTORY) await guard(tx, table);
    });
  } catch (fault) {
    if (sqlStateOf(fault) !== WAITED_TOO_LONG) throw fault;
    throw new CellFault(
      'The directory is copied, but others can still write the copy: a transaction in this database holds one of its tables. ' +
        'Let it end, and then run this again.',
      { cause: fault },
    );
  }
}

/**
 * Copies the whole directory to this database, and lets PostgreSQL copy what changes from then on. Gives the tables that were not as in the directory.
 * It happens in one transaction that touches only rows that differ. One new replication slot tells where what is copied here ends: PostgreSQL
 * would make a slot for each table, and Patroni drops those. A copy that there is goes on as it was if this fails before its slot is given up, and
 * otherwise stands still until this has succeeded. Safe to repeat, also after it was killed. Throws `CellFault`.
 */
export async function copyDirectory(
  owner: Pool,
  { name, databaseUrl, log, waitMsMax = WAIT_MS_MAX }: CopyOptions,
): Promise<readonly Replaced[]> {
  refuseAnyHost(databaseUrl);
  const open = (more: { readonly replicates?: true }): Pool =>
    createPool({ url: databaseUrl, role: 'owner', connectionsMax: 1, log, ...more });
  const [directory, replication] = [open({}), open({ replicates: true })];
  try {
    // One transaction has the lock and writes the copy: who has lost the one cannot commit the other.
    return await inTransaction(owner, async (to) => {
      if (!(await holdCopy(to))) {
        throw new CellFault('Another run copies the directory to this database. Let it end, and then run this again.');
      }
      await refuseUnready(directory, owner, name);
      const slot = slotNameOf(name);
      const client = await replication.connect();
      try {
        await limitWaits(client, waitMsMax);
        await tryOutSlot(client, slot);
        await letGo(owner, directory, slot);
        const { snapshot_name: snapshot, consistent_point: place } = await newSlot(directory, client, slot);
        return await inSnapshot(directory, async (from) => {
          await useSnapshot(from, snapshot);
          return await replaceAll(from, to, { databaseUrl, slot, place });
        });
      } finally {
        client.release(true);
      }
    });
  } catch (fault) {
    throw await explained(fault, owner);
  } finally {
    await Promise.all([directory.end(), replication.end()]);
  }
}

/** Refuses an address of several hosts: PostgreSQL, which copies from it, takes the first server that answers. */
function refuseAnyHost(databaseUrl: string): void {
  const { hosts, url } = databaseAddressOf(databaseUrl);
  if (hosts.length === 1 || new URL(url).searchParams.has('target_session_attrs')) return;
  throw new CellFault(
    'PURSER_DIRECTORY_URL names several hosts. Add ?target_session_attrs=read-write to it. ' +
      'Otherwise the database server may connect to a standby, and copies nothing.',
  );
}

/** Refuses a directory that is not ready, before anything is given up. */
async function refuseUnready(directory: Queryable, owner: Queryable, name: string): Promise<void> {
  if (!(await hasPublication(directory))) {
    throw new CellFault('That database offers no directory. Run `npm run purser -- cells publish` there first.');
  }
  const unpublished = await selectUnpublished(
    directory,
    DIRECTORY.map(({ name: table }) => table),
  );
  if (unpublished.length > 0) {
    throw new CellFault(
      `That database does not offer ${unpublished.join(', ')}. Run \`npm run purser -- cells publish\` of this version there first.`,
    );
  }
  if (!(await selectCells(directory)).some((cell) => cell.name === name)) {
    throw new CellFault(`The directory has no cell ${name}. Run \`npm run purser -- cells add\` there first.`);
  }
  if (await isAnother(directory, owner)) {
    throw new CellFault(
      'That database has the directory of another installation, or only a copy of a directory. Nothing was changed. ' +
        'Let PURSER_DIRECTORY_URL name the database of the first cell.',
    );
  }
  // A former leader that nobody stopped, or a directory that was restored and does not run, would bring revoked keys back.
  if (await isOlder(directory, owner)) {
    throw new CellFault(
      'That database has an older directory than this copy: it may have been the leader before, or come from a backup. Nothing was changed. ' +
        'Let PURSER_DIRECTORY_URL name the database that gateways of the first cell use now, and let one of them run for ten seconds.',
    );
  }
  for (const table of DIRECTORY) await columnsOf(directory, owner, table);
}

/** Whether it is not where the directory of this copy is written. A database that joins has no copy yet, and takes any directory. */
async function isAnother(directory: Queryable, copy: Queryable): Promise<boolean> {
  if ((await selectDirectoryUrl(directory)) !== undefined) return true;
  if ((await selectOwnCell(copy)) === undefined) return false;
  return (await selectAll(directory, MARK)) !== (await selectAll(copy, MARK));
}

/** Compares the times that gateways of the directory's cell write into it every few seconds. */
async function isOlder(directory: Queryable, copy: Queryable): Promise<boolean> {
  const [there, here] = [await selectNewestBeat(directory), await selectNewestBeat(copy)];
  return here !== undefined && (there === undefined || there < here);
}

const WORDS: ReadonlyMap<string | undefined, string> = new Map([
  [
    NOT_ALLOWED,
    'The database server does not allow this user to copy the directory. ' +
      'Run this command with a superuser in DATABASE_URL, and with one that may replicate in PURSER_DIRECTORY_URL.',
  ],
  [NO_ROOM, "The directory's server has no free replication slot. Drop one, or raise max_replication_slots there."],
  [
    WAITED_TOO_LONG,
    "A transaction on the directory's server does not end, and no replication slot can be made before it has. " +
      'Look for it there, with `select * from pg_stat_activity where backend_xid is not null order by xact_start` and in pg_prepared_xacts.',
  ],
]);

async function explained(fault: unknown, owner: Queryable): Promise<unknown> {
  const words = WORDS.get(sqlStateOf(fault));
  // A database that does not even answer this may have lost its slot.
  const standsStill = await isCopying(owner).then(
    (is) => is === false,
    () => true,
  );
  if (words === undefined && !standsStill) return fault;
  const what = words ?? (fault instanceof Error ? fault.message : String(fault));
  const still = standsStill ? '\nThe copy of the directory stands still until this command has succeeded.' : '';
  return new CellFault(what + still, { cause: fault });
}

/** Ends the copying so that its slot can be given up. It goes on as before if somebody else reads the slot. */
async function letGo(owner: Queryable, directory: Queryable, slot: string): Promise<void> {
  const wasCopying = await isCopying(owner);
  if (wasCopying === true) await disableSubscription(owner);
  try {
    // A process that has begun to connect would read the new slot and move it on, and this run would fail.
    await untilUnread(async () => (await endCopying(owner)) || (await isSlotRead(directory, slot)), slot);
  } catch (fault) {
    // One that was off stays off: its slot may begin later than what it has.
    if (wasCopying === true) await enableSubscription(owner);
    throw fault;
  }
}

async function untilUnread(isRead: () => Promise<boolean>, slot: string): Promise<void> {
  for (let ms = 0; await isRead(); ms += LOOK_MS) {
    if (ms >= RELEASE_MS_MAX) throw new CellFault(`Somebody still reads the directory's replication slot ${slot}.`);
    await sleep(LOOK_MS);
  }
}

/** Makes the slot anew. Patroni may make it first, if it keeps slots of this name. */
async function newSlot(directory: Queryable, replication: Queryable, slot: string): Promise<NewSlot> {
  for (let attempt = 0; attempt < SLOT_TRIES_MAX; attempt += 1) {
    await untilUnread(() => isSlotRead(directory, slot), slot);
    await dropSlot(directory, slot);
    const made = await createSlotWithSnapshot(replication, slot);
    if (made !== undefined) return made;
  }
  throw new CellFault(`The replication slot ${slot} of the directory could not be made anew. Run this again.`);
}

async function replaceAll(
  from: Queryable,
  to: Queryable,
  { databaseUrl, slot, place }: { readonly databaseUrl: string; readonly slot: string; readonly place: string },
): Promise<readonly Replaced[]> {
  for (const tx of [from, to]) await writeTimesAlike(tx);
  await writeAsCopy(to);
  const replaced: Replaced[] = [];
  for (const table of DIRECTORY) replaced.push(await replaceTable(from, to, table));
  await countCopy(to);
  await forgetComparison(to);
  await replaceSubscription(to, databaseUrl, slot);
  // What lies between the rows and a slot that begins later would be lost.
  if (!(await isSlotAt(from, slot, place))) {
    throw new CellFault(`Somebody else has made the replication slot ${slot} of the directory anew. Run this again.`);
  }
  return replaced.filter(({ went, came }) => went + came > 0);
}

async function replaceTable(from: Queryable, to: Queryable, table: DirectoryTable): Promise<Replaced> {
  const { name } = table;
  const columns = await columnsOf(from, to, table);
  await stage(to, name);
  await openRows(from, name);
  for (;;) {
    const rows = await fetchRows(from, ROWS_AT_ONCE);
    if (rows.length === 0) break;
    await insertStaged(to, { table: name, columns, rows });
  }
  await closeRows(from);
  return { table: name, ...(await replaceRows(to, table, columns)) };
}

/** The columns that the directory has. Throws `CellFault` if one is missing here. */
async function columnsOf(from: Queryable, to: Queryable, { name }: DirectoryTable): Promise<readonly string[]> {
  const columns = await selectColumns(from, name);
  const here = new Set(await selectColumns(to, name));
  const missing = columns.filter((column) => !here.has(column));
  if (missing.length === 0) return columns;
  throw new CellFault(`This database lacks ${missing.join(', ')} in ${name}. Run \`purser migrate\` here first.`);
}
