import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, KeyId, Mode } from '#kernel/values/ids.ts';

export interface KeySums {
  readonly calls: bigint;
  readonly charged_calls: bigint;
  readonly charged_micros: bigint;
}

export interface KeyRow extends KeySums {
  readonly key_id: KeyId;
}

/** One row for each of `most` keys of an app, the most used first. */
export async function selectKeySums(
  db: Queryable,
  { appId, mode, from, to }: { readonly appId: AppId; readonly mode: Mode; readonly from: Date; readonly to: Date },
  most: number,
): Promise<readonly KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    `select key_id, sum(calls)::bigint as calls, sum(charged_calls)::bigint as charged_calls,
       sum(charged_micros)::bigint as charged_micros
     from stats.keys where app_id = $1 and mode = $2 and hour >= $3 and hour < $4
     group by key_id order by 2 desc, 1 limit $5`,
    [appId, mode, from, to, most],
  );
  return rows;
}

/** One row for each day on which the key was used. Reads the app's part of the index, and of the table only this key's rows. */
export async function selectKeySeries(
  db: Queryable,
  key: { readonly appId: AppId; readonly mode: Mode; readonly keyId: KeyId; readonly from: Date; readonly to: Date },
): Promise<readonly (KeySums & { readonly at: Date })[]> {
  const { rows } = await db.query<KeySums & { at: Date }>(
    `select date_trunc('day', hour, 'UTC') as at, sum(calls)::bigint as calls, sum(charged_calls)::bigint as charged_calls,
       sum(charged_micros)::bigint as charged_micros
     from stats.keys where app_id = $1 and mode = $2 and hour >= $3 and hour < $4 and key_id = $5
     group by 1 order by 1`,
    [key.appId, key.mode, key.from, key.to, key.keyId],
  );
  return rows;
}
