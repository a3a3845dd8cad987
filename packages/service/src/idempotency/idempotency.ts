import { type IdempotencyDigests, createIdempotencyDigests } from '#idempotency/idempotency-key.ts';
import { createKeptAnswers, type KeptAnswers } from '#idempotency/kept-answers.ts';
import type { Pool } from '#db/pool/pool.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';

/** What the handling of retries needs, created once at start (CC-14). */
export interface Idempotency {
  readonly digests: IdempotencyDigests;
  readonly answers: KeptAnswers;
  /** How many callers of this process wait for an earlier call. */
  readonly waiting: { callers: number };
}

export function createIdempotency(options: {
  readonly pool: Pool;
  readonly keys: Keys;
  readonly log: Log;
}): Idempotency {
  const digests = createIdempotencyDigests(options.keys.kept('attempts'));
  return {
    digests,
    answers: createKeptAnswers({ ...options, key: options.keys.kept('kept-answers') }),
    waiting: { callers: 0 },
  };
}
