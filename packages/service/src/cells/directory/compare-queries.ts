import type { DirectoryTable } from '#cells/topology/tables.ts';
import type { Queryable } from '#db/pool/pool.ts';

/**
 * The digests by table and part of its rows, and by table and `columns`. They are equal where two databases have the
 * same.
 */
export type Digests = ReadonlyMap<string, string>;

/** Digests of these tables, as of one moment. */
export async function selectDigests(
  db: Queryable,
  tables: readonly Pick<DirectoryTable, 'name' | 'ownColumns' | 'expiresBy'>[],
): Promise<Digests> {
  const { rows } = await db.query<{ place: string; digest: string }>(
    `select t.name || ' ' || d.part as place, d.digest
     from jsonb_to_recordset($1) as t (name text, "ownColumns" text[], "expiresBy" text)
     cross join lateral cells.digests(t.name::regclass, t."ownColumns", t."expiresBy") d`,
    [JSON.stringify(tables)],
  );
  return new Map(rows.map(({ place, digest }) => [place, digest]));
}

/** Notes the time in the directory, and gives it in microseconds. Undefined if this database has only a copy. */
export async function markBeat(db: Queryable): Promise<bigint | undefined> {
  const { rows } = await db.query<{ beat: bigint }>(
    `update cells.cells set beat_at = clock_timestamp()
     where name = (select cell from cells.own where directory_url is null)
     returning (extract(epoch from beat_at) * 1000000)::bigint as beat`,
  );
  return rows[0]?.beat;
}

/** Whether what the directory had at this time has arrived here. */
export async function hasBeat(db: Queryable, beat: bigint): Promise<boolean> {
  const { rowCount } = await db.query(
    'select from cells.cells where beat_at is not null and (extract(epoch from beat_at) * 1000000)::bigint >= $1',
    [beat],
  );
  return rowCount !== 0;
}

/** Notes that a comparison begins. False if this database has no copy, or another process has begun one within `apartMs`. */
export async function beginComparison(db: Queryable, apartMs: number): Promise<boolean> {
  const { rowCount } = await db.query(
    `update cells.own set comparing_at = clock_timestamp()
     where directory_url is not null and coalesce(comparing_at < clock_timestamp() - $1 * interval '1 millisecond', true)`,
    [apartMs],
  );
  return rowCount === 1;
}

/** Lets the next process that asks begin a comparison at once. */
export async function forgetComparison(db: Queryable): Promise<void> {
  await db.query('update cells.own set comparing_at = null');
}

export async function updateComparison(db: Queryable, differing: readonly string[]): Promise<void> {
  await db.query('update cells.own set compared_at = clock_timestamp(), differing = $1', [differing]);
}

interface ComparisonRow {
  /** How many tables had other rows than the directory. */
  readonly differing: number;
  readonly age_seconds: number;
}

/** The outcome of the last comparison. Undefined if there was none. */
export async function selectComparison(db: Queryable): Promise<ComparisonRow | undefined> {
  const { rows } = await db.query<ComparisonRow>(
    `select cardinality(differing) as differing, extract(epoch from clock_timestamp() - compared_at)::float8 as age_seconds
     from cells.own where directory_url is not null and compared_at is not null`,
  );
  return rows[0];
}
