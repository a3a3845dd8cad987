import type { RefundOutcome } from '#payments/refund.ts';

const REFUSALS: Readonly<Record<Exclude<RefundOutcome, 'asked' | 'repeated'>, string>> = {
  declined: 'The refund was declined where you paid. The money is back in your wallet.',
  not_whole: 'Write an amount without fractions of the smallest coin.',
  too_much: 'This is more than can go back. Calls may have used some of it meanwhile.',
  no_payment: 'Nothing in this wallet came from a payment that can be refunded.',
  suspended: 'This wallet is blocked: nothing can be refunded.',
  conflict: 'This form was sent before with another amount. If you want a second refund, send it once more.',
};

/** What the page says on which somebody asks for his unused balance. */
export const REFUND_TEXTS = {
  title: 'Refund',
  back: (app: string): string => `Back to ${app}`,
  most: 'is the most that can go back now: what no call holds, as far as it came from payments.',
  what: [
    'It goes back to the card or account that you paid with, the newest payment first. It takes some days to arrive.',
    'It leaves your wallet at once, so that no call can spend it. If the refund cannot be made, it comes back here.',
  ],
  amount: (currency: string): string => `Amount in ${currency}`,
  sure: 'Yes, take this amount out of my wallet and pay it back.',
  zero: 'Write an amount above zero.',
  notConfirmed: 'Confirm that the amount shall be paid back.',
  refund: 'Refund',
  again: 'This form is out of date. Check the amount and send it once more.',
  nothing:
    'There is nothing that can go back now: what is in this wallet is used by calls that run, or did not come from a payment.',
  blocked: (operator: string): string => `${REFUSALS.suspended} Please contact ${operator}.`,
  refusal: (outcome: Exclude<RefundOutcome, 'asked' | 'repeated'>): string => REFUSALS[outcome],
  underWay: 'On their way',
} as const;
