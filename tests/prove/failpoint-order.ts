import { FAILPOINTS } from '../../packages/service/src/kernel/failpoint.ts';
import { createRandom } from './random.ts';

/** The failpoints in the order in which the processes of a history are armed with them, over and over. */
export interface ArmedNames {
  readonly names: readonly string[];
  next: number;
}

/** Reached only when everything has been arranged for it: left to the exhaustive part, see exhaustive.ts. */
const ARRANGED =
  /^(chat\.write|stream\.unsent|hold\.(release|spool|judged|all-settled)|instance\.(fenced|replaced|repeated))/;
const STEP = 5; // About as many as a history uses up.

/** Histories of seeds in a row begin at places in a row, so that a run goes through all of them. */
export function failpointsFor(seed: number): ArmedNames {
  const names = createRandom(0, 'failpoints').shuffle(FAILPOINTS.filter((name) => !ARRANGED.test(name)));
  return { names, next: (seed * STEP) % names.length };
}

export function nextFailpoint(armed: ArmedNames): string {
  const name = armed.names[armed.next % armed.names.length] ?? '';
  armed.next += 1;
  return name;
}
