import { type KeySettings, NO_SETTINGS } from '#developers/keys/settings.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { dateOf } from '#kernel/time/clock.ts';
import type { AppId, EndUserId, KeyId, Mode } from '#kernel/values/ids.ts';

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
  /** The first key of its line. Null if it is the first itself. */
  readonly counts_as: KeyId | null;
  readonly expires_at: Date | null;
  readonly models: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly rate_per_minute: number | null;
  readonly budget_micros: bigint | null;
}

/** Keys that could reset test users and nothing else count as revoked since they were made: test tokens do that now (SB-07). */
const REVOKED_AT = `case when may_reset then coalesce(revoked_at, created_at) else revoked_at end as revoked_at`;

const KEY_COLUMNS = `key_id, app_id, digest, mode, bound_user, join_seconds, ${REVOKED_AT}, generation, counts_as, expires_at,
  models, addresses, rate_per_minute, budget_micros`;

/** Finds a key by the digest of its text, revoked ones included, so that a revocation can be remembered. */
export async function selectKeyByDigest(db: Queryable, digest: Buffer): Promise<KeyRow | undefined> {
  const { rows } = await db.query<KeyRow>(`select ${KEY_COLUMNS} from accounts.api_keys where digest = $1`, [digest]);
  return rows[0];
}

/** Reads the keys that were added, changed or revoked after a generation, oldest change first. */
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
  readonly settings?: KeySettings | undefined;
  /** The key that it succeeds, and the first key of their line. */
  readonly succeeds?: { readonly keyId: KeyId; readonly line: KeyId } | undefined;
}

/** Adds a key. Does nothing when its id exists. */
export async function insertKey(tx: Queryable, key: NewKey, generation: bigint): Promise<void> {
  await tx.query(
    `insert into accounts.api_keys (key_id, app_id, digest, mode, hint, generation, bound_user, join_seconds,
       rolled_from, counts_as, name, expires_at, models, addresses, rate_per_minute, budget_micros)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
     on conflict (key_id) do nothing`,
    [
      key.keyId,
      key.appId,
      key.digest,
      key.mode,
      key.hint,
      generation,
      key.boundUser ?? null,
      key.joinSeconds ?? null,
      key.succeeds?.keyId ?? null,
      key.succeeds?.line ?? null,
      ...settingValues(key.settings ?? NO_SETTINGS),
    ],
  );
}

function settingValues(settings: KeySettings): readonly unknown[] {
  const { name, expiresAtMs, models, addresses, perMinute, monthlyBudget } = settings;
  const expiresAt = expiresAtMs === null ? null : dateOf(expiresAtMs);
  return [name, expiresAt, models, addresses, perMinute, monthlyBudget];
}

/** Replaces all settings of a key. */
export async function updateKey(
  tx: Queryable,
  key: { readonly appId: AppId; readonly keyId: KeyId; readonly settings: KeySettings },
  generation: bigint,
): Promise<void> {
  await tx.query(
    `update accounts.api_keys set generation = $3, name = $4, expires_at = $5, models = $6, addresses = $7,
       rate_per_minute = $8, budget_micros = $9
     where app_id = $1 and key_id = $2`,
    [key.appId, key.keyId, generation, ...settingValues(key.settings)],
  );
}

/** Lets a key expire after these seconds, or when it would have anyway if that is earlier, and returns that moment. */
export async function expireKey(
  tx: Queryable,
  key: { readonly keyId: KeyId; readonly inSeconds: number },
  generation: bigint,
): Promise<Date> {
  const { rows } = await tx.query<{ expires_at: Date }>(
    `update accounts.api_keys set generation = $2,
       expires_at = least(expires_at, clock_timestamp() + $3 * interval '1 second')
     where key_id = $1 returning expires_at`,
    [key.keyId, generation, key.inSeconds],
  );
  const row = rows[0];
  assert(row !== undefined, 'the key was read in this transaction');
  return row.expires_at;
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
  readonly name: string | null;
  readonly expires_at: Date | null;
  readonly models: readonly string[] | null;
  readonly addresses: readonly string[] | null;
  readonly rate_per_minute: number | null;
  readonly budget_micros: bigint | null;
  readonly rolled_from: KeyId | null;
  readonly counts_as: KeyId | null;
  /** The key that succeeds it. */
  readonly rolled_to: KeyId | null;
}

/** What `KeyListRow` has, of a row that is called `k`. */
export const LIST_COLUMNS = `key_id, mode, hint, bound_user, join_seconds, created_at, last_used_at, ${REVOKED_AT}, name, expires_at, models,
  addresses, rate_per_minute, budget_micros, rolled_from, counts_as,
  (select s.key_id from accounts.api_keys s where s.rolled_from = k.key_id) as rolled_to`;

/** Lists an app's keys in the order they were made: all keys in force, and the `endedMax` that ended last. */
export async function selectKeysOfApp(db: Queryable, appId: AppId, endedMax: number): Promise<readonly KeyListRow[]> {
  const { rows } = await db.query<KeyListRow>(
    `select ${LIST_COLUMNS}
     from (
       select e.*, row_number() over (partition by has_ended order by ended_at desc) as place
       from (
         select k.*, least(revoked_at, expires_at) as ended_at,
           coalesce(least(revoked_at, expires_at) <= clock_timestamp(), false) as has_ended
         from accounts.api_keys k where app_id = $1
       ) e
     ) k
     where not has_ended or place <= $2
     order by created_at, key_id`,
    [appId, endedMax],
  );
  return rows;
}

/** Reads one key of an app. A change of it holds the lock of `bumpGeneration`, so nobody else changes it meanwhile. */
export async function selectKeyOfApp(
  db: Queryable,
  key: { readonly appId: AppId; readonly keyId: KeyId },
): Promise<KeyListRow | undefined> {
  const { rows } = await db.query<KeyListRow>(
    `select ${LIST_COLUMNS} from accounts.api_keys k where app_id = $1 and key_id = $2`,
    [key.appId, key.keyId],
  );
  return rows[0];
}

/** Counts the keys of an app that are neither revoked nor expired. */
export async function countKeysInForce(db: Queryable, appId: AppId): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from accounts.api_keys
     where app_id = $1 and revoked_at is null and not may_reset and coalesce(expires_at > clock_timestamp(), true)`,
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

interface KeyAppRow {
  readonly app_id: AppId;
  readonly mode: 'live' | 'sandbox';
  readonly name: string | null;
  readonly is_revoked: boolean;
}

/** The app of a key. Undefined if there is no such key. */
export async function selectAppOfKey(db: Queryable, keyId: string): Promise<KeyAppRow | undefined> {
  const { rows } = await db.query<KeyAppRow>(
    `select app_id, mode, name, revoked_at is not null as is_revoked from accounts.api_keys where key_id = $1`,
    [keyId],
  );
  return rows[0];
}
