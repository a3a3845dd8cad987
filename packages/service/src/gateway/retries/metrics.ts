import { counter } from '#kernel/metrics/metrics.ts';

/** Calls that were answered with the kept answer of an earlier call (CC-14). */
export const replays = counter(
  'purser_replays_total',
  'Retries that were answered with the answer of an earlier call.',
);
