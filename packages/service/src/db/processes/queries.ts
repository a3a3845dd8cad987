import type { Queryable } from '#db/pool/pool.ts';

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

/** Renews the lease of a live instance, and says whether it is the oldest live one. Undefined when it has been fenced. */
export async function renewLease(
  db: Queryable,
  instanceId: bigint,
  leaseMs: number,
): Promise<{ readonly is_oldest: boolean } | undefined> {
  const { rows } = await db.query<{ is_oldest: boolean }>(
    `update db.instances i
     set lease_until = clock_timestamp() + $2 * interval '1 millisecond'
     where i.instance_id = $1 and i.state = 'live'
     returning not exists (
       select from db.instances o
       where o.instance_id < i.instance_id and o.state = 'live' and o.lease_until > clock_timestamp()
     ) as is_oldest`,
    [instanceId, leaseMs],
  );
  return rows[0];
}

/** Marks an instance as gone, so that what it still holds is released without waiting for its lease. */
export async function endInstance(db: Queryable, instanceId: bigint): Promise<void> {
  await db.query(`update db.instances set state = 'dead' where instance_id = $1`, [instanceId]);
}

/** Notes which change of keys and apps a process has in memory. */
export async function confirmAccounts(db: Queryable, instanceId: bigint, seen: bigint): Promise<void> {
  await db.query(`update db.instances set accounts_seen = $2 where instance_id = $1`, [instanceId, seen]);
}

/** The live processes that do not have this change of keys and apps in memory, but for this one. */
export async function selectUnconfirmed(db: Queryable, instanceId: bigint, change: bigint): Promise<readonly bigint[]> {
  const { rows } = await db.query<{ instance_id: bigint }>(
    `select instance_id from db.instances
     where state = 'live' and lease_until > clock_timestamp() and instance_id <> $1 and coalesce(accounts_seen, -1) < $2
     order by instance_id`,
    [instanceId, change],
  );
  return rows.map((row) => row.instance_id);
}

/** The name that this database has kept since it was made, also through a dump and a move. */
export async function selectDatabaseId(db: Queryable): Promise<string> {
  const { rows } = await db.query<{ database_id: string }>(`select database_id from db.identity`);
  const row = rows[0];
  if (row === undefined) throw new Error('The database does not say which it is.');
  return row.database_id;
}

export type Topic = 'accounts' | 'catalogue' | 'cells';

/** Counts one more change of a topic and gives its number. Holds the row until the transaction ends, see the table. */
export async function bumpGeneration(tx: Queryable, topic: Topic): Promise<bigint> {
  const { rows } = await tx.query<{ generation: bigint }>(
    `update db.generations set generation = generation + 1 where topic = $1 and ${WAITING} returning generation`,
    [topic],
  );
  const row = rows[0];
  if (row === undefined) throw new Error(`There is no topic ${topic}.`);
  return row.generation;
}

/** Lets every process forget what it keeps in memory, though no counter has grown. */
export async function countCopy(tx: Queryable): Promise<void> {
  await tx.query('update db.identity set copies = copies + 1');
}

/** How often this database has copied the whole directory again. */
export async function selectCopies(db: Queryable): Promise<number> {
  const { rows } = await db.query<{ copies: number }>('select copies from db.identity');
  return rows[0]?.copies ?? 0;
}

/** Lets a transaction wait for locks almost as long as its statements may take: for rare acts that are to be done. */
export async function waitForLocks(tx: Queryable): Promise<void> {
  await tx.query(`set local lock_timeout = '4s'`);
}

/** A condition that is always true, and lets the transaction wait as `waitForLocks` does. One that waits without limit goes on doing so. */
export const WAITING = `case current_setting('lock_timeout')
  when '0' then true else set_config('lock_timeout', '4s', true) is not null end`;

/** What changes with each change of a topic, also when a cell has copied the directory anew and its counters were right before. */
export async function selectGenerations(db: Queryable): Promise<ReadonlyMap<string, bigint>> {
  const { rows } = await db.query<{ topic: string; generation: bigint }>(
    `select topic, generation + ((select copies from db.identity)::bigint << 40) as generation from db.generations`,
  );
  return new Map(rows.map((row) => [row.topic, row.generation]));
}
