import type { Queryable } from '#db/pool/pool.ts';

/** Waits until no process adds receipts or rebuilds, and keeps others from it until the connection ends or lets go. */
export async function holdRollUps(client: Queryable): Promise<void> {
  await client.query(`select pg_advisory_lock(hashtextextended('stats.roll_up', 0))`);
}

export async function letRollUpsGo(client: Queryable): Promise<void> {
  await client.query(`select pg_advisory_unlock(hashtextextended('stats.roll_up', 0))`);
}

export async function clearRebuilt(client: Queryable): Promise<void> {
  await client.query(`truncate stats.rebuilt`);
}

/** The first UTC day at or after one of which all receipts are here, and not in an archive. */
export async function selectRebuildFrom(client: Queryable, from: Date): Promise<Date> {
  const { rows } = await client.query<{ from: Date }>(`select stats.rebuild_from($1) as from`, [from]);
  return rows[0]?.from ?? from;
}

/** A time, whose end is exclusive. */
interface Time {
  readonly from: Date;
  readonly to: Date;
}

/** The field `last` is null when nothing is left. */
interface RebuiltPage {
  readonly last: bigint | null;
  readonly calls: bigint;
}

/** Sums the receipts of `most` wallets after one for a rebuild, see `rebuild_receipts.sql`. */
export async function rebuildReceipts(
  client: Queryable,
  { from, to }: Time,
  { after, most }: { readonly after: bigint; readonly most: number },
): Promise<RebuiltPage> {
  const { rows } = await client.query<RebuiltPage>(
    `select last_wallet as last, calls from stats.rebuild_receipts($1, $2, $3, $4)`,
    [after, most, from, to],
  );
  return rows[0] ?? { last: null, calls: 0n };
}

/** Sums `most` traces after one for a rebuild, see `rebuild_traces.sql`. */
export async function rebuildTraces(
  client: Queryable,
  { from, to }: Time,
  { after, most }: { readonly after: bigint; readonly most: number },
): Promise<RebuiltPage> {
  const { rows } = await client.query<RebuiltPage>(
    `select last_trace as last, calls from stats.rebuild_traces($1, $2, $3, $4)`,
    [after, most, from, to],
  );
  return rows[0] ?? { last: null, calls: 0n };
}

/** The UTC days of a time that have sums, or will have some after a rebuild. */
export async function selectDays(client: Queryable, { from, to }: Time): Promise<readonly Date[]> {
  const { rows } = await client.query<{ day: Date }>(
    `select distinct date_trunc('day', d.hour, 'UTC') as day
     from (select hour from stats.rebuilt union select hour from stats.hours where hour >= $1 and hour < $2) d order by 1`,
    [from, to],
  );
  return rows.map(({ day }) => day);
}

/** Puts what was read for a rebuild into the sums of a day, see `replace_day.sql`. */
export async function replaceDay(client: Queryable, day: Date): Promise<void> {
  await client.query(`select stats.replace_day($1)`, [day]);
}
