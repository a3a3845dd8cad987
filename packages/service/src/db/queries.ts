import type { Queryable } from '#db/pool.ts';

/** Registers this process among those that may own holds and gives its instance id. */
export async function insertInstance(db: Queryable, leaseMs: number): Promise<bigint> {
  const { rows } = await db.query<{ instance_id: bigint }>(
    `insert into db.instances (lease_until)
     values (clock_timestamp() + $1 * interval '1 millisecond')
     returning instance_id`,
    [leaseMs],
  );
  const row = rows[0];
  if (row === undefined) throw new Error('The instance could not be registered.');
  return row.instance_id;
}

/** Renews the lease of a live instance. False when it has been fenced. */
export async function renewLease(db: Queryable, instanceId: bigint, leaseMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update db.instances
     set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     where instance_id = $1 and state = 'live'`,
    [instanceId, leaseMs],
  );
  return rowCount === 1;
}

/** Marks an instance as gone, so that what it still holds is released without waiting for its lease. */
export async function endInstance(db: Queryable, instanceId: bigint): Promise<void> {
  await db.query(`update db.instances set state = 'dead' where instance_id = $1`, [instanceId]);
}

/** The name that this database has kept since it was made, also through a dump and a move. */
export async function selectDatabaseId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ database_id: string }>(`select database_id from db.identity`);
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which it is.');
  return row.database_id;
}

export type Topic = 'accounts' | 'catalogue';

/** Counts one more change of a topic and gives its number. Holds the row until the transaction ends, see the table. */
export async function bumpGeneration(tx: Queryable, topic: Topic): Promise<bigint> {
  const { rows } = await tx.query<{ generation: bigint }>(
    `update db.generations set generation = generation + 1 where topic = $1 returning generation`,
    [topic],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`There is no topic ${topic}.`);
  return row.generation;
}

/** Lets a transaction wait for locks almost as long as its statements may take: for rare acts that are to be done. */
export async function waitForLocks(tx: Queryable): Promise<void> {
  await tx.query(`set local lock_timeout = '4s'`);
}

export async function selectGenerations(db: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await db.query<{ topic: string; generation: bigint }>(
    `select topic, generation from db.generations`,
  );
  return new Map(rows.map((row) => [row.topic, row.generation]));
}

/** The number of the newest migration applied, 0 where there is none. */
export async function selectSchemaVersion(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ version: number }>(
    `select coalesce(max(version), 0) as version from db.migrations`,
  );
  return rows[0]?.version ?? 0;
}

/** Analyzes one small table that has doubled, see `db.analyze_young_table`. False when there is none. */
export async function analyzeSmallTable(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ analyzed: boolean }>('select db.analyze_young_table() as analyzed');
  return rows[0]?.analyzed ?? false;
}
