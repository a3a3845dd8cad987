import { labelledCounter } from '#kernel/metrics/metrics.ts';

export const attemptsEnded = labelledCounter(
  'purser_webhook_attempts_total',
  'Attempts to deliver an event, by outcome.',
  { result: ['delivered', 'failed', 'dropped', 'disabled', 'given_up', 'not_ours'] },
);
