import { CellFault } from '#cells/topology/cells.ts';
import { MOVED_CONNECTIONS } from '#connections/moving-queries.ts';
import {
  deleteMovedRows,
  insertMovedRows,
  type MovedTable,
  type MovedUsers,
  selectMovedRows,
  writeTimesAlike,
} from '#db/records/moved-rows.ts';
import { inSnapshot, type Pool, type Queryable } from '#db/pool/pool.ts';
import { insertKeptAnswers } from '#idempotency/moving-queries.ts';
import { type MovedPerson, selectMovedPeople, upsertMovedPerson } from '#people/moving-queries.ts';
import { arrive, type MovingWalletRow, selectKeptAnswers, selectMovingWallets } from '#ledger/moving/queries.ts';
import { MOVED_PAYMENTS, noteLookAgain } from '#payments/records/moving-queries.ts';

/** Rows that move as they are, in an order in which they can be added. They are deleted in the reverse order. */
const TABLES: readonly MovedTable[] = [...MOVED_CONNECTIONS, ...MOVED_PAYMENTS];

/** All that moves with a slot. */
interface MovedData {
  readonly wallets: readonly MovingWalletRow[];
  readonly people: readonly MovedPerson[];
  /** The JSON rows by table. */
  readonly rows: ReadonlyMap<string, readonly string[]>;
  /** The JSON rows of answers that retries may ask for (CC-14). */
  readonly answers: readonly string[];
}

/** Reads a slot whose wallets are barred, in one snapshot. */
export function readMovedData(pool: Pool, slot: number): Promise<MovedData> {
  return inSnapshot(pool, async (tx) => {
    await writeTimesAlike(tx);
    const wallets = await selectMovingWallets(tx, slot);
    const rows = await readRows(tx, usersOf(wallets));
    const ids = new Set(
      [...rows.values()]
        .flat()
        .map(identityOf)
        .filter((id) => id !== undefined),
    );
    return { wallets, people: await selectMovedPeople(tx, [...ids]), rows, answers: await selectKeptAnswers(tx, slot) };
  });
}

/** Adds moved data to the cell that takes the slot, reads it back, and compares every row. Throws `CellFault` if anything differs. */
export async function addMovedData(tx: Queryable, slot: number, move: number, moved: MovedData): Promise<void> {
  await writeTimesAlike(tx);
  const idsHere = new Map<string, string>();
  for (const person of moved.people) idsHere.set(person.identity_id, await upsertMovedPerson(tx, person));
  const rows = new Map([...moved.rows].map(([table, its]) => [table, its.map((row) => withIdentity(row, idsHere))]));
  for (const wallet of moved.wallets) await arrive(tx, move, wallet);
  for (const [table, its] of rows) await insertMovedRows(tx, table, its);
  await insertKeptAnswers(tx, moved.answers);
  const added = await selectMovingWallets(tx, slot);
  compare('wallets', moved.wallets.map(factsOf), added.map(factsOf));
  const addedRows = await readRows(tx, usersOf(added));
  for (const [table, its] of rows) compare(table, its, addedRows.get(table) ?? []);
  await noteLookAgain(tx, usersOf(added));
}

/** Deletes what has moved with the wallets from the cell that they have left. */
export async function deleteRows(tx: Queryable, wallets: readonly MovingWalletRow[]): Promise<void> {
  for (const table of TABLES.toReversed()) await deleteMovedRows(tx, table, usersOf(wallets));
}

async function readRows(tx: Queryable, users: MovedUsers): Promise<ReadonlyMap<string, readonly string[]>> {
  const rows = new Map<string, readonly string[]>();
  for (const table of TABLES) rows.set(table.name, await selectMovedRows(tx, table, users));
  return rows;
}

function usersOf(wallets: readonly MovingWalletRow[]): MovedUsers {
  return { apps: wallets.map(({ app_id: app }) => app), users: wallets.map(({ user_id: user }) => user) };
}

/** Numbers in JSON rows are at most 2^53 - 1: no amount is larger (WA-01). */
function identityOf(row: string): string | undefined {
  const { identity_id: id } = JSON.parse(row) as { readonly identity_id?: string | null };
  return id ?? undefined;
}

/** The same row with the id that its person has in the other cell. */
function withIdentity(row: string, idsHere: ReadonlyMap<string, string>): string {
  const id = identityOf(row);
  const here = id === undefined ? undefined : idsHere.get(id);
  return id === undefined || here === undefined || here === id
    ? row
    : row.replace(`"identity_id": ${JSON.stringify(id)}`, `"identity_id": ${JSON.stringify(here)}`);
}

function factsOf({ facts }: MovingWalletRow): string {
  return facts;
}

function compare(what: string, before: readonly string[], after: readonly string[]): void {
  const [expected, found] = [before.toSorted(), after.toSorted()];
  if (expected.length === found.length && expected.every((row, n) => row === found[n])) return;
  throw new CellFault(
    `WHAT ARRIVED IS NOT WHAT LEFT: ${expected.length} rows of ${what} were sent, and ${found.length} were read back, or they differ.`,
  );
}
