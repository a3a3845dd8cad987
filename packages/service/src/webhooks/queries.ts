import { DROPPED_IN_ROW_MAX, type EventType, RETRY_DELAYS_SECONDS } from '@purser/contract/webhooks.ts';
import type { Queryable } from '#db/pool.ts';
import type { AppId, ListenerId } from '#kernel/ids.ts';

export interface SubscriptionRow {
  readonly app_id: AppId;
  readonly generation: bigint;
  readonly endpoint_url: string;
  readonly events: readonly EventType[];
  readonly low_balance_threshold_micros: bigint | null;
  readonly sealed_secret: Buffer;
  readonly secret_fingerprint: string;
  readonly status: 'active' | 'disabled';
  readonly disabled_reason: 'delivery_failures' | null;
}

const COLUMNS = `app_id, generation, endpoint_url, events, low_balance_threshold_micros, sealed_secret, secret_fingerprint,
  status, disabled_reason`;

export async function selectSubscription(db: Queryable, appId: AppId): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    `select ${COLUMNS} from webhooks.subscriptions where app_id = $1 and listener_id is null`,
    [appId],
  );
  return rows[0];
}

interface Secret {
  readonly sealed: Buffer;
  readonly fingerprint: string;
}

interface Subscribed {
  readonly appId: AppId;
  readonly endpointUrl: string;
  readonly events: readonly EventType[];
  readonly threshold: bigint | undefined;
}

/** Gives a disabled subscription a new id, so that events which waited for the old one are never sent. */
export async function renewDisabled(tx: Queryable, appId: AppId): Promise<void> {
  await tx.query(
    `update webhooks.subscriptions set subscription_id = nextval('webhooks.generations')
     where app_id = $1 and listener_id is null and status = 'disabled'`,
    [appId],
  );
}

/**
 * Creates the subscription, or replaces everything but its secret. The update sets no key column, so its row lock does not
 * block the ledger's transactions that look up the receivers of an event.
 */
export async function upsertSubscription(
  db: Queryable,
  { appId, endpointUrl, events, threshold }: Subscribed,
  secret: Secret,
): Promise<{ readonly row: SubscriptionRow; readonly isNew: boolean }> {
  const { rows } = await db.query<SubscriptionRow & { is_new: boolean }>(
    `insert into webhooks.subscriptions
       (app_id, endpoint_url, events, low_balance_threshold_micros, sealed_secret, secret_fingerprint)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (app_id, listener_id) do update set
       generation = nextval('webhooks.generations'), endpoint_url = $2, events = $3, low_balance_threshold_micros = $4,
       status = 'active', disabled_reason = null, failures_in_row = 0, exhausted_in_row = 0
     returning ${COLUMNS}, xmax = 0 as is_new`,
    [appId, endpointUrl, events, threshold ?? null, secret.sealed, secret.fingerprint],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('The subscription could not be stored.');
  return { row, isNew: row.is_new };
}

export async function updateSecret(db: Queryable, appId: AppId, secret: Secret): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    `update webhooks.subscriptions
     set sealed_secret = $2, secret_fingerprint = $3, generation = nextval('webhooks.generations')
     where app_id = $1 and listener_id is null returning ${COLUMNS}`,
    [appId, secret.sealed, secret.fingerprint],
  );
  return rows[0];
}

/** Returns false if there was no subscription. `dropStale` drops the events that waited for it. */
export async function deleteSubscription(db: Queryable, appId: AppId): Promise<boolean> {
  const { rowCount } = await db.query('delete from webhooks.subscriptions where app_id = $1 and listener_id is null', [
    appId,
  ]);
  return rowCount === 1;
}

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

interface DeliveryRow {
  readonly event_id: string;
  readonly type: EventType;
  readonly created_at: Date;
  readonly created_micros: bigint;
  readonly state: 'pending' | 'sending' | 'delivered' | 'dropped';
  readonly attempts: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly status: number | null;
    readonly duration_ms: number;
    readonly error: string | null;
  }[];
}

/** An app's events, the newest first, before the event with this time (microseconds) and id. */
export async function selectDeliveries(
  db: Queryable,
  appId: AppId,
  page: { readonly beforeMicros: string | undefined; readonly beforeId: string | undefined; readonly most: number },
): Promise<readonly DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select e.event_id, e.type, e.created_at, (extract(epoch from e.created_at) * 1000000)::bigint as created_micros, e.state,
       coalesce((
         select json_agg(json_build_object('attempt', a.attempt, 'at', webhooks.instant(a.at), 'status', a.status,
           'duration_ms', a.duration_ms, 'error', a.error) order by a.attempt)
         from webhooks.attempts a where a.event_id = e.event_id
       ), '[]') as attempts
     from webhooks.events e
     where e.app_id = $1 and ($2::bigint is null
       or (e.created_at, e.event_id) < (timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3))
     order by e.created_at desc, e.event_id desc
     limit $4`,
    [appId, page.beforeMicros ?? null, page.beforeId ?? null, page.most],
  );
  return rows;
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
  /** Undefined for an attempt that was given up. It then uses up no attempt number. */
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

type Recorded = 'not_ours' | 'given_up' | 'delivered' | 'failed' | 'dropped' | 'disabled';

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
export async function sweepEvents(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ removed: number }>('select webhooks.sweep($1) as removed', [most]);
  return rows[0]?.removed ?? 0;
}

/** Creates a listener and returns when its lease ends. Undefined if the app already has as many as it may have. */
export async function insertListener(
  db: Queryable,
  listener: {
    readonly appId: AppId;
    readonly listenerId: ListenerId;
    readonly events: readonly EventType[];
    readonly threshold: bigint | undefined;
    readonly leaseMs: number;
  },
): Promise<Date | undefined> {
  const { appId, listenerId, events, threshold, leaseMs } = listener;
  const { rows } = await db.query<{ until: Date | null }>('select webhooks.listen($1, $2, $3, $4, $5) as until', [
    appId,
    listenerId,
    events,
    threshold ?? null,
    leaseMs,
  ]);
  return rows[0]?.until ?? undefined;
}

/** Extends a listener's lease. Undefined if it has already ended: an ended listener does not come back. */
export async function renewListener(
  db: Queryable,
  appId: AppId,
  listenerId: ListenerId,
  leaseMs: number,
): Promise<{ readonly subscription_id: bigint; readonly until: Date } | undefined> {
  const { rows } = await db.query<{ subscription_id: bigint; until: Date }>(
    `update webhooks.subscriptions set listening_until = clock_timestamp() + $3 * interval '1 ms'
     where app_id = $1 and listener_id = $2 and listening_until > clock_timestamp()
     returning subscription_id, listening_until as until`,
    [appId, listenerId, leaseMs],
  );
  return rows[0];
}

/** Deletes the copies that an earlier look was handed, now that it has confirmed them. */
export async function deleteCopies(db: Queryable, subscriptionId: bigint, handedTo: string): Promise<void> {
  await db.query('delete from webhooks.copies where subscription_id = $1 and handed_to = $2', [
    subscriptionId,
    handedTo,
  ]);
}

/** Hands the oldest copies to a look. They stay in the table until a later look confirms them. */
export async function handOverCopies(
  db: Queryable,
  subscriptionId: bigint,
  handedTo: string,
  most: number,
): Promise<readonly { readonly event_id: string; readonly type: EventType; readonly body: Buffer }[]> {
  const { rows } = await db.query<{ event_id: string; type: EventType; body: Buffer }>(
    `with handed as (
       update webhooks.copies c set handed_to = $2
       where c.subscription_id = $1 and c.copy_id in (
         select o.copy_id from webhooks.copies o where o.subscription_id = $1 order by o.copy_id limit $3
       )
       returning c.copy_id, c.event_id, c.type, c.body
     )
     select event_id, type, body from handed order by copy_id`,
    [subscriptionId, handedTo, most],
  );
  return rows;
}

/** Deletes a listener and, by cascade, its copies. Returns false if there is no such listener. */
export async function deleteListener(db: Queryable, appId: AppId, listenerId: ListenerId): Promise<boolean> {
  const { rowCount } = await db.query('delete from webhooks.subscriptions where app_id = $1 and listener_id = $2', [
    appId,
    listenerId,
  ]);
  return rowCount === 1;
}

/** Deletes listeners whose lease has ended, and copies that nobody fetched. */
export async function dropListeners(db: Queryable): Promise<void> {
  await db.query('select webhooks.drop_listeners()');
}
