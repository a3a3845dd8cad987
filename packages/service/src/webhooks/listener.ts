import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EventType } from '@purser/contract/webhooks.ts';
import type { Pool } from '#db/pool.ts';
import { type AppId, type ListenerId, newListenerId } from '#kernel/ids.ts';
import type { Micros } from '#kernel/micros.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import { deleteCopies, deleteListener, handOverCopies, insertListener, renewListener } from '#webhooks/queries.ts';

interface Wanted {
  readonly appId: AppId;
  readonly events: readonly EventType[];
  readonly threshold: Micros | undefined;
}

interface Look {
  /** The `next` of the look before: what that was handed is removed. */
  readonly after: string | undefined;
  readonly waitMs: number;
  /** Whoever looks has left. */
  readonly signal: AbortSignal;
}

interface Copies {
  readonly events: readonly { readonly eventId: string; readonly type: EventType; readonly body: string }[];
  readonly next: string | undefined;
}

/**
 * Developers' machines that fetch copies of their app's events. They count for nothing: no attempt, no failure, no trace in
 * what the owner sees of deliveries.
 */
export interface Listeners {
  /** Copies are kept from now on, until it has not looked for a minute. */
  readonly listen: (
    wanted: Wanted,
  ) => Promise<{ readonly listenerId: ListenerId; readonly untilMs: number } | Refusal<'CONFLICT'>>;
  /** The oldest copies that were not confirmed, once there are some. Undefined where it listens no more. */
  readonly look: (appId: AppId, listenerId: ListenerId, look: Look) => Promise<Copies | undefined>;
  /** False where there is none. */
  readonly remove: (appId: AppId, listenerId: ListenerId) => Promise<boolean>;
  /** Answers every look at once from now on: the process is about to stop. */
  readonly endLooks: () => void;
}

/** Longer than a look and what may follow it: its copies forwarded one by one, 5 s each. */
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
        // What is handed to somebody who has left was not confirmed, and is handed over again.
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
