import { type Refusal, refuse } from '#kernel/refusal.ts';
import { createTurns } from '#kernel/turns.ts';

/** Looks at a password or makes a hash of one when its turn comes. Refuses, having done nothing, where too many wait. */
export type InTurn = <Result extends string | boolean>(
  work: () => Promise<Result>,
) => Promise<Result | Refusal<'TOO_MANY_REQUESTS'>>;

/** Each takes 19 MiB and one of the four threads that files and name look-ups need too: two leave those two. */
const PASSWORDS_AT_ONCE_MAX = 2;
/** About a second of work: whoever comes later is told to come again. */
const PASSWORDS_WAITING_MAX = 32;

export function createPasswordTurns(): InTurn {
  const turns = createTurns({ runningMax: PASSWORDS_AT_ONCE_MAX, waitingMax: PASSWORDS_WAITING_MAX });
  return async (work) =>
    (await turns.take(work)) ??
    refuse('TOO_MANY_REQUESTS', 'Too many are signing in just now. Try again.', { retryAfterSeconds: 1 });
}
