import { counter } from '#kernel/metrics/metrics.ts';

export const statsDropped = counter(
  'purser_stats_calls_dropped_total',
  'Calls that no statistics count, because the database did not take sums for too long.',
);
