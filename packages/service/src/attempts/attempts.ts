import { type AttemptDigests, createAttemptDigests } from '#attempts/attempt.ts';
import { createKeptAnswers, type KeptAnswers } from '#attempts/kept-answers.ts';
import type { Pool } from '#db/pool.ts';
import type { Log } from '#kernel/log.ts';

/** What retries need, made once at start (CC-14). */
export interface Attempts {
  readonly digests: AttemptDigests;
  readonly answers: KeptAnswers;
  /** Callers of this process who wait for an earlier attempt. */
  readonly waiting: { callers: number };
}

export function createAttempts(options: { readonly pool: Pool; readonly secret: Buffer; readonly log: Log }): Attempts {
  const digests = createAttemptDigests(options.secret);
  return { digests, answers: createKeptAnswers(options), waiting: { callers: 0 } };
}
