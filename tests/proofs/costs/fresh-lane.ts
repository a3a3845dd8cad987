import type { TestContext } from 'node:test';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { createLedgerDatabase } from '../../support/ledger-database.ts';
import { sql } from '../../support/sql.ts';
import { partsOf } from './table-parts.ts';

/** A database whose tables are known to be empty, so that every plan is nearly free, and a connection without plans yet. */
export async function setFreshLane(t: TestContext, role: 'live' | 'sandbox') {
  const fresh = await createLedgerDatabase();
  t.after(() => fresh.close());
  const { owner, url } = fresh.database;
  await sql(owner)`analyze`;
  const early = createPool({ url, role, connectionsMax: 1, log: createLog('silent') });
  t.after(() => early.end());
  const flush = async (): Promise<void> => {
    for (const session of [early, fresh.live, owner]) {
      await session.query('select pg_stat_force_next_flush()');
      await session.query('select'); // A session reports its counts at the end of a statement.
    }
  };
  const rowsReadOf = async (...tables: readonly string[]): Promise<number> => {
    await flush();
    const { rows } = await owner.query<{ read: string }>(
      `select sum(seq_tup_read + idx_tup_fetch) as read from pg_stat_user_tables where relid in ${partsOf('$1')}`,
      [tables],
    );
    return Number(rows[0]?.read);
  };
  return { fresh, owner, early, flush, rowsReadOf };
}
