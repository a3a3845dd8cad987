/** The texts of the pages on which somebody lets an app spend from a wallet. */
export const CONNECT_TEXTS = {
  title: (app: string) => `Connect ${app}`,
  againTitle: (app: string) => `${app} is connected`,
  connected: (app: string) => `${app} can spend from this wallet. You can change the monthly cap here.`,
  before: 'You connected this app before. The money in the wallet is still there.',

  /** Names the user of the app, in the app's words: people should see at a glance if it is not theirs. */
  account: 'Account there',
  /** The label of whose wallet it is: that of the person who is signed in. */
  payer: 'Paid by',

  // The rights, which are the same for every app.
  mayTitle: 'What the app can do',
  may: [
    'Spend from this wallet for what you do in the app, up to the monthly cap.',
    'See the balance of this wallet and what the app has spent from it.',
  ],
  mayNotTitle: 'What it cannot do',
  mayNot: [
    'Put money in or take money out. That is up to you.',
    'Spend more than the wallet holds, or see anything else about you.',
  ],
  stop: 'You can change the cap, pause the app or disconnect it at any time.',

  // The form.
  cap: 'Monthly cap',
  capHint: 'You can change it at any time.',
  noCap: 'No cap',
  otherCap: 'Another amount',
  otherAmount: (currency: string) => `Another amount, in ${currency}`,
  noChoice: 'Choose a monthly cap.',
  twoCaps: 'You typed an amount but chose another cap. Choose “Another amount”, or leave the field empty.',
  tooLittle: 'The cap must be more than zero.',

  /** The statement of the box. It cannot be checked for people, so a page of ours never checks it at first. */
  own: (app: string) =>
    `I came here from ${app} myself, not through a link that somebody sent me, and the account there is mine.`,
  /** The text is for somebody who has another account at the app. A link sent by a stranger looks exactly like this. */
  oneMore: (app: string) =>
    `You have already connected another account at ${app}. If you have only that one, this account is somebody else’s: do not connect it.`,
  notConfirmed: 'Confirm that the account is yours, or go back without connecting.',

  connect: 'Connect',
  save: 'Save and continue',
  cancel: 'Cancel',

  // After connecting.
  doneTitle: (app: string) => `${app} is connected`,
  done: 'It can spend as soon as there is money in the wallet.',
  leavingTitle: (app: string) => `Back to ${app} ...`,
  backTo: (app: string) => `Back to ${app}`,

  /** The app removed the address from its allow-list. The address itself is not shown: it may be somebody else's by now. */
  goneTitle: 'We cannot take you back',
  gone: (app: string) => `${app} no longer uses the address in this link, so we cannot send you there.`,
  goneAdvice: 'Please return to the app yourself. What you did here has been saved.',
} as const;
