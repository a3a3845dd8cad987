import type { TestDatabase } from './database.ts';

/** Runs a statement on rows that nobody may change: entries and receipts. It skips triggers, but no constraint. */
export async function rewrite({ owner }: TestDatabase, text: string, values: readonly unknown[] = []): Promise<void> {
  const client = await owner.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica');
    await client.query(text, [...values]);
    await client.query('commit');
  } catch (fault) {
    await client.query('rollback');
    throw fault;
  } finally {
    client.release();
  }
}
