import { hasMoreValuesThan } from '#gateway/body/parse-body.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { sleep } from '#kernel/time/sleep.ts';

/** A smaller body cannot hold so many values that they matter. Nearly all bodies are smaller, and pay nothing. */
export const HEAVY_BYTES_MIN = 65_536;
/** Real calls have a few thousand at most. */
const VALUES_MAX = 20_000;
/** After a body that took 30 ms there is none for 90 ms, so that a quarter of the event loop is the most they get. */
const REST = 3;
/** The most bodies that wait in one process. */
const WAITING_MAX = 16;
/** The most of them that are of one account, so that it cannot keep others out. */
const OF_ONE_MAX = 4;

/**
 * Takes bodies of very many small values one after the other. A megabyte of names or numbers has up to half a million, and parsing
 * it takes the event loop up to 100 ms, where a megabyte of text takes one. Such a body is as valid as any other, so it waits for
 * its turn, and what it costs is bounded by the pause behind it (CC-07).
 */
export interface HeavyBodies {
  /** Runs `work` with a body at once if it is an ordinary one, and otherwise at its turn. */
  readonly run: <T>(
    caller: string,
    body: Buffer,
    work: () => T,
  ) => T | Promise<Awaited<T> | Refusal<'TOO_MANY_REQUESTS'>>;
}

export function createHeavyBodies(pause = sleep): HeavyBodies {
  const waiting = new Map<string, number>();
  let all = 0;
  let last: Promise<void> = Promise.resolve();

  function count(caller: string, more: 1 | -1): void {
    all += more;
    const own = (waiting.get(caller) ?? 0) + more;
    if (own === 0) waiting.delete(caller);
    else waiting.set(caller, own);
  }

  async function atTurn<T>(caller: string, work: () => T): Promise<Awaited<T> | Refusal<'TOO_MANY_REQUESTS'>> {
    if (all >= WAITING_MAX || (waiting.get(caller) ?? 0) >= OF_ONE_MAX)
      return refuse('TOO_MANY_REQUESTS', TOO_MANY, { retryAfterSeconds: 1 });
    const before = last;
    const { promise, resolve } = Promise.withResolvers<void>();
    last = promise;
    count(caller, 1);
    await before;
    count(caller, -1);
    const began = steadyClock.nowMs();
    let done: T;
    try {
      done = work(); // Only what it does before its first wait takes the loop.
    } finally {
      void pause((steadyClock.nowMs() - began) * REST, { ref: false }).then(resolve);
    }
    return await done;
  }

  return {
    run: (caller, body, work) =>
      body.length < HEAVY_BYTES_MIN || !hasMoreValuesThan(body, VALUES_MAX) ? work() : atTurn(caller, work),
  };
}

/** The bodies of all apps in this process. */
export const heavyBodies = createHeavyBodies();

const TOO_MANY =
  'Too many bodies with more than 20,000 values are being read at the same time. Send this one again in a second.';
