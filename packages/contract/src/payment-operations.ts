import { operatorsOf } from './operation.ts';

/** The operations of operators on payments, and on what about them waits for a person. */
export const PAYMENT_OPERATIONS = operatorsOf('Operator: payments', {
  'GET /operator/payments': {
    id: 'listAllPayments',
    summary: 'Lists checkouts, payments, refunds and disputes of all wallets, the newest first',
    description:
      'With `waits=true`, it lists only those about which a person must decide. A dispute has a line for each movement of money: `taken` by the bank, or `returned`.',
  },
  'GET /operator/payments/{id}': {
    id: 'getPayment',
    summary: 'Shows a checkout and everything that belongs to it',
    description:
      'The id is that of a checkout, payment, refund or movement of a dispute. Each open case lists the acts that can solve it, with the entries that each would make in the ledger now. Search for `processorId` in the dashboard of the payment processor.',
  },
  'POST /operator/payments/{id}/look-up': {
    id: 'lookUpPayment',
    summary: 'Looks a checkout up at the payment processor again and brings the books into line',
    description: 'It does what a webhook would do. A refund that the processor does not have is requested again.',
  },
  'POST /operator/payment-cases/{caseId}/solve': {
    id: 'solvePaymentCase',
    summary: 'Does what a person has decided about a case, once',
    description:
      'The id of the case is the idempotency key: a repeat with the same act gets the same answer and books nothing. If the processor declines to pay back, the payment gets a new case.',
  },
});
