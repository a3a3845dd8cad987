import { gauge, labelledCounter } from '#kernel/metrics/metrics.ts';

export const statsPasses = labelledCounter(
  'purser_stats_passes_total',
  'Passes that add new receipts to the statistics, by result.',
  { result: ['done', 'failed'] },
);

/** Declares when a pass last ended, in any process. */
export function declareLastPass(read: () => number): void {
  gauge({
    name: 'purser_stats_last_success_timestamp_seconds',
    help: 'When all new receipts had last been added to the statistics.',
    across: 'max',
    read,
  });
}
