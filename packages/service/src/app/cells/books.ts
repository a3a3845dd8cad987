import { createCellClient } from '#cells/routing/cell-client.ts';
import { createCellRequests } from '#cells/routing/cell-request.ts';
import { selectCells, selectMovingSlots, selectOwnCell } from '#cells/topology/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { BOOKS } from '#http/cells/money/books.ts';
import { askBy } from '#http/cells/questions/question.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { proofsOf, type Secrets } from '#kernel/crypto/keys.ts';
import { selectCellBooks } from '#ledger/moving/queries.ts';

/**
 * The books of all cells, for a command: those of this database, and those of others by a question to a gateway there. And how many
 * slots are moving with their money, read after the books. Undefined if this database is no cell. Throws `CellAway`.
 */
export async function readBooksOfCells(owner: Pool, secrets: Secrets) {
  const own = await selectOwnCell(owner);
  if (own === undefined) return undefined;
  const client = createCellClient(createCellRequests(own, proofsOf(secrets)('cell-requests'), systemClock));
  const ask = askBy(client);
  const read = async (name: string, baseUrl: string) =>
    name === own ? selectCellBooks(owner) : ask({ name, baseUrl }, BOOKS, {});
  try {
    const cells = await selectCells(owner);
    const all = await Promise.all(cells.map(async ({ name, base_url: url }) => [name, await read(name, url)] as const));
    return { all, moving: (await selectMovingSlots(owner)).length };
  } finally {
    client.close();
  }
}
