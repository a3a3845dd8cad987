import type { Mutant } from '../mutant.ts';
import {
  billComparison,
  bills,
  billReading,
  providerBills,
  opsBills,
  reportComparison,
  comparingReports,
} from './places.ts';

/** Faults that would hide money in a reconciliation, or in the comparison of a provider's bill. */
export const RECONCILIATION_FAULTS: readonly Mutant[] = [
  {
    id: 'payment-that-moved-twice-is-fine',
    clause: 'CP-16',
    edits: [reportComparison('counted.has(step) ||', 'false ||')],
    killer: comparingReports('CP-16 payments or refunds moved twice are differences'),
  },
  {
    id: 'report-may-have-less',
    clause: 'CP-16',
    edits: [reportComparison('movement.paid.amount !== here.amount', 'movement.paid.amount > here.amount + 10_000n')],
    killer: comparingReports('CP-16 each kind of difference is named, exact to the micro'),
  },
  {
    id: 'bill-in-dollars-taken-as-ours',
    clause: 'CP-16',
    edits: [bills('cost: (line.cost * rate) / DOLLAR', 'cost: line.cost')],
    killer: opsBills('CP-16 a provider’s bill is compared with receipts exactly'),
  },
  {
    id: 'calls-that-no-bill-has-are-left-out',
    clause: 'CP-16',
    edits: [
      billComparison(
        '    keep({ ...row, ours: addedUse(row.ours, use) });',
        '    if (row.theirs > 0n) keep({ ...row, ours: addedUse(row.ours, use) });',
      ),
    ],
    killer: providerBills('CP-16 bills and calls are compared by day and model'),
  },
  {
    id: 'bucket-that-is-no-utc-day',
    clause: 'CP-16',
    edits: [billReading('start % DAY_SECONDS !== 0 || ', '')],
    killer: providerBills('CP-16 an incomplete or foreign bill is refused'),
  },
];
