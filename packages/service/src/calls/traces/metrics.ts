import { counter, gauge } from '#kernel/metrics/metrics.ts';

export const tracesDropped = counter(
  'purser_call_traces_dropped_total',
  'Calls that cannot be looked up, because the database did not take their traces in time.',
);

/** Declares the traces that this process has not written yet. */
export function declareWaitingTraces(read: () => number): void {
  gauge({
    name: 'purser_call_traces_waiting',
    help: 'Traces of calls that are not in the database yet.',
    across: 'sum',
    read,
  });
}
