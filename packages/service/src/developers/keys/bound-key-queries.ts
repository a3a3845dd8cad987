import { type KeyListRow, LIST_COLUMNS } from '#developers/keys/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId, KeyId } from '#kernel/values/ids.ts';

/** The one user of keys. */
export interface BoundTo {
  readonly appId: AppId;
  readonly userId: EndUserId;
}

/** Test keys are none of a wallet's owner. */
const IN_FORCE = `app_id = $1 and bound_user = $2 and mode = 'live' and revoked_at is null and coalesce(expires_at > clock_timestamp(), true)`;

/** Lists the live keys of one user that are in force, newest first. */
export async function selectKeysBoundTo(
  db: Queryable,
  { appId, userId }: BoundTo,
  most: number,
): Promise<readonly KeyListRow[]> {
  const { rows } = await db.query<KeyListRow>(
    `select ${LIST_COLUMNS} from accounts.api_keys k where ${IN_FORCE} order by created_at desc, key_id limit $3`,
    [appId, userId, most],
  );
  return rows;
}

/** Revokes one of them. False if the user has no such key in force. */
export async function revokeBoundKey(
  tx: Queryable,
  { appId, userId, keyId }: BoundTo & { readonly keyId: KeyId },
  generation: bigint,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update accounts.api_keys set revoked_at = clock_timestamp(), generation = $4 where ${IN_FORCE} and key_id = $3`,
    [appId, userId, keyId, generation],
  );
  return rowCount === 1;
}
