import { counter, gauge } from '#kernel/metrics/metrics.ts';

export const spansExported = counter('purser_spans_exported_total', 'OpenTelemetry spans that a collector has taken.');

export const spansDropped = counter(
  'purser_spans_dropped_total',
  'OpenTelemetry spans that were not exported, because the collector was away for too long or refused them.',
);

/** Declares the spans that no collector has taken yet. */
export function declareWaitingSpans(read: () => number): void {
  gauge({
    name: 'purser_spans_waiting',
    help: 'OpenTelemetry spans that wait for the collector.',
    across: 'sum',
    read,
  });
}
