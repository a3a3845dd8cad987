import type { CaseAct, CaseObstacle } from '#payments/case-effects.ts';
import type { CaseKind } from '#payments/case-queries.ts';
import type { PaymentKind, PaymentState } from '#payments/overview-queries.ts';
import type { PaymentAnomaly } from '#payments/queries.ts';

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
  asked: 'Under way',
  declined: 'Failed',
  taken: 'Taken by the bank',
  returned: 'Given back',
};

export const ANOMALY_TEXTS: Readonly<Record<PaymentAnomaly, string>> = {
  amount: 'Another amount than requested',
  currency: 'Another currency than requested',
  second: 'Second payment of one checkout',
  no_wallet: 'There was no wallet',
  too_much: 'The wallet was full',
  owner_deleted: 'The owner of the wallet was deleted',
};

/** The texts of the list of payments. */
export const PAYMENTS_TEXTS = {
  title: 'Payments',
  what: 'Checkouts, payments, refunds and disputes of all wallets, the newest first.',
  caption: 'Payments',
  columns: ['When', 'What', 'State', 'App', 'User', 'Amount'],
  cell: 'Cell',
  otherCells: (cell: string) =>
    `This page is of the cell ${cell}. It lists the payments of all cells. Those of other cells are read and solved by their API, at their addresses.`,
  none: 'Nothing fits.',
  noneWaits: 'Nothing waits for a person.',
  waits: 'Waits for you',
  find: 'Id of a checkout, payment or refund',
  kind: 'What',
  state: 'State',
  app: 'App',
  user: 'User',
  age: 'Age',
  only: 'Which',
  onlyWaits: 'Only what waits for a person',
  all: 'All',
  ages: {
    '': 'Any',
    day: 'Up to 24 hours',
    week: 'Up to 7 days',
    older1: 'Over 24 hours',
    older7: 'Over 7 days',
    older30: 'Over 30 days',
  },
  older: 'Older',
  newest: 'Newest',
} as const;

/** The texts of one checkout and what hangs on it. */
export const PAYMENT_TEXTS = {
  title: 'One payment',
  noneTitle: 'No such payment',
  none: 'No checkout, payment, refund or dispute has this id.',
  checkout: 'Checkout',
  id: 'Id',
  wallet: 'Wallet',
  app: 'App',
  requested: 'Requested',
  began: 'Began',
  state: 'State',
  atProcessor: 'At the processor',
  processorHint: 'Search for it in the dashboard of the payment processor. It opens nothing without a sign-in there.',
  payment: 'Payment',
  paid: 'Paid',
  left: 'Left of it',
  anomaly: 'Unusual',
  waiting: 'What waits for you',
  amount: 'Amount',
  since: 'Since',
  about: 'About',
  movedBack: 'Refunds and disputes',
  movedColumns: ['When', 'What', 'State', 'Amount', 'In the wallet', 'At the processor'],
  noMoved: 'Nothing went back.',
  booked: 'Yes',
  notBooked: 'No',
  entries: 'What it booked in the wallet',
  entryColumns: ['When', 'Entry', 'From', 'To', 'Amount', 'Balance after'],
  noEntries: 'No wallet has an entry of it.',
  solved: 'What was decided',
  solvedColumns: ['When', 'What', 'How'],
  noSolved: 'Nobody has decided anything.',
  history: 'History',
  historyColumns: ['When', 'Who', 'What', 'Why'],
  noHistory: 'Nobody has done anything about it.',
  lookUp: 'Look it up again',
  lookUpWhat:
    'Reads the checkout at the payment processor and books what is new, as a webhook would. A refund that the processor does not have is requested again.',
  reason: 'Reason, for the audit trail',
  unknownThere: 'The payment processor does not know this payment. Is it of another account?',
  looked: new Map([
    ['looked', 'It was looked up. The books agree with the payment processor.'],
    ['unpaid', 'It was looked up. Nobody has paid at this checkout.'],
  ]),
} as const;

/** What each kind of case is about. */
export const CASE_TEXTS: Readonly<Record<CaseKind, string>> = {
  kept: 'Money came in and is in no wallet.',
  refund_unknown: 'The payment processor does not know the payment of this refund.',
  refund_not_released: 'A refund was declined, and the wallet is too full to take its money back.',
  refund_not_returned: 'A refund came back from the payer’s bank, and its money is in no wallet.',
  refund_not_taken: 'A refund was paid, and no wallet has paid for it.',
  dispute_not_booked: 'A bank moved money because of a dispute, and the wallet did not follow.',
  other_currency: 'A refund or dispute is in another currency than the payment. It is not booked.',
  wallet_suspended: 'A refund or dispute took more than the wallet had. The wallet is suspended.',
};

export const ACT_TEXTS: Readonly<
  Record<CaseAct, { readonly name: string; readonly what: string; readonly done: string }>
> = {
  pay_back: {
    name: 'Pay it back',
    what: 'The payment processor is asked to pay all that is left back to the payer. The payment is in no wallet, so no wallet changes.',
    done: 'The payment processor was asked to pay it back.',
  },
  credit: {
    name: 'Credit it to the wallet',
    what: 'The payment goes into the wallet as it came. The payer and the owner get the mail about it.',
    done: 'The payment is in the wallet.',
  },
  book: {
    name: 'Book it in the wallet',
    what: 'The wallet follows what has happened to the money. What the balance does not cover is owed and suspends the wallet.',
    done: 'It is booked in the wallet.',
  },
  release: {
    name: 'Give it back to the wallet',
    what: 'The refund ends as failed, and its money is in the wallet again. Check at the processor first that nothing was paid.',
    done: 'The refund has ended, and its money is in the wallet.',
  },
  mark_paid: {
    name: 'It was paid',
    what: 'The refund ends as paid. Check first that the payer has the money, for example in the account that was used then.',
    done: 'The refund has ended as paid.',
  },
  recover: {
    name: 'Take what is owed and lift the suspension',
    what: 'The wallet pays what it owes from its available balance, and its user can spend again.',
    done: 'What was owed is paid, and the suspension is lifted.',
  },
  write_off: {
    name: 'Book it as a loss and lift the suspension',
    what: 'The service gives up what is owed and books it as a loss. The user can spend again.',
    done: 'It is booked as a loss, and the suspension is lifted.',
  },
  close: {
    name: 'Close without moving money',
    what: 'Nothing is booked and nothing is paid. Say in the reason what was decided, for example that the money was returned by other means.',
    done: 'The case is closed.',
  },
};

export const OBSTACLE_TEXTS: Readonly<Record<CaseObstacle, string>> = {
  no_wallet: 'Not possible: the wallet does not exist.',
  currency: 'Not possible: the wallet has another currency.',
  part_went_back: 'Not possible: a part of it went back.',
  nothing_left: 'Not possible: nothing is left that the processor could pay back.',
  too_much: 'Not possible: the wallet would be too full.',
  too_little: 'Not possible: the available balance does not cover what is owed.',
  nothing_owed: 'Not needed: the wallet is not suspended any more.',
};

/** The texts of the page that asks once more. */
export const CONFIRM_TEXTS = {
  noneTitle: 'No such case',
  none: 'This case is closed, or there is none with this id.',
  toPayment: 'Back to the payment',
  effect: 'What it will do to the books',
  columns: ['Entry', 'From', 'To', 'Amount'],
  noEntries: 'It books nothing.',
  paidBack: 'Paid back to the payer',
  balance: 'Balance of the wallet',
  owed: 'Owed to us',
  suspended: 'Suspended',
  yes: 'yes',
  no: 'no',
  now: 'now',
  after: 'after it',
  calls:
    'Calls that run now may change the balance meanwhile. The entries stay as shown, unless the balance falls below what is taken.',
  reason: 'Reason, for the audit trail',
  noReason: 'Write a reason. It stays in the audit trail.',
  declined: 'The payment processor has declined. Nothing was paid back, and a new case is open.',
} as const;

/** How a case was closed, in words. */
export const SETTLED_TEXT = 'Settled by itself';
