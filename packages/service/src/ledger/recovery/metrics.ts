import { counter } from '#kernel/metrics/metrics.ts';

export const holdsReaped = counter(
  'purser_holds_reaped_total',
  'Released holds of dead processes, and orphaned holds.',
);
