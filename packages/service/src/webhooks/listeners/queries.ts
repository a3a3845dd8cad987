import type { EventType } from '@purser/contract/webhooks.ts';
import type { Queryable } from '#db/pool/pool.ts';
import type { AppId, ListenerId } from '#kernel/values/ids.ts';

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

/** Gives every listener of an app a copy of a test event, of any type. Returns how many there are. */
export async function copyTest(
  tx: Queryable,
  appId: AppId,
  event: { readonly eventId: string; readonly type: EventType; readonly body: Buffer },
): Promise<number> {
  const { rows } = await tx.query<{ listeners: number }>('select webhooks.copy_test($1, $2, $3, $4) as listeners', [
    appId,
    event.eventId,
    event.type,
    event.body,
  ]);
  return rows[0]?.listeners ?? 0;
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
