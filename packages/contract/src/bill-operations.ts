import { operatorsOf } from './operation.ts';

/** The operations that compare what others say they moved and billed with our books. */
export const BILL_OPERATIONS = operatorsOf('Operator: bills', {
  'GET /operator/reconciliations': {
    id: 'listReconciliations',
    summary: 'Lists the reports of the payment processor that were found clean, the newest first',
  },
  'POST /operator/reconciliations': {
    id: 'reconcile',
    summary: 'Compares a report of the payment processor with the books; a clean one is filed',
    description:
      'Payments, refunds and disputes are compared one by one, by the processor’s ids. Nothing is booked: a person must look at each difference. A report is read as a whole or not at all, and the refusal names the line at fault. The processor’s fees are yours, and are in the sums only.',
  },
  'POST /operator/bills': {
    id: 'compareBill',
    summary: 'Compares what a provider says it billed with the receipts, by UTC day and model',
    description:
      'Every call that the provider served counts, even if nobody paid for it. Replays do not, because they reach no provider. Nothing of the bill is kept.',
    refuses: [],
  },
});
