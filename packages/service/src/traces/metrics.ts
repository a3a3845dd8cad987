import { counter } from '#kernel/metrics.ts';

export const tracesDropped = counter(
  'purser_call_traces_dropped_total',
  'Calls that cannot be looked up, because the database did not take their traces in time.',
);
