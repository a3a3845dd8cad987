import type { WalletAct } from '#operator/wallet-preview.ts';

/** The texts of the list of wallets. */
export const WALLETS_TEXTS = {
  title: 'Wallets',
  what: 'Wallets of all apps, the newest first. A search by user is in the order of user IDs. Sandbox wallets are not here.',
  caption: 'Wallets',
  columns: ['User', 'App', 'State', 'Balance', 'Held', 'Shortfall', 'Opened'],
  cell: 'Cell',
  otherCells: (cell: string) =>
    `This page is of the cell ${cell}. It lists the wallets of all cells. Those of other cells are read and changed by their API, at their addresses.`,
  app: 'App ID',
  user: 'User ID begins with',
  status: 'State',
  statuses: { connected: 'Connected', disconnected: 'Disconnected', suspended: 'Suspended' },
  all: 'All',
  minHeld: 'Held at least',
  minBalance: 'Balance at least',
  maxBalance: 'Balance at most',
  openedFrom: 'Opened from (UTC)',
  openedBefore: 'Opened before (UTC)',
  sort: 'Order',
  sorts: { newest: 'Newest first', oldest: 'Oldest first' },
  none: 'No wallet fits.',
  noneYet: 'No wallet yet. A user gets one when they agree to connect it, or you open one.',
  goOn: 'No wallet among the 5,000 that were looked at fits. Go on with the next page.',
  more: 'Next page',
  first: 'First page',
  open: 'Open a wallet',
  find: 'Find a person',
} as const;

/** The texts of the page of one wallet. */
export const WALLET_TEXTS = {
  none: 'This user has no wallet for this app.',
  noneTitle: 'No such wallet',
  balance: 'Balance',
  held: 'Held by running calls',
  available: 'Available',
  shortfall: 'Shortfall',
  exactly: (amount: string) => `Exactly ${amount}`,
  micros: (count: string) => `${count} micros`,
  app: 'App',
  user: 'User',
  owner: 'Owner',
  noOwner: 'nobody: they have not agreed, or the wallet was released',
  cap: 'Cap a month',
  noCap: 'none',
  spent: 'Spent this month',
  state: 'State',
  active: 'Active',
  suspended: 'Suspended',
  connected: 'Connected',
  disconnected: 'Disconnected',
  acts: 'Change the wallet',
  actsWhat: 'Each act first shows what it will do to the books.',
  holds: 'Holds of running calls',
  holdColumns: ['Since', 'Call', 'Kind', 'Held'],
  noHolds: 'No call of this wallet runs.',
  moreHolds: (count: string) => `The oldest of ${count}.`,
  stream: 'streamed',
  plain: 'plain',
  payments: 'Payments',
  paymentColumns: ['Paid', 'Payment', 'Amount', 'Went back', 'State'],
  noPayments: 'Nobody has paid into this wallet.',
  credited: 'in the wallet',
  kept: 'kept for a person',
  disputed: (amount: string) => `${amount} taken by a bank`,
  refund: 'Refund',
  entries: 'Entries of the ledger',
  entryColumns: ['Entry', 'What', 'Books', 'Amount', 'Balance after'],
  books: (debit: string, credit: string) => `${debit} to ${credit}`,
  inCell: (cell: string) => `in cell ${cell}`,
  noEntries: 'Nothing was booked yet.',
  older: 'Older entries',
  newest: 'Newest entries',
} as const;

/** What each kind of entry is, in words. */
export const ENTRY_TEXTS: Readonly<Record<string, string>> = {
  charge: 'Charge of a call',
  charge_receivable: 'Charge that the balance did not cover',
  charge_overrun: 'Charge above the hold, our loss',
  charge_lost: 'Late charge that the wallet could not pay, our loss',
  top_up: 'Top-up',
  contract_credit: 'Credit',
  funds_reinstated: 'Money back from a dispute',
  refund: 'Refund',
  refund_receivable: 'Refund that the balance did not cover',
  claw_back: 'Claw-back',
  claw_back_receivable: 'Claw-back that the balance did not cover',
  recovery: 'Shortfall recovered from the balance',
  write_off: 'Shortfall written off',
  refund_set_aside: 'Set aside for a refund',
  refund_paid: 'Refund paid out',
  refund_released: 'Set-aside returned, the refund was declined',
  moved_out: 'Balance moved to another cell',
  moved_in: 'Balance came from another cell',
  owed_out: 'Shortfall moved to another cell',
  owed_in: 'Shortfall came from another cell',
};

interface ActTexts {
  readonly title: string;
  readonly what: string;
  readonly button: string;
  readonly done: string;
}

/** What each act says of itself. */
export const ACT_TEXTS: Readonly<Record<WalletAct['act'], ActTexts>> = {
  open: {
    title: 'Open a wallet',
    what: 'Opens a connected wallet for a user who agreed elsewhere, with a first credit if you type one.',
    button: 'Open the wallet',
    done: 'The wallet is open.',
  },
  credit: {
    title: 'Credit the wallet',
    what: 'Puts in money that was paid outside the payment processor. A suspension stays.',
    button: 'Book the credit',
    done: 'The credit is booked.',
  },
  refund: {
    title: 'Refund',
    what: 'With a payment, the payment processor pays it back. Without one, this books money that you have returned by other means.',
    button: 'Refund',
    done: 'The refund is booked.',
  },
  clawback: {
    title: 'Claw money back',
    what: 'Books money that a bank took back, for payments that did not go through the payment processor. What the balance does not cover suspends the wallet.',
    button: 'Book the claw-back',
    done: 'The claw-back is booked.',
  },
  reinstate: {
    title: 'Reinstate the wallet',
    what: 'Lifts the suspension. A shortfall is first recovered from the available balance, or written off if you choose that.',
    button: 'Reinstate the wallet',
    done: 'The wallet is not suspended any more.',
  },
  release: {
    title: 'Release the wallet',
    what: 'For an owner who cannot sign in any more. The wallet keeps its money and is disconnected. The next person who agrees with a new link becomes its owner. The owner so far is told by mail.',
    button: 'Release the wallet',
    done: 'Nobody owns this wallet now. It is disconnected.',
  },
};

/** The texts of the pages that ask before an act. */
export const ASK_TEXTS = {
  amountName: 'Amount',
  capName: 'Cap',
  amount: (currency: string) => `Amount in ${currency}`,
  firstCredit: (currency: string) => `First credit in ${currency}, if any`,
  cap: (currency: string) => `Cap a month in ${currency}, if any`,
  payment: 'Payment ID, if the processor pays it back',
  writeOff: 'Shortfall',
  writeOffs: { '': 'recover from the balance', yes: 'write off' },
  app: 'App ID',
  user: 'User ID',
  effects: 'What it will do',
  wallet: 'The wallet of',
  inApp: 'in',
  columns: ['Figure', 'Now', 'Afterwards', 'Change'],
  same: 'none',
  changes: 'changes',
  noWallet: 'no wallet',
  entries: 'Entries that it writes',
  entryColumns: ['Entry', 'What', 'Books', 'Amount', 'Balance after'],
  noEntries: 'It writes no entry.',
  nothing: 'Nothing would change: this was done already, or there is nothing to do.',
  later:
    'The payment processor is asked to pay the amount back. The rest is booked when it has paid: out of the money that is set aside, or out of the balance if nothing could be set aside. That suspends the wallet if the balance is too small then.',
  forTwo:
    'This is above the amount for one person. Nothing is done until a second operator confirms it. It then does this, to the wallet as it is by then.',
  moves: 'These figures are exact for the wallet as it is now. Calls that end meanwhile change its balance.',
  reason: 'Reason, for the audit trail',
  changed:
    'The wallet has changed since you looked, so the act would do something else now. Nothing was done. Read again what it will do.',
  back: 'Back to the wallet',
  ordered: 'The payment processor was asked for the refund. It is booked when the processor has paid.',
  booked: (what: string, amount: string, seq: string, balance: string) =>
    `${what}: ${amount} is entry ${seq}. The balance after it is ${balance}.`,
} as const;

/** The texts of the pages of a person. */
export const PERSON_TEXTS = {
  title: 'Person',
  what: 'Finds a person who owns wallets by their whole e-mail address.',
  email: 'E-mail',
  none: 'Nobody signs in with this e-mail.',
  identity: 'Identity',
  wallets: 'Wallets',
  columns: ['App', 'User'],
  noWallets: 'They own no wallet.',
  ways: {
    'person-move': 'Move to another e-mail',
    'person-export': 'Export their data',
    'person-delete': 'Delete this person',
  },
  move: 'Move to another e-mail',
  exportTitle: 'Export their data',
  exportWhat:
    'Everything that is kept about this person as one JSON file: for a person who asks you for it and cannot sign in. It has no secret, no prompt and nothing of other people. Give it to nobody else.',
  exportButton: 'Download the file',
  fileName: 'person.json',
  deleteTitle: 'Delete this person',
  deleteWhat:
    'For a person who asks for it and cannot sign in. Make sure that it is them. Their e-mail, sessions, passkeys, codes, sign-ins, alerts and mails are removed for good. Entries, receipts and payments stay, under the user IDs of apps.',
  deleteButton: 'Delete this person for good',
  deleted: 'The person was deleted. Their wallets belong to nobody now.',
  willRelease: (count: string) => `Wallets that are released: ${count}`,
  willEnd: (sessions: string, passkeys: string) =>
    `Sessions that end: ${sessions}. Passkeys that are removed: ${passkeys}.`,
  untold: 'No mail is sent, because the address is removed. Tell the person yourself.',
  notYet: 'This person cannot be deleted yet',
  obstacles: {
    money: 'The wallet has money. Refund it first.',
    held: 'Calls that run hold money of the wallet. Wait until they have ended.',
    debt: 'The wallet has a shortfall. Recover it or write it off first.',
    checkout: 'A checkout of the wallet may still be paid. Wait three days at most.',
    gift: 'A checkout of theirs for the wallet of somebody else may still be paid. Wait three days at most.',
    refund: 'The payment processor has not confirmed a refund.',
    dispute: 'A bank may still give back money of a dispute. Wait 90 days at most.',
    case: 'Something about a payment waits for an operator. Solve the case first.',
  },
  moves: 'Changes of the e-mail by operators',
  moveColumns: ['When', 'From', 'To'],
  obstacleColumns: ['Wallet', 'What to do first'],
  moveWhat:
    'For a person who has lost their mailbox. They sign in with a code to the new address. Make sure that it is theirs.',
  to: 'New e-mail',
  effects: 'What it will do',
  now: 'Signs in with',
  afterwards: 'Will sign in with',
  kept: (count: string) => `${count}, which they keep. The books do not change.`,
  mails: 'Both addresses are told by mail.',
  same: 'They sign in with this e-mail already. Nothing would change.',
  reason: 'Reason, for the audit trail',
  button: 'Move the person',
  moved: 'They sign in with this e-mail now. Their sessions have ended.',
} as const;
