import type { Queryable } from '#db/pool.ts';
import type { AppId, EndUserId, KeyId, Mode } from '#kernel/ids.ts';

/** A key as the data plane needs it. `generation` orders its changes. */
export interface KeyRow {
  readonly key_id: KeyId;
  readonly app_id: AppId;
  readonly digest: Buffer;
  readonly mode: Mode;
  readonly bound_user: EndUserId | null;
  readonly join_seconds: number | null;
  readonly revoked_at: Date | null;
  readonly generation: bigint;
}

const KEY_COLUMNS = 'key_id, app_id, digest, mode, bound_user, join_seconds, revoked_at, generation';

/** Finds a key by the digest of its text, revoked ones included, so that a revocation can be remembered. */
export async function selectKeyByDigest(db: Queryable, digest: Buffer): Promise<KeyRow | undefined> {
  const { rows } = await db.query<KeyRow>(`select ${KEY_COLUMNS} from accounts.api_keys where digest = $1`, [digest]);
  return rows[0];
}

/** Reads the keys that were added or revoked after a generation, oldest change first. */
export async function selectKeysChangedSince(db: Queryable, generation: bigint): Promise<readonly KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    `select ${KEY_COLUMNS} from accounts.api_keys where generation > $1 order by generation`,
    [generation],
  );
  return rows;
}

interface NewKey {
  readonly keyId: KeyId;
  readonly appId: AppId;
  readonly digest: Buffer;
  readonly mode: Mode;
  readonly hint: string;
  /** The only end user of calls with this key. */
  readonly boundUser?: EndUserId | undefined;
  /** How long after its end a call answers others with the same body. */
  readonly joinSeconds?: number | undefined;
}

/** Adds a key. Does nothing when its id exists. */
export async function insertKey(tx: Queryable, key: NewKey, generation: bigint): Promise<void> {
  await tx.query(
    `insert into accounts.api_keys (key_id, app_id, digest, mode, hint, generation, bound_user, join_seconds)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict do nothing`,
    [key.keyId, key.appId, key.digest, key.mode, key.hint, generation, key.boundUser ?? null, key.joinSeconds ?? null],
  );
}

/** A key as its owner sees it. The digest is left out. */
export interface KeyListRow {
  readonly key_id: KeyId;
  readonly mode: Mode;
  readonly hint: string;
  readonly bound_user: EndUserId | null;
  readonly join_seconds: number | null;
  readonly created_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

/** Lists an app's keys in the order they were made: all keys in force, and the `revokedMax` that were revoked last. */
export async function selectKeysOfApp(db: Queryable, appId: AppId, revokedMax: number): Promise<readonly KeyListRow[]> {
  const { rows } = await db.query<KeyListRow>(
    `select key_id, mode, hint, bound_user, join_seconds, created_at, last_used_at, revoked_at
     from (
       select k.*, row_number() over (partition by revoked_at is null order by revoked_at desc) as place
       from accounts.api_keys k where app_id = $1
     ) k
     where revoked_at is null or place <= $2
     order by created_at, key_id`,
    [appId, revokedMax],
  );
  return rows;
}

/** The mode of a key. Undefined when the app has no such key. */
export async function selectKeyMode(db: Queryable, appId: AppId, keyId: KeyId): Promise<Mode | undefined> {
  const { rows } = await db.query<{ mode: Mode }>(
    'select mode from accounts.api_keys where app_id = $1 and key_id = $2',
    [appId, keyId],
  );
  return rows[0]?.mode;
}

/** Counts the keys of an app that are not revoked. */
export async function countKeysInForce(db: Queryable, appId: AppId): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    'select count(*)::int as count from accounts.api_keys where app_id = $1 and revoked_at is null',
    [appId],
  );
  return rows[0]?.count ?? 0;
}

/** Revokes a key. A key that is already revoked keeps its time. False when the app has no such key. */
export async function revokeKey(
  tx: Queryable,
  key: { readonly appId: AppId; readonly keyId: KeyId },
  generation: bigint,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.api_keys set revoked_at = coalesce(revoked_at, clock_timestamp()), generation = $3
     where app_id = $1 and key_id = $2`,
    [key.appId, key.keyId, generation],
  );
  return rowCount === 1;
}

/**
 * Records how long ago keys were used. A later use that another process has recorded stays. Rows are locked in the order of
 * their ids: two processes that record the same keys in different orders would deadlock.
 */
export async function touchKeys(
  db: Queryable,
  uses: readonly { readonly keyId: KeyId; readonly agoMs: number }[],
): Promise<void> {
  await db.query(
    `with used as (
       select k.key_id, clock_timestamp() - u.ago_ms * interval '1 millisecond' as used_at
       from accounts.api_keys k join unnest($1::text[], $2::float8[]) as u (key_id, ago_ms) using (key_id)
       order by k.key_id for no key update of k
     )
     update accounts.api_keys k set last_used_at = least(greatest(k.last_used_at, used.used_at), k.revoked_at)
     from used where k.key_id = used.key_id`,
    [uses.map(({ keyId }) => keyId), uses.map(({ agoMs }) => agoMs)],
  );
}
