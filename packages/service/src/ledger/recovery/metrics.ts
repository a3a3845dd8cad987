import { counter } from '#kernel/metrics.ts';

export const holdsReaped = counter(
  'purser_holds_reaped_total',
  'Holds of dead processes, or of no call, that were released.',
);
