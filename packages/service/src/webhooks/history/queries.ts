import type { DeliveryState, EventType } from '@purser/contract/webhooks.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';

interface DeliveryRow {
  readonly event_id: string;
  readonly type: EventType;
  readonly created_at: Date;
  readonly created_micros: bigint;
  readonly state: 'pending' | 'sending' | 'delivered' | 'dropped';
  /** The body of the event. It is null for events that ended before bodies were kept. */
  readonly body: string | null;
  /** When the next attempt is due. Null after the end. */
  readonly due_at: Date | null;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly status: number | null;
    readonly duration_ms: number;
    readonly error: string | null;
  }[];
}

const COLUMNS = `e.event_id, e.type, e.created_at, (extract(epoch from e.created_at) * 1000000)::bigint as created_micros,
  e.state, convert_from(e.body, 'UTF8') as body, case when e.ended_at is null then e.due_at end as due_at,
  coalesce((
    select json_agg(json_build_object('attempt', a.attempt, 'at', webhooks.instant(a.at), 'status', a.status,
      'duration_ms', a.duration_ms, 'error', a.error) order by a.attempt)
    from webhooks.attempts a where a.event_id = e.event_id
  ), '[]') as attempts`;

/**
 * What narrows the list down to one state. Dropped events have an index of this order. The few that wait come from the indexes
 * of the worker: in the order of the list, an app without any took 175 ms at 300,000 delivered events.
 */
const STATE_IS: Readonly<Record<DeliveryState, string>> = {
  pending: `and e.event_id = any (array(
    select p.event_id from webhooks.events p where p.app_id = $1 and p.state = 'pending'
    union all select p.event_id from webhooks.events p where p.app_id = $1 and p.state = 'sending'))`,
  delivered: "and e.state = 'delivered'",
  dropped: "and e.state = 'dropped'",
};

/** An app's events, the newest first, before the event with this time (microseconds) and id. */
export async function selectDeliveries(
  db: Queryable,
  appId: AppId,
  page: {
    readonly state: DeliveryState | undefined;
    readonly beforeMicros: string | undefined;
    readonly beforeId: string | undefined;
    readonly most: number;
  },
): Promise<readonly DeliveryRow[]> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${COLUMNS} from webhooks.events e
     where e.app_id = $1 ${page.state === undefined ? '' : STATE_IS[page.state]} and ($2::bigint is null
       or (e.created_at, e.event_id) < (timestamptz 'epoch' + $2::bigint * interval '1 microsecond', $3))
     order by e.created_at desc, e.event_id desc
     limit $4`,
    [appId, page.beforeMicros ?? null, page.beforeId ?? null, page.most],
  );
  return rows;
}

export async function selectDelivery(db: Queryable, appId: AppId, eventId: string): Promise<DeliveryRow | undefined> {
  const { rows } = await db.query<DeliveryRow>(
    `select ${COLUMNS} from webhooks.events e where e.event_id = $2 and e.app_id = $1`,
    [appId, eventId],
  );
  return rows[0];
}

interface HealthRow {
  readonly status: 'active' | 'disabled' | null;
  readonly counted: number;
  readonly delivered: number;
  readonly failing: number;
  readonly dropped: number;
  readonly last_failed_at: Date | null;
  readonly last_failed_status: number | null;
  readonly last_failed_error: string | null;
}

/** The subscription of an app, and its events of the last 24 hours: the newest `most` of them. */
export async function selectHealth(db: Queryable, appId: AppId, most: number): Promise<HealthRow> {
  const { rows } = await db.query<HealthRow>(
    `select s.status, s.last_failed_at, s.last_failed_status, s.last_failed_error, day.*
     from (
       select count(*)::int as counted, (count(*) filter (where e.state = 'delivered'))::int as delivered,
         (count(*) filter (where e.state in ('pending', 'sending') and e.attempt > 1))::int as failing,
         (count(*) filter (where e.state = 'dropped'))::int as dropped
       from (
         select state, attempt from webhooks.events
         where app_id = $1 and created_at > clock_timestamp() - interval '24 hours'
         order by created_at desc, event_id desc limit $2
       ) e
     ) day
     left join webhooks.subscriptions s on s.app_id = $1 and s.listener_id is null`,
    [appId, most],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('An aggregate always has a row.');
  return row;
}
