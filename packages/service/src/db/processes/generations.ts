import type { Queryable } from '#db/pool/pool.ts';
import { confirmAccounts, selectGenerations, selectUnconfirmed, type Topic } from '#db/processes/queries.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { sleep } from '#kernel/time/sleep.ts';
import type { WhenEverywhere } from '#kernel/work/when-everywhere.ts';

/** AU-09 allows a second. A quarter of it leaves room for a slow read. */
const POLL_MS = 250;
/** How long an act waits for other processes, and how often it looks. */
const CONFIRMED_MS_MAX = 1_000;
const LOOK_MS = 20;

/**
 * Notices the changes that other processes make to accounts and the catalogue. It polls counters, because a notification
 * would be lost with its connection.
 */
export interface Generations {
  /** Calls `refresh` once at the start and after changes of the topic, never concurrently. Tries again if it fails. */
  readonly subscribe: (topic: Topic, refresh: () => Promise<void>) => void;
  /** From now on, this process says which change of keys and apps it has in memory. Polls once before it resolves. */
  readonly confirmAs: (instanceId: () => bigint) => Promise<void>;
  readonly whenEverywhere: WhenEverywhere;
  readonly stop: () => Promise<void>;
}

export function startGenerations(db: Queryable, log: Log): Generations {
  const subscribers = new Map<Topic, { seen: bigint; readonly refresh: () => Promise<void> }>();
  let idOf: (() => bigint) | undefined;
  let confirmed = '';

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
      await confirm();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'changes by other processes could not be read');
    }
  }

  /** Writes only when there is news: a process that was fenced has a new number, and says it again. */
  async function confirm(): Promise<void> {
    const seen = subscribers.get('accounts')?.seen ?? -1n;
    const id = idOf?.();
    if (id === undefined || seen < 0n || confirmed === `${id} ${seen}`) return;
    await confirmAccounts(db, id, seen);
    confirmed = `${id} ${seen}`;
  }

  let polling: Promise<void> | undefined;
  const pollOnce = () =>
    (polling ??= poll().finally(() => {
      polling = undefined;
    }));
  const timer = setInterval(() => void pollOnce(), POLL_MS);
  return {
    subscribe: (topic, refresh) => {
      // No counter is -1, so the first poll refreshes.
      subscribers.set(topic, { seen: -1n, refresh });
    },
    confirmAs: async (instanceId) => {
      idOf = instanceId;
      await polling; // It may have begun before there was a number.
      await pollOnce();
    },
    whenEverywhere: async () => {
      if (idOf === undefined) return [];
      try {
        return await waitForOthers(db, idOf, log);
      } catch (fault) {
        log.warn({ fault: describeFault(fault) }, 'whether other processes know of a change could not be read');
        return ['unknown'];
      }
    },
    stop: async () => {
      clearInterval(timer);
      await polling;
    },
  };
}

async function waitForOthers(db: Queryable, idOf: () => bigint, log: Log): Promise<readonly string[]> {
  const endMs = steadyClock.nowMs() + CONFIRMED_MS_MAX;
  const change = (await selectGenerations(db)).get('accounts') ?? 0n;
  for (;;) {
    const late = (await selectUnconfirmed(db, idOf(), change)).map(String);
    if (late.length === 0) return late;
    if (steadyClock.nowMs() >= endMs) {
      log.warn({ processes: late }, 'a change of keys or apps was not confirmed by all processes in time');
      return late;
    }
    await sleep(LOOK_MS);
  }
}
