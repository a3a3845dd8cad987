import type { Queryable } from '#db/pool.ts';
import { selectGenerations, type Topic } from '#db/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/** AU-09 allows a second. A quarter of it leaves room for a slow read. */
const POLL_MS = 250;

/**
 * Notices the changes that other processes make to accounts and the catalogue. It polls counters, because a notification
 * would be lost with its connection.
 */
interface Generations {
  /** Calls `refresh` once at the start and after changes of the topic, never concurrently. Tries again if it fails. */
  readonly subscribe: (topic: Topic, refresh: () => Promise<void>) => void;
  readonly stop: () => Promise<void>;
}

export function startGenerations(db: Queryable, log: Log): Generations {
  const subscribers = new Map<Topic, { seen: bigint; readonly refresh: () => Promise<void> }>();

  async function poll(): Promise<void> {
    try {
      const current = await selectGenerations(db);
      for (const [topic, subscriber] of subscribers) {
        const generation = current.get(topic) ?? 0n;
        if (generation === subscriber.seen) continue;
        await subscriber.refresh();
        // Only after the refresh, so that a failed one runs again at the next poll.
        subscriber.seen = generation;
      }
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'changes by other processes could not be read');
    }
  }

  let polling: Promise<void> | undefined;
  const timer = setInterval(() => {
    polling ??= poll().finally(() => {
      polling = undefined;
    });
  }, POLL_MS);
  return {
    subscribe: (topic, refresh) => {
      // No counter is -1, so the first poll refreshes.
      subscribers.set(topic, { seen: -1n, refresh });
    },
    stop: async () => {
      clearInterval(timer);
      await polling;
    },
  };
}
