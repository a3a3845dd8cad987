import { createCellClient } from '#cells/cell-client.ts';
import { createCellRequests } from '#cells/cell-request.ts';
import { selectCells, selectOwnCell } from '#cells/queries.ts';
import type { Pool } from '#db/pool.ts';
import { BOOKS } from '#http/cells/books.ts';
import { askCell } from '#http/cells/question.ts';
import { systemClock } from '#kernel/clock.ts';
import { proofsOf, type Secrets } from '#kernel/keys.ts';
import { type CellBooks, selectCellBooks } from '#ledger/moving/queries.ts';

/**
 * The books of all cells, for a command: those of this database, and those of others by a question to a gateway there. Undefined if this
 * database is no cell. Throws `CellAway`.
 */
export async function readBooksOfCells(
  owner: Pool,
  secrets: Secrets,
): Promise<readonly (readonly [name: string, books: CellBooks])[] | undefined> {
  const own = await selectOwnCell(owner);
  if (own === undefined) return undefined;
  const client = createCellClient(createCellRequests(own, proofsOf(secrets)('cell-requests'), systemClock));
  const read = async (name: string, baseUrl: string) =>
    name === own ? selectCellBooks(owner) : askCell(client, { name, baseUrl }, BOOKS, {});
  try {
    const cells = await selectCells(owner);
    return await Promise.all(cells.map(async ({ name, base_url: url }) => [name, await read(name, url)] as const));
  } finally {
    client.close();
  }
}
