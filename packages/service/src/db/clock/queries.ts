import type { Queryable } from '#db/pool/pool.ts';

/** Takes the database's clock at its word if no gateway runs, see `trust_clock.sql`. For a gateway that is starting. */
export async function trustClock(db: Queryable): Promise<void> {
  await db.query('select db.trust_clock()');
}

/** Notes what the database's clock says, see `observe_clock.sql`. */
export async function observeClock(db: Queryable): Promise<void> {
  await db.query('select db.observe_clock()');
}
