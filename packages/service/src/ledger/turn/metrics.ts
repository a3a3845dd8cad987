import { counter } from '#kernel/metrics/metrics.ts';

export const turnsUndone = counter(
  'purser_ledger_turns_undone_total',
  'Turns of the ledger that were undone because a hold had changed, and then done call by call.',
);
