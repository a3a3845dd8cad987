import type { Subject } from '#payments/processor/movement.ts';

/**
 * The reporting categories of Stripe that move money of a wallet
 * (https://docs.stripe.com/reports/reporting-categories).
 */
export const SUBJECTS: Readonly<Record<string, Subject>> = {
  charge: 'payment',
  refund: 'refund',
  refund_failure: 'failed refund',
  dispute: 'dispute',
  dispute_reversal: 'dispute returned',
};
