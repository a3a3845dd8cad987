import type { Queryable } from '#db/pool/pool.ts';
import type { CallId } from '#kernel/values/ids.ts';

export interface AnswerRow {
  readonly callId: CallId;
  readonly digest: Buffer;
  readonly body: Buffer;
  readonly sealed: Buffer;
  /** The sandbox charge, when it is known. A live charge is read from the receipt. */
  readonly charged: bigint | undefined;
  readonly lifetimeMs: number;
}

/** Stores an answer. The first one of a call stays. */
export async function insertAnswer(db: Queryable, answer: AnswerRow): Promise<void> {
  const { callId, digest, body, sealed, charged, lifetimeMs } = answer;
  await db.query({
    name: 'idempotency_insert',
    text: `insert into idempotency.kept_answers (call_id, key_digest, body_digest, sealed, charged_micros, expires_at)
      values ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond')
      on conflict (call_id) do nothing`,
    values: [callId, digest, body, sealed, charged, lifetimeMs],
  });
}

interface KeptRow {
  readonly sealed: Buffer;
  readonly charged: bigint;
}

/** The kept answer of a call that was charged, see `find.sql`. */
export async function selectAnswer(db: Queryable, callId: CallId): Promise<KeptRow | undefined> {
  const { rows } = await db.query<KeptRow>({
    name: 'idempotency_select',
    text: `select sealed, charged from idempotency.find($1)`,
    values: [callId],
  });
  return rows[0];
}

/** Deletes the answer of one call. Does nothing when there is none. */
export async function deleteAnswer(db: Queryable, callId: CallId): Promise<void> {
  await db.query(`delete from idempotency.kept_answers where call_id = $1`, [callId]);
}

/** Deletes at most `most` expired answers and returns how many it deleted. */
export async function deleteExpired(db: Queryable, most: number): Promise<number> {
  const { rowCount } = await db.query(
    `delete from idempotency.kept_answers where call_id in (
       select call_id from idempotency.kept_answers where expires_at <= clock_timestamp()
       order by expires_at limit $1)`,
    [most],
  );
  return rowCount ?? 0;
}
