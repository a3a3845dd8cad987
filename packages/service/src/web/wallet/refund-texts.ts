import type { RefundOutcome } from '#payments/refunds/refunds.ts';

/** Why a refund was not made. In each case the money is in the wallet, or has never left it. */
const REFUSALS: Readonly<Record<Exclude<RefundOutcome, 'asked' | 'repeated'>, string>> = {
  declined: 'The refund was declined. The money is back in your wallet.',
  not_whole: 'Enter an amount without fractions of the smallest coin.',
  too_much: 'This is more than we can refund. Requests may have used some of it in the meantime.',
  no_payment: 'No money in this wallet came from a payment that can be refunded.',
  suspended: 'This wallet is blocked, so you cannot get a refund.',
  conflict: 'You have already sent this form with another amount. If you want a second refund, send it again.',
};

/** The texts of the page on which owners ask for their unused money. */
export const REFUND_TEXTS = {
  title: 'Refund',
  back: 'Back to the wallet',
  /** Follows the amount, as the rest of its sentence. */
  most: 'This is the most that you can get back now: money from your payments that is not on hold for running requests.',
  what: [
    'It goes back to the card or account that you paid with, newest payment first. It takes a few days to arrive.',
    'It leaves your wallet right away, so that no app can spend it. If the refund fails, the money is returned to this wallet.',
  ],
  amount: (currency: string): string => `Amount in ${currency}`,
  /** The statement of the box. It says both halves: the money leaves the wallet, and it goes back. */
  sure: 'Yes, take this amount out of my wallet and pay it back.',
  zero: 'Enter an amount above zero.',
  notConfirmed: 'Confirm that you want this amount paid back.',
  refund: 'Refund',
  again: 'This form has expired. Check the amount and send it again.',
  nothing:
    'There is nothing to refund at the moment: the money in this wallet is on hold for running requests, or did not come from a payment.',
  blocked: (operator: string): string => `${REFUSALS.suspended} Please contact ${operator}.`,
  refusal: (outcome: Exclude<RefundOutcome, 'asked' | 'repeated'>): string => REFUSALS[outcome],
  underWay: 'On their way',
} as const;
