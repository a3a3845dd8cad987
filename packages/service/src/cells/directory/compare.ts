import { CellFault } from '#cells/topology/cells.ts';
import { type Digests, hasBeat, markBeat, selectDigests } from '#cells/directory/compare-queries.ts';
import { DIRECTORY } from '#cells/topology/tables.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { sleep } from '#kernel/time/sleep.ts';

/** The directory at a moment. */
export interface DirectoryState {
  /** A time that was written into the directory before the digests were taken. */
  readonly beat: bigint;
  readonly digests: Digests;
}

const ARRIVE_MS_MAX = 30_000;
const LOOK_MS = 100;
const LOOKS_MAX = 5;
const APART_MS = 1_000;
/** Every gateway of the directory writes it all the time, see `heartbeat.ts`. */
const BEATS = { name: 'cells.cells', column: 'beat_at' };
const COMPARED = DIRECTORY.map(({ name, ownColumns, expiresBy }) => ({
  name,
  ownColumns: name === BEATS.name ? [...ownColumns, BEATS.column] : ownColumns,
  expiresBy,
}));

/** Reads the state of the directory, in the cell that has it. Undefined if this is another one. */
export async function readDirectory(db: Queryable): Promise<DirectoryState | undefined> {
  const beat = await markBeat(db);
  return beat === undefined ? undefined : { beat, digests: await selectDigests(db, COMPARED) };
}

/**
 * Compares the copy of the directory in this database with the directory, of which `ask` reads the state, and gives the tables of which
 * rows differ. Both may change meanwhile. A difference counts if the directory was the same before and after the copy was read, and if it was
 * there at two looks. Throws `CellFault` if the copy stands still.
 */
export async function compareCopy(db: Queryable, ask: () => Promise<DirectoryState>): Promise<readonly string[]> {
  let seen: ReadonlySet<string> = new Set();
  for (let look = 1; ; look += 1) {
    const before = await ask();
    await untilArrived(db, before.beat);
    const own = await selectDigests(db, COMPARED);
    const after = await ask();
    const other = placesOf(before.digests, own, after.digests).filter(
      (place) => ![before, after].some(({ digests }) => digests.get(place) === own.get(place)),
    );
    const differing = other.filter((place) => before.digests.get(place) === after.digests.get(place));
    const certain = differing.filter((place) => seen.has(place));
    if (look === LOOKS_MAX || certain.length === other.length) return [...new Set(certain.map(tableOf))].toSorted();
    seen = new Set(differing);
    await sleep(APART_MS);
  }
}

async function untilArrived(db: Queryable, beat: bigint): Promise<void> {
  for (let ms = 0; ms < ARRIVE_MS_MAX; ms += LOOK_MS) {
    if (await hasBeat(db, beat)) return;
    await sleep(LOOK_MS);
  }
  throw new CellFault(
    `The copy of the directory stands still: what was written ${ARRIVE_MS_MAX / 1_000} s ago has not arrived. Nothing was compared.`,
  );
}

/** Returns the places that can be compared: a table has other columns in a cell of another build. */
function placesOf(...all: readonly Digests[]): readonly string[] {
  const places = new Set(all.flatMap((digests) => [...digests.keys()]));
  const isAlike = (place: string): boolean =>
    new Set(all.map((digests) => digests.get(`${tableOf(place)} columns`))).size === 1;
  return [...places].filter(isAlike);
}

function tableOf(place: string): string {
  return place.replace(/ .*/, '');
}
