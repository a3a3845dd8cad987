import { createPool, type Pool } from '../../packages/service/src/db/pool/pool.ts';
import type { AppId } from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { stepDatabaseClock, stopDatabaseClock } from './database-clock.ts';
import { createTestDatabase } from './database.ts';
import { sql } from './sql.ts';

/** A clock that stands still until a test moves it. Only the limiter uses it. Buckets refill by the database's clock. */
export function stoppedClock() {
  let nowMs = 1_000_000;
  return {
    nowMs: () => nowMs,
    moveOn: (ms: number) => {
      nowMs += ms;
    },
  };
}

/** Rate buckets as rows, for tests of the limiter by itself. */
export async function createRateBuckets() {
  const database = await createTestDatabase();
  const { url, owner } = database;
  const openPool = (): Pool => createPool({ url, role: 'live', connectionsMax: 2, log: createLog('silent') });
  const pool = openPool();

  async function setBucket(appId: AppId, tokens: number, refilled: string): Promise<void> {
    await sql(owner)`insert into limits.buckets (app_id, units, refilled_at_us)
      values (${appId}, ${BigInt(Math.round(tokens * 60_000_000))}, (extract(epoch from db.wall_clock() + ${refilled}::interval) * 1000000)::bigint)
      on conflict (app_id) do update set units = excluded.units, refilled_at_us = excluded.refilled_at_us`;
  }

  return {
    database,
    /** The pool as a gateway process has it. */
    pool,
    openPool,
    /** Sets the number of tokens as of a moment from now (a PostgreSQL interval). */
    setBucket: async (appId: AppId, tokens: number, refilled: string) => {
      await stepDatabaseClock(database, '0'); // It runs again if it stood still.
      await setBucket(appId, tokens, refilled);
    },
    /** A bucket that is never refilled, because the database's clock stands still, so that counts are exact. */
    fillOnce: async (appId: AppId, tokens: number) => {
      await stopDatabaseClock(database);
      await setBucket(appId, tokens, '0');
    },
    /** The content of the bucket, in sixty-millionths of a token. */
    unitsOf: async (appId: AppId) => {
      const text = 'select units from limits.buckets where app_id = $1';
      const { rows } = await owner.query<{ units: bigint }>(text, [appId]);
      return rows[0]?.units ?? -1n;
    },
    /** The tokens of each lease. */
    leasesOf: async (appId: AppId) => {
      const text = 'select tokens from limits.token_leases where app_id = $1 order by tokens';
      const { rows } = await owner.query<{ tokens: number }>(text, [appId]);
      return rows.map(({ tokens }) => tokens);
    },
    close: async () => {
      await pool.end();
      await database.close();
    },
  };
}
