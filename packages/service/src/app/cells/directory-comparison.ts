import { CellAway } from '#kernel/faults/cell-away.ts';
import { createCellClient } from '#cells/routing/cell-client.ts';
import { createCellRequests } from '#cells/routing/cell-request.ts';
import { CellFault } from '#cells/topology/cells.ts';
import { compareCopy } from '#cells/directory/compare.ts';
import { beginComparison, updateComparison } from '#cells/directory/compare-queries.ts';
import { selectCells, selectDirectoryUrl, selectOwnCell } from '#cells/topology/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { DIRECTORY_STATE } from '#http/cells/operators/directory.ts';
import { askBy, type CellPeers } from '#http/cells/questions/question.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { proofsOf, type Secrets } from '#kernel/crypto/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';

const LOOK_MS = 15_000;
/** All of the directory is read, in both cells. */
const APART_MS = 300_000;

interface ComparingOptions extends Pick<CellPeers, 'ask'> {
  /** The pool for statements that take long. */
  readonly db: Pool;
  readonly log: Log;
}

/** Compares the copy of the directory with the directory every five minutes, in one process of a cell that has a copy. */
export function startComparing({ db, ask, log }: ComparingOptions): { readonly stop: () => Promise<void> } {
  return repeat(async () => {
    try {
      if (!(await beginComparison(db, APART_MS))) return;
      const tables = await compareNow(db, ask);
      if (tables.length > 0) log.error({ tables }, 'the copy of the directory differs from it: see `cells compare`');
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the copy of the directory could not be compared');
    }
  }, LOOK_MS);
}

/** Compares the copy at once, for a command. Throws `CellFault`. */
export async function compareOnce(owner: Pool, secrets: Secrets): Promise<readonly string[]> {
  const own = await selectOwnCell(owner);
  if (own === undefined || (await selectDirectoryUrl(owner)) === undefined)
    throw new CellFault('This database has no copy of the directory.');
  const client = createCellClient(createCellRequests(own, proofsOf(secrets)('cell-requests'), systemClock));
  try {
    return await compareNow(owner, askBy(client));
  } catch (fault) {
    if (!(fault instanceof CellAway)) throw fault;
    throw new CellFault(`${fault.message} Nothing was compared.`, { cause: fault });
  } finally {
    client.close();
  }
}

async function compareNow(db: Pool, ask: CellPeers['ask']): Promise<readonly string[]> {
  // The first cell has the directory.
  const [first] = await selectCells(db);
  if (first === undefined) throw new CellFault('The copy of the directory names no cell.');
  const cell = { name: first.name, baseUrl: first.base_url };
  const differing = await compareCopy(db, () => ask(cell, DIRECTORY_STATE, {}));
  await updateComparison(db, differing);
  return differing;
}
