import { FAILPOINTS } from '../../../packages/service/src/kernel/faults/failpoint.ts';
import { isOrdinary } from './cases.ts';
import { createRandom } from './random.ts';

/** The failpoints in the order in which the processes of a history are armed with them, over and over. */
export interface ArmedNames {
  readonly names: readonly string[];
  next: number;
}

const STEP = 5; // About as many as one history uses.

/**
 * Histories with consecutive seeds begin at consecutive places, so that a run covers all of them. A failpoint that is reached
 * only in a special situation is left to the exhaustive part, see exhaustive.ts.
 */
export function failpointsFor(seed: number): ArmedNames {
  const names = createRandom(0, 'failpoints').shuffle(FAILPOINTS.filter(isOrdinary));
  return { names, next: (seed * STEP) % names.length };
}

export function nextFailpoint(armed: ArmedNames): string {
  const name = armed.names[armed.next % armed.names.length] ?? '';
  armed.next += 1;
  return name;
}
