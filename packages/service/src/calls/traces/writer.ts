import type { Queryable } from '#db/pool/pool.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { declareWaitingTraces, tracesDropped } from '#calls/traces/metrics.ts';
import { deleteOldTraces, insertTraces, type NewTrace } from '#calls/traces/queries.ts';

/** Keeps what became of each call in the database, so that it can be found later (CC-19). */
export interface TraceWriter {
  /**
   * Whether an answered live call gets a trace. Its receipt is kept for good; a trace lets its owner see it among the latest
   * calls. Of a busy app, only some have one: 20 a second, and 200 of all apps together.
   */
  readonly hasRoomForAnswered: (appId: AppId) => boolean;
  /** Notes a call in memory. Runs for every call, so it does nothing else. */
  readonly note: (trace: NewTrace) => void;
  readonly stop: () => Promise<void>;
}

interface TraceWriterOptions {
  readonly db: Queryable;
  readonly log: Log;
  /** How long a trace is kept. At 0, none is written. */
  readonly keptMs: number;
}

const FLUSH_MS = 250;
const EXPIRY_MS = 60_000;
/** Rows of one statement. */
const ROWS_MAX = 1_000;
/** The most calls that wait, which take about 5 MB. Calls that end while so many wait are counted and not written. */
const WAITING_MAX = 10_000;
/**
 * The most answered live calls of one app that get a trace in each `FLUSH_MS`. The next constant is the most of all
 * apps.
 */
const ANSWERED_OF_APP_MAX = 5;
const ANSWERED_MAX = 50;
/**
 * These are few enough rows that a statement takes a moment. With the batches below, 2,000 calls a second leave as fast
 * as they came.
 */
const DELETED_MAX = 5_000;
const DELETES_PER_PASS = 24;

/**
 * Writes traces four times a second, a thousand in a statement, on connections that no call waits for. A process that dies
 * loses those of its last quarter of a second; a charged call can still be found by its receipt.
 */
export function startTraceWriter({ db, log, keptMs }: TraceWriterOptions): TraceWriter {
  let waiting: NewTrace[] = [];
  const answered = new Map<AppId, number>();
  declareWaitingTraces(() => waiting.length);
  let answeredOfAll = 0;

  async function flush(): Promise<void> {
    while (waiting.length > 0) {
      const part = waiting.slice(0, ROWS_MAX);
      await insertTraces(db, part, steadyClock.nowMs());
      waiting = waiting.slice(part.length); // Only now: those that the database did not take stay for the next pass.
    }
  }

  async function pass(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'the traces of calls could not be written or deleted');
    }
  }

  async function expire(): Promise<void> {
    for (let count = 0; count < DELETES_PER_PASS; count += 1) {
      if ((await deleteOldTraces(db, keptMs, DELETED_MAX)) < DELETED_MAX) return;
    }
  }

  const flushes = repeat(() => {
    answered.clear();
    answeredOfAll = 0;
    return pass(flush);
  }, FLUSH_MS);
  const expiries = repeat(() => pass(expire), EXPIRY_MS);
  return {
    hasRoomForAnswered: (appId) => {
      const ofApp = answered.get(appId) ?? 0;
      if (ofApp >= ANSWERED_OF_APP_MAX || answeredOfAll >= ANSWERED_MAX) return false;
      answered.set(appId, ofApp + 1);
      answeredOfAll += 1;
      return true;
    },
    note: (trace) => {
      if (keptMs === 0) return;
      if (waiting.length >= WAITING_MAX) tracesDropped.add();
      else waiting.push(trace);
    },
    stop: async () => {
      await Promise.all([flushes.stop(), expiries.stop()]);
      await pass(flush);
    },
  };
}
