import { DROPPED_IN_ROW_MAX, type EventType, RETRY_DELAYS_SECONDS } from '@purser/contract/webhooks.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';

/** Drops up to `most` events without a receiver, of one app or of all. Returns how many it dropped. */
export async function dropStale(db: Queryable, appId: AppId | undefined, most: number): Promise<number> {
  const { rows } = await db.query<{ dropped: number }>('select webhooks.drop_stale($1, $2) as dropped', [
    appId ?? null,
    most,
  ]);
  return rows[0]?.dropped ?? 0;
}

/** Whether attempts with an older generation are in progress; with `undefined`, any attempts at all. */
export async function isSending(db: Queryable, appId: AppId, generation: bigint | undefined): Promise<boolean> {
  const { rows } = await db.query<{ sending: boolean }>('select webhooks.is_sending($1, $2) as sending', [
    appId,
    generation ?? null,
  ]);
  return rows[0]?.sending ?? false;
}

export interface ClaimedRow {
  readonly event_id: string;
  readonly app_id: AppId;
  readonly type: EventType;
  readonly body: Buffer;
  readonly attempt: number;
  readonly endpoint_url: string;
  readonly sealed_secret: Buffer;
}

/** Claims due events, see `claim.sql`. */
export async function claimEvents(
  db: Queryable,
  claim: { readonly id: string; readonly most: number; readonly reserved: number; readonly leaseMs: number },
): Promise<readonly ClaimedRow[]> {
  const { rows } = await db.query<ClaimedRow>(
    `select event_id, app_id, type, body, attempt, endpoint_url, sealed_secret from webhooks.claim($1, $2, $3, $4)`,
    [claim.id, claim.most, claim.reserved, claim.leaseMs],
  );
  return rows;
}

/** The events among these whose endpoint or secret has been replaced or removed since the claim. */
export async function selectOutdated(db: Queryable, eventIds: readonly string[]): Promise<readonly string[]> {
  const { rows } = await db.query<{ event_id: string }>('select * from webhooks.outdated($1) as event_id', [eventIds]);
  return rows.map((row) => row.event_id);
}

interface EndedAttempt {
  readonly eventId: string;
  readonly claim: string;
  /** The outcome of the attempt. It is undefined for an attempt that was given up, which uses up no attempt number. */
  readonly outcome:
    | {
        readonly startedAtMs: number;
        readonly durationMs: number;
        readonly status: number | undefined;
        readonly error: string | undefined;
      }
    | undefined;
  /** Why it was given up, if it must not be made again at once. */
  readonly reason?: string;
}

/** `first_drop` is the first event dropped since one was delivered, of which the owner is to be told now. */
type Recorded = 'not_ours' | 'given_up' | 'delivered' | 'failed' | 'dropped' | 'first_drop' | 'disabled';

/** Records the end of an attempt, once, see `record.sql`. `not_ours`: the lease had run out and another claim has it. */
export async function recordAttempt(
  db: Queryable,
  { eventId, claim, outcome, reason }: EndedAttempt,
): Promise<Recorded> {
  const { rows } = await db.query<{ recorded: Recorded }>(
    `select webhooks.record($1, $2, $3, to_timestamp($4::double precision / 1000), $5, $6, $7, $8, $9) as recorded`,
    [
      eventId,
      claim,
      outcome !== undefined,
      outcome?.startedAtMs ?? null,
      outcome?.status ?? null,
      outcome?.durationMs ?? null,
      outcome?.error ?? reason ?? null,
      RETRY_DELAYS_SECONDS,
      DROPPED_IN_ROW_MAX,
    ],
  );
  return rows[0]?.recorded ?? 'not_ours';
}

/** Deletes up to `most` events that ended 30 days ago. Returns how many it deleted. */
export async function sweepEvents(db: Queryable, keptDays: number, most: number): Promise<number> {
  const { rows } = await db.query<{ removed: number }>('select webhooks.sweep($1, $2) as removed', [most, keptDays]);
  return rows[0]?.removed ?? 0;
}

/** Deliveries that are due or will be tried again, at most so many, and for how many seconds the oldest has been due. */
export async function selectWaitingDeliveries(
  db: Queryable,
  most: number,
): Promise<{ readonly waiting: number; readonly oldest_seconds: number }> {
  const { rows } = await db.query<{ waiting: number; oldest_seconds: number }>(
    `select count(*)::int as waiting,
       greatest(0, coalesce(extract(epoch from clock_timestamp() - min(due_at)), 0))::float8 as oldest_seconds
     from (select due_at from webhooks.events where state = 'pending' order by due_at limit $1) as due`,
    [most],
  );
  return rows[0] ?? { waiting: 0, oldest_seconds: 0 };
}
