import { labelledCounter } from '#kernel/metrics/metrics.ts';

export const webhooksReceived = labelledCounter(
  'purser_payment_webhooks_total',
  'Webhooks of the payment processor: accepted, or refused because the processor did not sign them.',
  { result: ['accepted', 'refused'] },
);

export const paymentsBooked = labelledCounter(
  'purser_payments_total',
  'Payments that the processor has confirmed: credited to a wallet, or kept for an operator to look at.',
  { state: ['credited', 'kept'] },
);

export const paymentMicros = labelledCounter(
  'purser_payment_micros_total',
  'Money that payments moved, in micros: credited to wallets, kept for an operator, refunded to payers, clawed back by banks, and reinstated by them.',
  { kind: ['credited', 'kept', 'refunded', 'clawed_back', 'reinstated'] },
);
