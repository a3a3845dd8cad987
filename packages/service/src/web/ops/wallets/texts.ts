import type { WalletAct } from '#operator/money/wallet-preview.ts';

/** The texts of the list of wallets. */
export const WALLETS_TEXTS = {
  what: 'The wallets of all apps, newest first. If you search by user, the results are sorted by user ID. Sandbox wallets are not listed.',
  columns: ['User', 'App', 'State', 'Balance', 'On hold', 'Shortfall', 'Opened'],
  otherCells: (cell: string) =>
    `You are in the cell ${cell}. This page lists the wallets of all cells. To open or change a wallet of another cell, use the API at the address of that cell.`,
  statuses: { connected: 'Connected', disconnected: 'Disconnected', suspended: 'Suspended' },
  sorts: { newest: 'Newest first', oldest: 'Oldest first' },
  noneYet: 'There are no wallets yet. A user gets one when they connect the app, or you can open one.',
} as const;

/** The texts of the page of one wallet. */
export const WALLET_TEXTS = {
  none: 'This user has no wallet for this app.',
  balance: 'Balance',
  held: 'On hold for running calls',
  available: 'Available',
  shortfall: 'Shortfall',
  micros: (count: string) => `${count} micros`,
  cap: 'Monthly cap',
  noCap: 'none',
  state: 'State',
  actsWhat: 'Before each act, you see what it will do to the books.',
  disputed: (amount: string) => `${amount} taken back by a bank`,
  inCell: (cell: string) => `in cell ${cell}`,
} as const;

/** What each kind of entry is, in words. */
export const ENTRY_TEXTS: Readonly<Record<string, string>> = {
  charge: 'Charge of a call',
  charge_receivable: 'Charge that the balance did not cover',
  charge_overrun: 'Charge above the hold (our loss)',
  charge_lost: 'Late charge that the wallet could not pay (our loss)',
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
  refund_released: 'Refund declined, money returned',
  given_up: 'Given up by the owner, who was deleted',
  moved_out: 'Balance moved to another cell',
  moved_in: 'Balance came from another cell',
  owed_out: 'Shortfall moved to another cell',
  owed_in: 'Shortfall came from another cell',
};

/** What each act says of itself. */
export const ACT_TEXTS: Readonly<Record<WalletAct['act'], Record<'title' | 'what' | 'button' | 'done', string>>> = {
  open: {
    title: 'Open a wallet',
    what: 'Opens a connected wallet for a user who has agreed elsewhere, with a first credit if you enter one.',
    button: 'Open the wallet',
    done: 'The wallet is open.',
  },
  credit: {
    title: 'Credit the wallet',
    what: 'Books money that was paid outside the payment processor. It does not lift a suspension.',
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
    what: 'Books money that a bank took back, for payments that did not go through the payment processor. If the balance does not cover it, the wallet is suspended.',
    button: 'Book the claw-back',
    done: 'The claw-back is booked.',
  },
  reinstate: {
    title: 'Reinstate the wallet',
    what: 'Lifts the suspension. A shortfall is first recovered from the available balance, or written off if you choose that.',
    button: 'Reinstate the wallet',
    done: 'The wallet is no longer suspended.',
  },
  release: {
    title: 'Release the wallet',
    what: 'For an owner who can no longer sign in. The wallet keeps its money and is disconnected. The next person who connects it with a new link becomes its owner. We tell the previous owner by e-mail.',
    button: 'Release the wallet',
    done: 'The wallet has no owner now and is disconnected.',
  },
};

/** The texts of the pages that ask before an act. */
export const ASK_TEXTS = {
  payment: 'Payment ID, if the processor is to pay it back',
  writeOffs: { '': 'recover from the balance', yes: 'write off' },
  effects: 'What it will do',
  same: 'none',
  noWallet: 'no wallet',
  nothing: 'Nothing would change: this has already been done, or there is nothing to do.',
  later:
    'The payment processor is asked to pay the amount back. The refund is booked when it has paid: from the money that is set aside, or from the balance if nothing could be set aside. If the balance is too small by then, the wallet is suspended.',
  aboveBalance: (missing: string): string =>
    `The wallet has ${missing} less than this refund. What it does not have is owed to you afterwards, and the wallet is suspended.`,
  forTwo:
    'This is above the limit for one person. Nothing happens until a second operator confirms it. It then applies to the wallet as it is at that time.',
  moves: 'These figures are exact for the wallet as it is now. Calls that end in the meantime change its balance.',
  changed:
    'The wallet has changed since you looked, so the act would now do something else. Nothing was done. Please read again what it will do.',
  ordered: 'The payment processor was asked for the refund. It is booked when the processor has paid it.',
  booked: (what: string, amount: string, seq: string, balance: string) =>
    `${what}: ${amount} is entry ${seq}. The balance after it is ${balance}.`,
} as const;

/** The texts of the pages of a person. */
export const PERSON_TEXTS = {
  email: 'E-mail',
  wallets: 'Wallets',
  ways: {
    'person-move': 'Move to another e-mail',
    'person-export': 'Export their data',
    'person-delete': 'Delete this person',
  },
  exportWhat:
    'Everything that is kept about this person, in one JSON file. It is for a person who asks you for it and cannot sign in. It contains no secrets, no prompts and nothing about other people. Do not give it to anybody else.',
  deleteWhat:
    'For a person who asks for it and cannot sign in. Make sure that it is them. Their e-mail address, sessions, passkeys, codes, sign-ins, alerts and e-mails are removed for good. Entries, receipts and payments stay, under the user IDs of apps.',
  deleted: 'The person was deleted. Their wallets have no owner now.',
  willEnd: (sessions: string, passkeys: string) =>
    `Sessions that will end: ${sessions}. Passkeys to be removed: ${passkeys}.`,
  willGiveUp: (amount: string, user: string) =>
    `Given up in the wallet of ${user}, as it is too small to be paid back: ${amount}`,
  obstacles: {
    money: 'The wallet has money. Refund it first.',
    held: 'Running calls have money of the wallet on hold. Wait until they have ended.',
    debt: 'The wallet has a shortfall. Recover it or write it off first.',
    checkout: 'A checkout for the wallet may still be paid. Wait three days at most.',
    gift: 'Their checkout for somebody else’s wallet may still be paid. Wait three days at most.',
    refund: 'The payment processor has not confirmed a refund.',
    dispute: 'A bank may still return money from a dispute. Wait 90 days at most.',
    case: 'A payment needs a decision by an operator. Solve the case first.',
    waiting: 'An act waits for a second person. Confirm or reject it first.',
    rest: 'The wallet has less than can be paid back. Agree with the person that they give up this amount.',
  },
  moveWhat:
    'For a person who has lost access to their mailbox. They sign in with a code that is sent to the new address. Make sure that it is theirs.',
  to: 'New e-mail',
  effects: 'What it will do',
  mails: 'We e-mail both addresses.',
  same: 'They already sign in with this e-mail. Nothing would change.',
  moved: 'They now sign in with this e-mail. Their sessions have ended.',
} as const;
