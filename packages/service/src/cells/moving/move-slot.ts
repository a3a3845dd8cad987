import { CellFault } from '#cells/topology/cells.ts';
import {
  type ArrivalRow,
  endMoving,
  insertArrival,
  lockSlot,
  selectArrival,
  selectSlot,
  setMoving,
} from '#cells/moving/queries.ts';
import { selectCells, selectOwnCell } from '#cells/topology/queries.ts';
import { inTransaction, type Pool } from '#db/pool/pool.ts';
import { bumpGeneration } from '#db/processes/queries.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { sleep } from '#kernel/time/sleep.ts';
import { countHolds, depart, leave, selectMovingWallets, stay } from '#ledger/moving/queries.ts';
import { addMovedData, deleteRows, readMovedData } from '#cells/moving/moved-data.ts';

/** The databases of a move, each as its owner. Two may be the same. */
export interface MoveDatabases {
  /** The one in which the map of slots is written. */
  readonly directory: Pool;
  readonly from: Pool;
  readonly to: Pool;
}

interface MoveOptions {
  readonly slot: number;
  /** The cell that takes the slot. */
  readonly to: string;
  /** How long gateways may take to notice that the slot moves. Until they do, calls go on. One that is later may answer as if there were no wallet. */
  readonly noticeMs: number;
  /** How long running calls may take to end. After that the move is given up. */
  readonly drainMs: number;
  /** Is called before each step, for tests. What it throws ends the move there, as a kill does. */
  readonly before?: (step: MoveStep) => Promise<void> | void;
}

/** The steps are done in this order. Up to `copy` a move can be given up. After it, it can only go on. */
export const MOVE_STEPS = ['stop', 'bar', 'drain', 'copy', 'decide', 'depart', 'flip'] as const;
export type MoveStep = (typeof MOVE_STEPS)[number];

interface Moved {
  readonly wallets: bigint;
  readonly balance: bigint;
  readonly owed: bigint;
  /** The milliseconds in which nobody of the slot could spend, as measured by this process. */
  readonly stoppedMs: number;
}

const LOOK_MS = 20;
/** A copy of the directory that is later than this stands still. */
const DIRECTORY_MS_MAX = 30_000;

/**
 * Moves a slot with the money of its users to another cell, while calls run. One that was killed goes on where it was when it is run again.
 * Undefined if the slot belongs to that cell already. Throws `CellFault` if it cannot move, and also if calls do not end in time: then the
 * slot stays where it was, and calls go on.
 */
export async function moveSlot(databases: MoveDatabases, options: MoveOptions): Promise<Moved | undefined> {
  const { slot, to, before = () => {} } = options;
  await refuseWrongDatabases(databases, to);
  const beganMs = steadyClock.nowMs();
  await before('stop');
  const begun = await begin(databases, slot, to);
  if (begun === undefined) return undefined;
  const arrived = (await selectArrival(databases.to, slot, begun.move)) ?? (await carry(databases, options, begun));
  if (!arrived.has_arrived) {
    await takeBack(databases, slot, begun.move);
    throw new CellFault(`The move of slot ${slot} was given up before. Run it again to begin a new one.`);
  }
  await before('depart');
  await leaveBehind(databases.from, slot, begun.move, arrived);
  await before('flip');
  await inTransaction(databases.directory, async (tx) => {
    const now = await lockSlot(tx, slot);
    if (now?.moving_to !== to || now.moves !== begun.move) return; // Somebody else has ended this move.
    await endMoving(tx, slot, to);
    await bumpGeneration(tx, 'cells');
  });
  const { wallets, balance_micros: balance, owed_micros: owed } = arrived;
  return { wallets, balance, owed, stoppedMs: steadyClock.nowMs() - beganMs };
}

interface Begun {
  readonly from: string;
  readonly move: number;
}

/** Says in the directory that the slot moves. Undefined if it belongs to the cell already. */
async function begin({ directory, from: giving }: MoveDatabases, slot: number, to: string): Promise<Begun | undefined> {
  const own = await selectOwnCell(giving);
  return inTransaction(directory, async (tx) => {
    const now = await lockSlot(tx, slot);
    if (now === undefined) throw new CellFault('There are no cells yet.');
    if (now.cell === to && now.moving_to === null) return undefined;
    if (now.cell !== own) throw new CellFault(`Slot ${slot} belongs to ${now.cell}, and DATABASE_URL is ${own}.`);
    if (now.moving_to !== null && now.moving_to !== to) {
      throw new CellFault(
        `Slot ${slot} is moving to ${now.moving_to}. End that move first, or give it up with --back.`,
      );
    }
    if (now.moving_to === to) return { from: own, move: now.moves };
    if (!(await selectCells(tx)).some(({ name }) => name === to)) throw new CellFault(`There is no cell ${to}.`);
    await setMoving(tx, slot, to);
    await bumpGeneration(tx, 'cells');
    return { from: own, move: now.moves + 1 };
  });
}

/** Bars the slot, waits for its calls, and copies it. Gives what was decided, by this process or by another one. */
async function carry(databases: MoveDatabases, options: MoveOptions, { from, move }: Begun): Promise<ArrivalRow> {
  const { slot, to, noticeMs, drainMs, before = () => {} } = options;
  // No wallet is opened from here on, in either cell: the database looks at the slot.
  for (const pool of [databases.from, databases.to]) await untilMoving(pool, slot, to, move);
  await sleep(noticeMs);
  await before('bar');
  await inTransaction(databases.from, (tx) => leave(tx, slot, move));
  await before('drain');
  if (!(await drained(databases.from, slot, drainMs))) {
    await takeBack(databases, slot, move);
    throw new CellFault(
      `Calls of slot ${slot} still ran after ${drainMs / 1_000} s. It stays in ${from}, and its users go on. Try again, or wait longer with --wait.`,
    );
  }
  await before('copy');
  const moved = await readMovedData(databases.from, slot);
  if (moved.wallets.some((wallet) => wallet.move !== move)) {
    await takeBack(databases, slot, move);
    throw new CellFault(`The move of slot ${slot} was given up meanwhile.`);
  }
  const decision: ArrivalRow = {
    has_arrived: true,
    wallets: BigInt(moved.wallets.length),
    balance_micros: moved.wallets.reduce((sum, wallet) => sum + wallet.balance_micros, 0n),
    owed_micros: moved.wallets.reduce((sum, wallet) => sum + wallet.shortfall_micros, 0n),
  };
  await inTransaction(databases.to, async (tx) => {
    if (!(await insertArrival(tx, { slot, move, from, ...decision }))) return;
    await addMovedData(tx, slot, move, moved);
    await before('decide');
  });
  const decided = await selectArrival(databases.to, slot, move);
  if (decided === undefined) throw new Error('What became of a move is not written down.');
  return decided;
}

async function drained(from: Pool, slot: number, drainMs: number): Promise<boolean> {
  const untilMs = steadyClock.nowMs() + drainMs;
  while ((await countHolds(from, slot)) > 0n) {
    if (steadyClock.nowMs() > untilMs) return false;
    await sleep(LOOK_MS);
  }
  return true;
}

/**
 * Takes the money out of the books of the cell that gives, once it is in those of the other one. Only wallets that are barred for this
 * move: another process may have ended it long ago, and they may be back.
 */
async function leaveBehind(from: Pool, slot: number, move: number, arrived: ArrivalRow): Promise<void> {
  await inTransaction(from, async (tx) => {
    const barred = (await selectMovingWallets(tx, slot)).filter((wallet) => wallet.move === move);
    await deleteRows(tx, barred);
    const gone = await depart(tx, slot, move);
    const isAllOfIt =
      gone.wallets === arrived.wallets && gone.balance === arrived.balance_micros && gone.owed === arrived.owed_micros;
    if (isAllOfIt || gone.wallets === 0n) return;
    throw new CellFault(
      `SLOT ${slot} HAS CHANGED SINCE IT WAS COPIED: ${gone.wallets} wallets with ${gone.balance} micros, copied were ${arrived.wallets} with ${arrived.balance_micros}.`,
    );
  });
}

/**
 * Gives a move up: the slot stays in its cell, and its users spend again. Safe to repeat. Throws `CellFault` if their money has arrived in
 * the other cell already: then the move can only go on. With the number of a move, no other one is given up.
 */
export async function takeBack(databases: MoveDatabases, slot: number, only?: number): Promise<void> {
  const now = await selectSlot(databases.directory, slot);
  if (now === undefined || (only !== undefined && now.moves !== only)) return;
  const { cell: from, moving_to: to, moves: move } = now;
  if (to === null) {
    // The last move has ended. It may have been given up before another process, which knew nothing of that, barred the slot once more.
    if (from === (await selectOwnCell(databases.from)))
      await inTransaction(databases.from, (tx) => stay(tx, slot, move));
    return;
  }
  await refuseWrongDatabases(databases, to);
  const giving = await selectOwnCell(databases.from);
  if (giving !== from) throw new CellFault(`Slot ${slot} belongs to ${from}, and DATABASE_URL is ${giving}.`);
  const nothing = { has_arrived: false, wallets: 0n, balance_micros: 0n, owed_micros: 0n };
  await inTransaction(databases.to, (tx) => insertArrival(tx, { slot, move, from, ...nothing }));
  if ((await selectArrival(databases.to, slot, move))?.has_arrived === true) {
    throw new CellFault(`The money of slot ${slot} is in ${to} already. Run the move again to end it.`);
  }
  await inTransaction(databases.from, (tx) => stay(tx, slot, move));
  await inTransaction(databases.directory, async (tx) => {
    const still = await lockSlot(tx, slot);
    if (still?.moving_to !== to || still.moves !== move) return;
    await endMoving(tx, slot, from);
    await bumpGeneration(tx, 'cells');
  });
}

/** Waits until a copy of the directory knows of the move. */
async function untilMoving(pool: Pool, slot: number, to: string, move: number): Promise<void> {
  for (let ms = 0; ms < DIRECTORY_MS_MAX; ms += LOOK_MS) {
    const now = await selectSlot(pool, slot);
    if (now?.moving_to === to && now.moves === move) return;
    await sleep(LOOK_MS);
  }
  throw new CellFault(
    `${(await selectOwnCell(pool)) ?? 'A cell'} has not heard of the move after ${DIRECTORY_MS_MAX / 1_000} s: its copy of the directory stands still.`,
  );
}

/** A move between the wrong databases would take money out of one and put it into none. */
async function refuseWrongDatabases({ from, to: taking }: MoveDatabases, to: string): Promise<void> {
  const [giving, taker] = [await selectOwnCell(from), await selectOwnCell(taking)];
  if (taker !== to) throw new CellFault(`The other database is the cell ${taker ?? 'of nobody'}, and not ${to}.`);
  if (giving === undefined || giving === to) throw new CellFault(`DATABASE_URL is the cell ${giving ?? 'of nobody'}.`);
}
