import type pg from 'pg';

/** Runs the smallest query that proves that the server serves. Throws when it does not. */
export async function probe(client: pg.Client): Promise<void> {
  await client.query('select 1');
}
