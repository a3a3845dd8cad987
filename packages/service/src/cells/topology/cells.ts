import {
  type CellRow,
  insertCell,
  insertOwnCell,
  insertSlots,
  lockCells,
  lockSlots,
  selectCells,
  selectOwnCell,
  updateAddress,
  updateBorrows,
  updateSlots,
} from '#cells/topology/queries.ts';
import { inTransaction, type Pool, type Queryable } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import { CELL_NAME_RULE, isCellName } from '#kernel/values/slot.ts';

/** Something that cannot be done with cells as they are. The message says why, to an operator. */
export class CellFault extends Error {}

const CELLS_MAX = 1_000;

/**
 * Adds a cell, or gives an old one another address (`changed`). The first one gets all slots, the others none. Safe to repeat. Throws
 * `CellFault` if the name or the address cannot be used.
 */
export function addCell(
  owner: Pool,
  name: string,
  address: string,
): Promise<{ readonly cell: CellRow; readonly outcome: 'added' | 'changed' | 'kept' }> {
  if (!isCellName(name)) throw new CellFault(`A cell's name is ${CELL_NAME_RULE}.`);
  const baseUrl = baseUrlOf(address);
  return inTransaction(owner, async (tx) => {
    await lockCells(tx);
    const before = await selectCells(tx);
    const old = before.find((cell) => cell.name === name);
    if (old?.base_url === baseUrl) return { cell: old, outcome: 'kept' };
    if (old === undefined && before.length >= CELLS_MAX)
      throw new CellFault(`There are ${CELLS_MAX} cells, which is the most.`);
    if (old === undefined) await insertCell(tx, name, baseUrl);
    else await updateAddress(tx, name, baseUrl);
    if (before.length === 0) await insertSlots(tx, name);
    await bumpGeneration(tx, 'cells');
    return { cell: await cellNamed(tx, name), outcome: old === undefined ? 'added' : 'changed' };
  });
}

function baseUrlOf(address: string): string {
  const url = URL.parse(address);
  const isBase = url !== null && /^https?:$/.test(url.protocol) && url.search + url.hash + url.username === '';
  if (isBase) return url.href.replace(/\/+$/, '');
  throw new CellFault(
    'The address must be an http or https URL without a name, a query or a fragment, such as http://10.0.1.5:8787.',
  );
}

interface Assigned {
  readonly least: number;
  readonly most: number;
  readonly to: string;
}

/**
 * Gives slots of this cell to another one, as long as nobody in them has a wallet here (`hasWallets`): money is not moved. A
 * wallet that is being opened meanwhile is seen, or refused. Throws `CellFault`.
 */
export function assignSlots(
  owner: Pool,
  { least, most, to }: Assigned,
  hasWallets: (tx: Queryable, least: number, most: number) => Promise<boolean>,
): Promise<void> {
  return inTransaction(owner, async (tx) => {
    await cellNamed(tx, to);
    const own = await selectOwnCell(tx);
    if (own === undefined) {
      throw new CellFault('No gateway has said yet which cell this database is. Start one with PURSER_CELL first.');
    }
    const others = (await lockSlots(tx, least, most)).filter((cell) => cell !== own && cell !== to);
    if (others.length > 0) {
      throw new CellFault(
        `Some of these slots belong to ${others.join(', ')}. Only slots of ${own} can be given away here.`,
      );
    }
    if (to !== own && (await hasWallets(tx, least, most))) {
      throw new CellFault(
        `Users of these slots have wallets in ${own}. Use \`cells move\`, which moves their money too.`,
      );
    }
    await updateSlots(tx, least, most, to);
    await bumpGeneration(tx, 'cells');
  });
}

interface Settled {
  /** The name of the cell. It is undefined for a database that is no cell. */
  readonly name: string | undefined;
  /** Where the directory is written. If it is undefined, it is written in this database. */
  readonly directoryUrl?: string;
}

/**
 * Makes this database the cell of that name, or finds that it is. `beginWalletIds` keeps the ids of its wallets apart from those of other cells, and says
 * whether it could. Throws `CellFault` if the database is another cell, if there is no such cell, or if a database that is a cell is named as none.
 */
export async function settleCell(
  owner: Pool,
  { name, directoryUrl }: Settled,
  beginWalletIds: (tx: Queryable, cellNumber: number) => Promise<boolean>,
): Promise<void> {
  const own = await selectOwnCell(owner);
  if (own === undefined && name === undefined) return;
  if (own === name) return updateBorrows(owner); // A build before this one did not.
  if (own !== undefined) throw new CellFault(`This database is the cell ${own}. Set PURSER_CELL=${own}.`);
  await inTransaction(owner, async (tx) => {
    const { number } = await cellNamed(tx, name ?? '');
    if (!(await beginWalletIds(tx, number))) {
      throw new CellFault(
        `This database has wallets with ids of other cells. Only the first cell may begin with wallets, and ${name} is not the first.`,
      );
    }
    await insertOwnCell(tx, name ?? '', directoryUrl);
    await updateBorrows(tx);
  });
}

async function cellNamed(tx: Queryable, name: string): Promise<CellRow> {
  const cell = (await selectCells(tx)).find((one) => one.name === name);
  if (cell !== undefined) return cell;
  throw new CellFault(`There is no cell ${name}. \`npm run purser -- cells list\` shows those that there are.`);
}
