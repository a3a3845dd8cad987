import { createCellClient } from '#cells/routing/cell-client.ts';
import { createCellRequests } from '#cells/routing/cell-request.ts';
import { selectCells, selectOwnCell } from '#cells/topology/queries.ts';
import type { Pool } from '#db/pool/pool.ts';
import { BOOKS } from '#http/cells/money/books.ts';
import { askCell } from '#http/cells/questions/question.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { proofsOf, type Secrets } from '#kernel/crypto/keys.ts';
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
