import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';

interface AttentionRow {
  /** Apps whose endpoint was disabled after failures. */
  readonly disabled: readonly AppId[];
  /** Attempts that were due five minutes ago. Attempts of a failing endpoint wait for their delay and are not late. */
  readonly late: number;
  /** Events of the last 24 hours, the newest `most`. */
  readonly delivered: number;
  readonly dropped: number;
  readonly waiting: number;
}

/** How events of all apps arrive. Reads by indexes, and at most `most` events of each kind. */
export async function selectWebhooksAttention(db: Queryable, most: number): Promise<AttentionRow> {
  const { rows } = await db.query<AttentionRow>(
    `select
       array(select s.app_id from webhooks.subscriptions s
         where s.status = 'disabled' and s.listener_id is null order by s.app_id limit 100) as disabled,
       (select count(*)::int from (
         select from webhooks.events e
         where e.state = 'pending' and e.due_at < clock_timestamp() - interval '5 minutes' limit $1) l) as late,
       (select count(*)::int from (select from webhooks.events e where e.state = 'pending' limit $1) w) as waiting,
       ended.*
     from (
       select (count(*) filter (where state = 'delivered'))::int as delivered,
         (count(*) filter (where state = 'dropped'))::int as dropped
       from (
         select state from webhooks.events where ended_at > clock_timestamp() - interval '24 hours'
         order by ended_at desc limit $1
       ) e
     ) ended`,
    [most],
  );
  return rows[0] ?? { disabled: [], late: 0, delivered: 0, dropped: 0, waiting: 0 };
}

interface EventRow {
  readonly app_id: AppId;
  readonly type: string;
  readonly state: string;
  readonly created_at: Date;
  /** The user whom the event is about. It is null for events that ended before bodies were kept. */
  readonly user_id: EndUserId | null;
}

/** An event of any app, for operators. */
export async function selectAnyEvent(db: Queryable, eventId: string): Promise<EventRow | undefined> {
  const { rows } = await db.query<EventRow>(
    `select app_id, type, state, created_at, convert_from(body, 'UTF8')::json -> 'data' ->> 'userId' as user_id
     from webhooks.events where event_id = $1`,
    [eventId],
  );
  return rows[0];
}
