import { counter, gauge, labelledCounter } from '#kernel/metrics.ts';

export const checkPasses = labelledCounter(
  'purser_ledger_check_passes_total',
  'Passes of the incremental ledger check, by result.',
  { result: ['clean', 'differences', 'failed'] },
);
export const checkedWallets = counter(
  'purser_ledger_check_wallets_total',
  'Wallets that the incremental ledger check derived anew.',
);
export const holdsReaped = counter(
  'purser_holds_reaped_total',
  'Holds of dead processes, or of no call, that were released.',
);

/** What lies in the spool because the database could not take it. */
export function declareSpoolMetrics(spool: { readonly kept: () => number; readonly oldestKeptMs: () => number }): void {
  gauge({
    name: 'purser_settlements_kept',
    help: 'Settlements on disk that wait for the database.',
    across: 'sum',
    read: spool.kept,
  });
  gauge({
    name: 'purser_settlements_kept_oldest_seconds',
    help: 'How long the oldest of them has waited.',
    across: 'max',
    read: () => spool.oldestKeptMs() / 1_000,
  });
}
