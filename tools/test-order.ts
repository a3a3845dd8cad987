/**
 * What takes long, in seconds, as it was measured on two cores. A full run names its ten longest files at its end: whoever
 * finds another one there adds it here. A file that is missing is taken for a short one, and nothing else depends on this.
 */

/** Files that mostly wait: for a lease, a timeout, a server that starts. They run beside the others. */
const WAITING: Readonly<Record<string, number>> = {};

/** Files that compute. */
const COMPUTING: Readonly<Record<string, number>> = {};

const SHORT_SECONDS = 2;

export interface Queues {
  readonly waiting: readonly string[];
  readonly computing: readonly string[];
}

/** Both longest first, so that no long file is left over at the end, with one core idle. */
export function inQueues(files: readonly string[]): Queues {
  return {
    waiting: longestFirst(files.filter((file) => file in WAITING)),
    computing: longestFirst(files.filter((file) => !(file in WAITING))),
  };
}

/** For the test that every file named here exists. */
export const NAMED = [...Object.keys(WAITING), ...Object.keys(COMPUTING)];

function longestFirst(files: readonly string[]): readonly string[] {
  return files.toSorted((one, other) => secondsOf(other) - secondsOf(one) || (one < other ? -1 : 1));
}

function secondsOf(file: string): number {
  return WAITING[file] ?? COMPUTING[file] ?? SHORT_SECONDS;
}
