import type { TestDatabase } from './database.ts';
import { sqlValue } from './sql.ts';

type Owned = Pick<TestDatabase, 'owner'>;

/** Sets the clock by which buckets refill and months begin ahead of the server's, by a PostgreSQL interval. It runs on. */
export async function stepDatabaseClock({ owner }: Owned, by: string): Promise<void> {
  await replaceClock({ owner }, `select clock_timestamp() + interval '${by}'`);
}

/** Stops that clock where it is. */
export async function stopDatabaseClock({ owner }: Owned): Promise<void> {
  const at = await sqlValue<string>(owner)`select db.wall_clock()::text as at`;
  await replaceClock({ owner }, `select timestamptz '${at ?? ''}'`);
}

/** Sets that clock to a moment and leaves it there, as if it had always shown the right time until then. */
export async function beginDatabaseClock({ owner }: Owned, at: Date): Promise<void> {
  await setDatabaseClock({ owner }, at);
  await owner.query('update db.clock set trusted_at = $1, seen_at = $1, steady_since = $1', [at.toISOString()]);
}

export async function setDatabaseClock({ owner }: Owned, at: Date): Promise<void> {
  await replaceClock({ owner }, `select timestamptz '${at.toISOString()}'`);
}

async function replaceClock({ owner }: Owned, body: string): Promise<void> {
  // One transaction. Tests that run at once replace it one after the other: PostgreSQL refuses two at a time.
  await owner.query(
    `select pg_advisory_xact_lock(hashtextextended('db.wall_clock', 0));
     create or replace function db.wall_clock() returns timestamptz language sql volatile parallel safe as $$ ${body} $$`,
  );
}
