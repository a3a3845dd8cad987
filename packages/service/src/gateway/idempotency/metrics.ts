import { counter } from '#kernel/metrics.ts';

/** Calls that were answered with what an earlier attempt had got (CC-14). */
export const replays = counter('purser_replays_total', 'Retries that were answered by an earlier attempt.');
