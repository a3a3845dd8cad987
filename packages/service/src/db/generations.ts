import type { Queryable } from '#db/pool.ts';
import { selectGenerations, type Topic } from '#db/queries.ts';
import { describeFault, type Log } from '#kernel/log.ts';

/** AU-09 allows a second; a quarter leaves room for a slow read. */
const POLL_MS = 250;

/** Learns of the changes that other processes make to accounts and the catalogue. */
interface Generations {
  /** Calls `refresh` after each change of the topic, one at a time, and again when it failed. */
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
        subscriber.seen = generation;
      }
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'changes of other processes could not be read');
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
      subscribers.set(topic, { seen: -1n, refresh });
    },
    stop: async () => {
      clearInterval(timer);
      await polling;
    },
  };
}
