import { counter, labelledCounter } from '#kernel/metrics/metrics.ts';

export const checkPasses = labelledCounter(
  'purser_ledger_check_passes_total',
  'Passes of the incremental ledger check, by result.',
  { result: ['clean', 'differences', 'failed'] },
);
export const checkedWallets = counter(
  'purser_ledger_check_wallets_total',
  'Wallets that the incremental ledger check has checked.',
);
