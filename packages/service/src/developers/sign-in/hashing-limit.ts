import { createConcurrencyLimit } from '#kernel/work/concurrency-limit.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/** Runs argon2 work (hashing or checking a password) when a slot is free. Refuses, having run nothing, when too much waits. */
export type LimitHashing = <Result extends string | boolean>(
  work: () => Promise<Result>,
) => Promise<Result | Refusal<'TOO_MANY_REQUESTS'>>;

/**
 * Each run takes 19 MiB and one of the four threads of Node's pool, which file access and name lookups need too. Two runs
 * leave them the other two threads.
 */
const HASHES_RUNNING_MAX = 2;
/**
 * So many hashes are about a second of work. Callers beyond that are told to come back, because they would wait too
 * long.
 */
const HASHES_WAITING_MAX = 32;

export function createHashingLimit(): LimitHashing {
  const limit = createConcurrencyLimit({ runningMax: HASHES_RUNNING_MAX, waitingMax: HASHES_WAITING_MAX });
  return async (work) =>
    (await limit.run(work)) ??
    refuse('TOO_MANY_REQUESTS', 'Too many people are signing in right now. Try again in a moment.', {
      retryAfterSeconds: 1,
    });
}
