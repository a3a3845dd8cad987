import { counter, gauge } from '#kernel/metrics/metrics.ts';

export const lateChargeMicros = counter(
  'purser_late_charge_micros_total',
  'What wallets paid for calls after their holds had been released, because the answers had named the charge.',
);
export const lateLossMicros = counter(
  'purser_late_loss_micros_total',
  'The part of such charges that wallets could not pay any more.',
);

/** Declares the gauges of the settlements that wait on disk because the database could not take them. */
export function declareSpoolMetrics(spool: { readonly kept: () => number; readonly oldestKeptMs: () => number }): void {
  gauge({
    name: 'purser_settlements_kept',
    help: 'Settlements on disk that wait for the database.',
    across: 'sum',
    read: spool.kept,
  });
  gauge({
    name: 'purser_settlements_kept_oldest_seconds',
    help: 'How long the oldest settlement on disk has waited for the database.',
    across: 'max',
    read: () => spool.oldestKeptMs() / 1_000,
  });
}
