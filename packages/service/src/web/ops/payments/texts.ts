import type { CaseAct, CaseObstacle } from '#payments/cases/effects.ts';
import type { CaseKind } from '#payments/cases/queries.ts';
import type { PaymentKind, PaymentState } from '#payments/overview/queries.ts';
import type { PaymentAnomaly } from '#payments/records/queries.ts';

export const KIND_TEXTS: Readonly<Record<PaymentKind, string>> = {
  checkout: 'Checkout',
  payment: 'Payment',
  refund: 'Refund',
  dispute: 'Dispute',
};

export const STATE_TEXTS: Readonly<Record<PaymentState, string>> = {
  open: 'Open',
  paid: 'Paid',
  unpaid: 'Not paid',
  credited: 'In the wallet',
  kept: 'In no wallet',
  asked: 'In progress',
  declined: 'Failed',
  taken: 'Taken by the bank',
  returned: 'Returned',
};

export const ANOMALY_TEXTS: Readonly<Record<PaymentAnomaly, string>> = {
  amount: 'Not the requested amount',
  currency: 'Not the requested currency',
  second: 'Second payment for one checkout',
  no_wallet: 'There was no wallet',
  too_much: 'The wallet was full',
  owner_deleted: 'The owner of the wallet was deleted',
};

/** The texts of the list of payments. */
export const PAYMENTS_TEXTS = {
  what: 'Checkouts, payments, refunds and disputes of all wallets, newest first.',
  columns: ['When', 'What', 'State', 'App', 'User', 'Amount'],
  otherCells: (cell: string) =>
    `You are in the cell ${cell}. This page lists the payments of all cells. To open or solve a payment of another cell, use the API at the address of that cell.`,
  all: 'All',
  ages: {
    '': 'Any',
    day: 'Up to 24 hours',
    week: 'Up to 7 days',
    older1: 'Over 24 hours',
    older7: 'Over 7 days',
    older30: 'Over 30 days',
  },
} as const;

/** The texts of one checkout and what hangs on it. */
export const PAYMENT_TEXTS = {
  none: 'No checkout, payment, refund or dispute has this ID.',
  id: 'ID',
  state: 'State',
  atProcessor: 'At the processor',
  processorHint: 'Search for this ID in the dashboard of the payment processor. You have to be signed in there.',
  anomaly: 'Unusual',
  waiting: 'What needs a decision',
  lookUp: 'Look it up again',
  lookUpWhat:
    'This reads the checkout at the payment processor and books what is new, as a webhook would. A refund that the processor does not have is requested again.',
  unknownThere: 'The payment processor does not know this payment. Does it belong to another account?',
  looked: new Map([
    ['looked', 'The books agree with the payment processor.'],
    ['unpaid', 'According to the payment processor, nobody has paid at this checkout.'],
  ]),
  /** What each kind of case is about. */
  cases: {
    kept: 'Money came in but is not in any wallet.',
    refund_unknown: 'The payment processor does not know the payment of this refund.',
    refund_not_released: 'A refund was declined, and the wallet is too full to take the money back.',
    refund_not_returned: 'A refund came back from the payer’s bank, and the money is not in any wallet.',
    refund_not_taken: 'A refund was paid out, but it was not taken out of any wallet.',
    dispute_not_booked: 'A bank moved money because of a dispute, but this is not booked in the wallet.',
    other_currency: 'A refund or dispute is in another currency than the payment. It is not booked.',
    wallet_suspended: 'A refund or dispute took more than the wallet had. The wallet is suspended.',
  } satisfies Readonly<Record<CaseKind, string>>,
  obstacles: {
    no_wallet: 'Not possible: the wallet does not exist.',
    currency: 'Not possible: the wallet has another currency.',
    part_went_back: 'Not possible: part of it was already returned.',
    nothing_left: 'Not possible: the processor has nothing left to pay back.',
    too_much: 'Not possible: the wallet would be too full.',
    too_little: 'Not possible: the available balance does not cover what is owed.',
    nothing_owed: 'Not needed: the wallet is no longer suspended.',
  } satisfies Readonly<Record<CaseObstacle, string>>,
  /** How a case was closed, in words. */
  settled: 'Resolved by itself',
  noCase: 'This case is closed, or there is no case with this ID.',
  calls:
    'Running calls may change the balance in the meantime. The entries stay as shown, unless the balance falls below the amount that is taken.',
  noReason: 'Give a reason. It is kept in the audit trail.',
  declined: 'The payment processor has declined the refund. Nothing was paid back, and there is a new case.',
} as const;

export const ACT_TEXTS: Readonly<
  Record<CaseAct, { readonly name: string; readonly what: string; readonly done: string }>
> = {
  pay_back: {
    name: 'Pay it back',
    what: 'The payment processor is asked to pay the rest of the money back to the payer. The payment is not in any wallet, so no wallet changes.',
    done: 'The payment processor was asked to pay it back.',
  },
  credit: {
    name: 'Credit it to the wallet',
    what: 'The payment goes into the wallet as it came in. The payer and the owner get the usual e-mail.',
    done: 'The payment is in the wallet.',
  },
  book: {
    name: 'Book it in the wallet',
    what: 'What has happened to the money is booked in the wallet. If the balance does not cover it, the rest is owed and the wallet is suspended.',
    done: 'It is booked in the wallet.',
  },
  release: {
    name: 'Return it to the wallet',
    what: 'The refund ends as failed, and the money is in the wallet again. Check first at the processor that nothing was paid out.',
    done: 'The refund has ended, and the money is in the wallet.',
  },
  mark_paid: {
    name: 'Mark it as paid',
    what: 'The refund ends as paid. Check first that the payer has received the money, for example in the account that was used at the time.',
    done: 'The refund has ended as paid.',
  },
  recover: {
    name: 'Take what is owed and lift the suspension',
    what: 'The amount owed is taken from the available balance of the wallet, and its user can spend again.',
    done: 'The amount owed was paid, and the suspension is lifted.',
  },
  write_off: {
    name: 'Book it as a loss and lift the suspension',
    what: 'The service writes off the amount owed and books it as a loss. The user can spend again.',
    done: 'It is booked as a loss, and the suspension is lifted.',
  },
  close: {
    name: 'Close without moving money',
    what: 'Nothing is booked and nothing is paid. Give the decision as the reason, for example that the money was returned by other means.',
    done: 'The case is closed.',
  },
};
