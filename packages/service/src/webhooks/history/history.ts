import type { DeliveryState, EventType } from '@purser/contract/webhooks.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { selectDeliveries, selectDelivery, selectHealth } from '#webhooks/history/queries.ts';

/** One event, with the attempts to deliver it so far. */
export interface EventHistory {
  readonly eventId: string;
  readonly type: EventType;
  readonly createdAtMs: number;
  readonly state: DeliveryState;
  /** The body as it is sent, byte for byte. It is undefined for events that ended before bodies were kept. */
  readonly body: string | undefined;
  /** The time of the next attempt. It is undefined after the end. */
  readonly nextAttemptAtMs: number | undefined;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly at: string;
    readonly status: number | null;
    readonly durationMs: number;
    readonly error: string | null;
  }[];
}

/** How an app's events arrive. */
interface WebhookHealth {
  /** The status of the subscription. It is undefined without a subscription. */
  readonly status: 'active' | 'disabled' | undefined;
  /** Events of the last 24 hours that arrived. */
  readonly delivered: number;
  /** Those that failed at least once and are tried again. */
  readonly failing: number;
  /** Those that are never sent again. */
  readonly dropped: number;
  /** There were more events than are counted here: the counts are of the newest 10,000. */
  readonly isPartial: boolean;
  /** The latest attempt that failed since the subscription was last put. */
  readonly lastFailure:
    | { readonly atMs: number; readonly status: number | undefined; readonly error: string | undefined }
    | undefined;
}

/** What an owner may read about deliveries (WH-14). Events of an app are kept for 30 days after they end. */
export interface DeliveryHistory {
  /** A page of events, the newest first. Pass `next` as `before` to get the page after it. */
  readonly history: (
    appId: AppId,
    page: {
      readonly before: string | undefined;
      readonly most: number;
      /** Gives only events in this state. If it is undefined, events in all states are given. */
      readonly state?: DeliveryState | undefined;
    },
  ) => Promise<
    { readonly events: readonly EventHistory[]; readonly next: string | undefined } | Refusal<'BAD_REQUEST'>
  >;
  readonly event: (appId: AppId, eventId: string) => Promise<EventHistory | undefined>;
  readonly health: (appId: AppId) => Promise<WebhookHealth>;
}

const CURSOR = /^(\d{1,17})\.(evt_[0-9a-f]{32})$/;
const EVENT_ID = /^evt_[0-9a-f]{32}$/;
/** Bounds what one look at the home page of a busy app reads. */
const COUNTED_MAX = 10_000;

export function createDeliveryHistory(pool: Pool): DeliveryHistory {
  return {
    history: async (appId, { before, most, state }) => {
      const [, beforeMicros, beforeId] = CURSOR.exec(before ?? '') ?? [];
      if (before !== undefined && beforeId === undefined) {
        return refuse('BAD_REQUEST', '`before` must be the `next` of an earlier page.', { param: 'before' });
      }
      const rows = await selectDeliveries(pool, appId, { state, beforeMicros, beforeId, most });
      const last = rows.length === most ? rows.at(-1) : undefined;
      return {
        events: rows.map(historyOf),
        next: last === undefined ? undefined : `${last.created_micros}.${last.event_id}`,
      };
    },
    event: async (appId, eventId) => {
      const row = EVENT_ID.test(eventId) ? await selectDelivery(pool, appId, eventId) : undefined;
      return row && historyOf(row);
    },
    health: async (appId) => {
      const row = await selectHealth(pool, appId, COUNTED_MAX);
      const { delivered, failing, dropped, last_failed_at: failedAt } = row;
      return {
        status: row.status ?? undefined,
        delivered,
        failing,
        dropped,
        isPartial: row.counted === COUNTED_MAX,
        lastFailure:
          failedAt === null
            ? undefined
            : {
                atMs: failedAt.getTime(),
                status: row.last_failed_status ?? undefined,
                error: row.last_failed_error ?? undefined,
              },
      };
    },
  };
}

type DeliveryRow = NonNullable<Awaited<ReturnType<typeof selectDelivery>>>;

function historyOf({ attempts, ...row }: DeliveryRow): EventHistory {
  return {
    eventId: row.event_id,
    type: row.type,
    createdAtMs: row.created_at.getTime(),
    state: row.state === 'sending' ? 'pending' : row.state, // Whether an attempt is in progress is no state of ours.
    body: row.body ?? undefined,
    nextAttemptAtMs: row.due_at?.getTime(),
    attempts: attempts.map(({ duration_ms: durationMs, ...rest }) => ({ ...rest, durationMs })),
  };
}
