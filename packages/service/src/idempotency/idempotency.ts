import { type IdempotencyDigests, createIdempotencyDigests } from '#idempotency/idempotency-key.ts';
import { createKeptAnswers, type KeptAnswers } from '#idempotency/kept-answers.ts';
import type { Pool } from '#db/pool.ts';
import type { Log } from '#kernel/log.ts';

/** What retries need, made once at start (CC-14). */
export interface Idempotency {
  readonly digests: IdempotencyDigests;
  readonly answers: KeptAnswers;
  /** Callers of this process who wait for an earlier attempt. */
  readonly waiting: { callers: number };
}

export function createIdempotency(options: {
  readonly pool: Pool;
  readonly secret: Buffer;
  readonly log: Log;
}): Idempotency {
  const digests = createIdempotencyDigests(options.secret);
  return { digests, answers: createKeptAnswers(options), waiting: { callers: 0 } };
}
