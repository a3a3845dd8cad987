import type { IdempotencyKey } from '#idempotency/idempotency-key.ts';
import { type AnswerRow, deleteAnswer, deleteExpired, insertAnswer, selectAnswer } from '#idempotency/queries.ts';
import { isItemFault, type Pool } from '#db/pool/pool.ts';
import { seal, unseal } from '#kernel/crypto/crypto.ts';
import type { CallId } from '#kernel/values/ids.ts';
import type { JsonObject } from '#kernel/text/json.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { repeat } from '#kernel/time/repeat.ts';
import { sleep } from '#kernel/time/sleep.ts';

/** An answer as it was sent, with the facts from its headers. */
export interface SentAnswer {
  readonly callId: CallId;
  readonly isStream: boolean;
  readonly loweredOutputTokens: number | undefined;
  /** The body, byte for byte. Of a stream: without its end. */
  readonly text: string;
  /** What the end of a stream is made of. An answer is kept before its charge is known, and the end tells the charge. */
  readonly end?: JsonObject & { readonly callId: CallId };
}

interface KeptAnswer extends SentAnswer {
  /** What the call was charged when it ended. */
  readonly charged: Micros;
}

interface KeptHow {
  readonly isWaiting: boolean;
  readonly charged?: Micros;
}

/**
 * Keeps answers for up to five minutes so that a retry can get the same one (CC-14). They are encrypted under a key of this
 * service, because they contain what users and models said, and they are never logged.
 */
export interface KeptAnswers {
  /**
   * Keeps an answer. `charged` is given for a call that has already ended. If the answer cannot be kept, the call continues
   * without, and a log line says so. Waits for a busy database for a second, or ten if nobody `isWaiting` for the answer.
   * Never rejects.
   */
  readonly keep: (idempotencyKey: IdempotencyKey, answer: SentAnswer, how: KeptHow) => Promise<void>;
  /** The kept answer of a call that was charged. Undefined when there is none or its time is over. */
  readonly find: (idempotencyKey: IdempotencyKey, callId: CallId) => Promise<KeptAnswer | undefined>;
  /** Deletes an answer before its time, because no retry can need it any more. Never rejects. */
  readonly forget: (callId: CallId) => Promise<void>;
  /** Stops the periodic deletion of expired answers. */
  readonly stop: () => Promise<void>;
}

/** Answers with more characters than this are not kept. */
export const KEPT_CHARACTERS_MAX = 8 * 1024 * 1024;
/** How long a caller waits at most for its answer to be kept. A database outage may last much longer. */
const KEEP_MS_MAX = 1_000;
/** A caller who has left will retry: if the charge were booked before the answer is kept, they would be charged again. */
const KEEP_FOR_ABSENT_MS_MAX = 10_000;
/** These are enough attempts to get past a lost connection within that time. */
const KEEP_TRIES_MAX = 5;
const KEEP_AGAIN_MS = 100;
const SWEEP_PERIOD_MS = 5_000;
const SWEPT_MAX = 200;

/** Creates the store and starts the deletion of expired answers, every five seconds. */
export function createKeptAnswers(options: {
  readonly pool: Pool;
  readonly key: Buffer;
  readonly log: Log;
}): KeptAnswers {
  const { pool, key, log } = options;

  async function keep(idempotencyKey: IdempotencyKey, answer: SentAnswer, charged: Micros | undefined): Promise<void> {
    const { callId, text } = answer;
    if (text.length > KEPT_CHARACTERS_MAX) {
      log.warn({ callId }, 'an answer is too long to be kept for retries');
      return;
    }
    const { digest, body, keptMs: lifetimeMs } = idempotencyKey;
    const sealed = seal(key, contextOf(idempotencyKey, callId), JSON.stringify(answer));
    try {
      await insertStubbornly(pool, { callId, digest, body, sealed, charged, lifetimeMs });
    } catch (fault) {
      log.warn({ callId, fault: describeFault(fault) }, 'an answer could not be kept for retries');
    }
  }

  async function sweep(): Promise<void> {
    try {
      let removed = SWEPT_MAX;
      while (removed === SWEPT_MAX) removed = await deleteExpired(pool, SWEPT_MAX);
    } catch (fault) {
      log.warn({ fault: describeFault(fault) }, 'expired answers could not be deleted');
    }
  }

  const sweeps = repeat(sweep, SWEEP_PERIOD_MS);

  return {
    keep: (idempotencyKey, answer, { isWaiting, charged }) =>
      withinTime(isWaiting ? KEEP_MS_MAX : KEEP_FOR_ABSENT_MS_MAX, keep(idempotencyKey, answer, charged)),
    find: async (idempotencyKey, callId) => {
      const row = await selectAnswer(pool, callId);
      if (row === undefined) return undefined;
      const answer = JSON.parse(unseal(key, contextOf(idempotencyKey, callId), row.sealed)) as SentAnswer;
      return { ...answer, charged: microsFromRow(row.charged) };
    },
    forget: async (callId) => {
      try {
        await deleteAnswer(pool, callId);
      } catch (fault) {
        log.warn({ callId, fault: describeFault(fault) }, 'a kept answer could not be deleted early');
      }
    },
    stop: sweeps.stop,
  };
}

/**
 * Tries again after a lost connection, and after a statement that a busy database cancelled. Without the kept answer a retry would
 * be charged again, so giving up early costs money.
 */
async function insertStubbornly(pool: Pool, answer: AnswerRow): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await insertAnswer(pool, answer);
      return;
    } catch (fault) {
      if (isItemFault(fault) || tries === KEEP_TRIES_MAX) throw fault;
      await sleep(KEEP_AGAIN_MS);
    }
  }
}

/** Binds a sealed answer to its call. Copied into another row of the database, it cannot be opened. */
function contextOf({ digest, body }: IdempotencyKey, callId: CallId): Buffer {
  return Buffer.concat([digest, body, Buffer.from(callId)]);
}

/** Waits for the work, but no longer than so many milliseconds. The work itself goes on. */
async function withinTime(ms: number, work: Promise<void>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}
