import type pg from 'pg';

/** Asks the server for the least that proves that it serves. Throws when it does not. */
export async function probe(client: pg.Client): Promise<void> {
  await client.query('select 1');
}
