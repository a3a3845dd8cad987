import { labelledCounter } from '#kernel/metrics.ts';

export const noticesTaken = labelledCounter(
  'purser_payment_notices_total',
  'Notices of the payment processor: taken, or refused because they are not its.',
  { result: ['taken', 'refused'] },
);

export const paymentsBooked = labelledCounter(
  'purser_payments_total',
  'Payments that the processor has confirmed: credited to a wallet, or kept for an operator to look at.',
  { state: ['credited', 'kept'] },
);
