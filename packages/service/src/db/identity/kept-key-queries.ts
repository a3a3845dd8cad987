import type { Queryable } from '#db/pool/pool.ts';

/** A kept key, sealed under one of the secrets that may open this database. */
export interface KeptKeyRow {
  readonly purpose: string;
  /** The fingerprint of the secret. */
  readonly fingerprint: Buffer;
  readonly sealed: Buffer;
}

/**
 * The fingerprint of the secret that this database was last opened with. Null if none has opened it yet. Holds the row until the
 * transaction ends, so that of two starts at once the second sees what the first has done.
 */
export async function lockFingerprint(tx: Queryable): Promise<Buffer | null> {
  const { rows } = await tx.query<{ secret_fingerprint: Buffer | null }>(
    'select secret_fingerprint from db.identity for update',
  );
  return rows[0]?.secret_fingerprint ?? null;
}

export async function updateFingerprint(tx: Queryable, fingerprint: Buffer): Promise<void> {
  await tx.query('update db.identity set secret_fingerprint = $1', [fingerprint]);
}

export async function selectKeptKeys(tx: Queryable): Promise<readonly KeptKeyRow[]> {
  const { rows } = await tx.query<KeptKeyRow>('select purpose, fingerprint, sealed from db.kept_keys');
  return rows;
}

export async function insertKeptKeys(tx: Queryable, keys: readonly KeptKeyRow[]): Promise<void> {
  await tx.query(
    `insert into db.kept_keys (purpose, fingerprint, sealed)
     select * from unnest($1::text[], $2::bytea[], $3::bytea[])`,
    [keys.map(({ purpose }) => purpose), keys.map(({ fingerprint }) => fingerprint), keys.map(({ sealed }) => sealed)],
  );
}

/** Deletes what is sealed under any other secret. */
export async function deleteOtherKeptKeys(tx: Queryable, fingerprint: Buffer): Promise<number> {
  const { rowCount } = await tx.query('delete from db.kept_keys where fingerprint <> $1', [fingerprint]);
  return rowCount ?? 0;
}

export async function deleteKeptKeys(tx: Queryable, purposes: readonly string[]): Promise<void> {
  await tx.query('delete from db.kept_keys where purpose = any($1)', [purposes]);
}

/** Whether a gateway has a lease on this database. */
export async function hasLiveInstance(tx: Queryable): Promise<boolean> {
  const { rowCount } = await tx.query(
    `select from db.instances where state = 'live' and lease_until > clock_timestamp() limit 1`,
  );
  return rowCount === 1;
}
