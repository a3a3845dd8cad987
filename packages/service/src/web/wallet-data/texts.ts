/** The texts of the pages about a person's own data. */
export const DATA_TEXTS = {
  title: 'Your data',
  lead: 'What we keep about you here, and how to download or delete it.',
  exportTitle: 'A copy of everything',
  exportWhat:
    'One JSON file with your e-mail address, sign-ins, passkeys (their dates), sessions, wallets, movements, payments and refunds, receipts of calls, alerts and e-mails. We never keep what you asked a model or what it answered.',
  exportButton: 'Download the file',
  fileName: 'my-data.json',
  deleteTitle: 'Delete your personal data',
  deleteWhat: [
    'Your e-mail address, sessions, passkeys, alerts and e-mails are removed, and apps can no longer spend for you.',
    'We must keep the books: entries, receipts and payments stay under the name that each app uses for you, without your e-mail address.',
    'This cannot be undone. If you sign in again later with the same e-mail address, you start as a new person.',
  ],
  deleteButton: 'Delete my data for good',
  deleteOpen: 'Delete my data',
  proveTitle: 'Sign in again first',
  prove:
    'Please sign in again, so that nobody else can do this in a browser that you left open. You then have ten minutes.',
  proveButton: 'Sign in again',
  notYet: 'Your data cannot be deleted yet:',
  obstacles: {
    money: (app: string) => `Your wallet for ${app} has money in it.`,
    held: (app: string) => `${app} is making a call that you are paying for. Try again in a minute.`,
    debt: (app: string) => `Your wallet for ${app} has not been settled.`,
    checkout: (app: string) => `A payment that was started for ${app} may still arrive. Try again in three days.`,
    gift: () => 'A payment that you started may still arrive. Try again in three days.',
    refund: (app: string) => `A refund from ${app} is on its way. Try again when it has arrived.`,
    dispute: (app: string) =>
      `Your bank took back a payment for ${app} and may still return it. That can take 90 days.`,
    case: (app: string) => `A payment for ${app} is being reviewed.`,
    waiting: (app: string) =>
      `The operator is about to book something in your wallet for ${app}. That takes a day at most.`,
    rest: (app: string) => `Your wallet for ${app} has less than can be paid back.`,
  },
  refund: 'Get a refund first',
  ask: (email: string) => `Please ask ${email}.`,
  /** None of the money can be paid back: it came otherwise, or the wallet is blocked. */
  moneyStays: (app: string): string =>
    `Your wallet for ${app} has money that cannot be paid back to a card. Only the operator of this service can take it out.`,
  givesUp: (amount: string, app: string, least: string): string =>
    `You also give up ${amount} in your wallet for ${app}. The smallest amount that can be paid back is ${least}.`,
  deleteAndGiveUp: (amounts: string): string => `Delete my data for good and give up ${amounts}`,
  restChanged: 'The amount that you would give up has changed. Nothing was deleted. Please look at it again.',
  receiptTitle: 'Receipt',
  receiptWhat:
    'You gave up what was left. We cannot e-mail this receipt, as we no longer have your address: save or print this page if you want to keep it.',
  receiptAmount: 'Given up',
  receiptApp: 'App',
  receiptUser: 'Your account there',
  receiptAt: 'When',
  elsewhereTitle: 'What this page covers',
  elsewhere: 'We keep wallets at several addresses, and this page covers only this one. You find the rest here:',
  elsewhereAt: (host: string) => `Your data at ${host}`,
  elsewhereAway: 'One of our servers is not responding and is missing here. Please try again in a few minutes.',
  gone: 'Your data was deleted, and you are signed out.',
  goneTitle: 'Your data was deleted',
  toWallet: 'Go to your wallet',
} as const;
