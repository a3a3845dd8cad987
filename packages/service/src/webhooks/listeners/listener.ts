import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@purser/contract/webhooks.ts';
import type { Pool } from '#db/pool/pool.ts';
import { type AppId, type ListenerId, newListenerId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import {
  deleteCopies,
  deleteListener,
  handOverCopies,
  insertListener,
  renewListener,
} from '#webhooks/listeners/queries.ts';

interface Wanted {
  readonly appId: AppId;
  readonly events: readonly EventType[];
  readonly threshold: Micros | undefined;
}

/** One request for copies. */
interface Look {
  /** The `next` of the previous look. It confirms that those copies have arrived, and they are deleted. */
  readonly after: string | undefined;
  readonly waitMs: number;
  /** Fires when the listener has left. */
  readonly signal: AbortSignal;
}

interface Copies {
  readonly events: readonly { readonly eventId: string; readonly type: EventType; readonly body: string }[];
  readonly next: string | undefined;
}

/**
 * Developers' machines that fetch copies of their app's events (`purser listen`). They do not affect deliveries: a copy is
 * not an attempt, cannot fail, and does not appear in the history that the owner sees.
 */
export interface Listeners {
  /** Keeps copies for a new listener from now on. It ends 75 s after its last look began. Refused beyond five an app. */
  readonly listen: (
    wanted: Wanted,
  ) => Promise<{ readonly listenerId: ListenerId; readonly untilMs: number } | Refusal<'CONFLICT'>>;
  /** The oldest unconfirmed copies, as soon as there are any. Undefined if the listener has ended. */
  readonly look: (appId: AppId, listenerId: ListenerId, look: Look) => Promise<Copies | undefined>;
  /** Ends a listener. Returns false if there is no such listener. */
  readonly remove: (appId: AppId, listenerId: ListenerId) => Promise<boolean>;
  /** Answers all looks at once from now on, because the process is about to stop. */
  readonly endLooks: () => void;
}

/** The lease is longer than a look (20 s) plus the time to forward its ten copies one by one, at 5 s each. */
const LEASE_MS = 75_000;
const COPIES_MAX = 10;
const STEP_MS = 250;

export function createListeners(pool: Pool): Listeners {
  const ending = new AbortController();
  return {
    listen: async (wanted) => {
      const listenerId = newListenerId();
      const until = await insertListener(pool, { ...wanted, listenerId, leaseMs: LEASE_MS });
      if (until === undefined) return refuse('CONFLICT', 'This app has five listeners already: end one of them.');
      return { listenerId, untilMs: until.getTime() };
    },
    look: async (appId, listenerId, { after, waitMs, signal: left }) => {
      const signal = AbortSignal.any([left, ending.signal]);
      const listener = await renewListener(pool, appId, listenerId, LEASE_MS);
      if (listener === undefined) return undefined;
      if (after !== undefined) await deleteCopies(pool, listener.subscription_id, after);
      const next = randomUUID();
      for (let waitedMs = 0; ; waitedMs += STEP_MS) {
        // No copies for a listener that has left. If it leaves later, they stay unconfirmed and are handed over again.
        const rows = left.aborted ? [] : await handOverCopies(pool, listener.subscription_id, next, COPIES_MAX);
        if (rows.length > 0) return { events: rows.map(copyOf), next };
        if (waitedMs >= waitMs || signal.aborted) return { events: [], next: undefined };
        await sleep(STEP_MS, undefined, { signal }).catch(() => {});
      }
    },
    remove: (appId, listenerId) => deleteListener(pool, appId, listenerId),
    endLooks: () => ending.abort(),
  };
}

function copyOf(row: Awaited<ReturnType<typeof handOverCopies>>[number]): Copies['events'][number] {
  return { eventId: row.event_id, type: row.type, body: row.body.toString('utf8') };
}
