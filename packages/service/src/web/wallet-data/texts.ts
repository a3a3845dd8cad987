/** The texts of the pages about a person's own data. */
export const DATA_TEXTS = {
  title: 'Your data',
  lead: 'What is kept about you here, and how to take it with you or end it.',
  exportTitle: 'A copy of everything',
  exportWhat:
    'One JSON file with your e-mail, sign-ins, passkeys (their dates), sessions, wallets, movements, payments and refunds, receipts of calls, alerts and mails. What you asked a model, and what it answered, is never kept.',
  exportButton: 'Download the file',
  fileName: 'my-data.json',
  deleteTitle: 'Delete yourself',
  deleteWhat: [
    'Your e-mail, sessions, passkeys, alerts and mails are removed, and no app can spend for you any more.',
    'The books must stay: entries, receipts and payments are kept under the name that each app uses for you, without your e-mail.',
    'This cannot be undone. You may sign in again later with the same e-mail. You then begin as a new person.',
  ],
  deleteButton: 'Delete me for good',
  deleteOpen: 'Delete me',
  proveTitle: 'Sign in once more',
  prove:
    'For this, sign in again first, so that nobody else can do it in your open browser. It then works for ten minutes.',
  proveButton: 'Sign in again',
  notYet: 'You cannot delete yourself yet:',
  obstacles: {
    money: (app: string) => `Your wallet for ${app} has money in it.`,
    held: (app: string) => `${app} is making a call that you pay for. Try again in a minute.`,
    debt: (app: string) => `Something about your wallet for ${app} is not settled.`,
    checkout: (app: string) => `A payment that was begun for ${app} may still arrive. Try again in three days.`,
    gift: () => 'A payment that you began may still arrive. Try again in three days.',
    refund: (app: string) => `A refund from ${app} is on its way. Try again when you have it.`,
    dispute: (app: string) =>
      `Your bank took back a payment for ${app} and may still return it. That can take 90 days.`,
    case: (app: string) => `A payment for ${app} is being looked at.`,
  },
  refund: 'Get it back first',
  ask: (email: string) => `Please ask ${email}.`,
  rest: 'If it is less than can be paid back, or did not come from a payment of yours, ask the operator of this service: only they can book it out.',
  elsewhereTitle: 'What this page covers',
  elsewhere: 'We keep wallets at several addresses, and this page covers this one only. Find the rest here:',
  elsewhereAt: (host: string) => `Your data at ${host}`,
  elsewhereAway: 'A server of ours does not answer and is missing here. Please try again in a few minutes.',
  gone: 'You were deleted. You are signed out.',
  goneTitle: 'You were deleted',
  toWallet: 'To your wallet',
} as const;
