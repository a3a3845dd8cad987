/** What the pages say on which somebody lets an app spend from a wallet. */
export const CONNECT_TEXTS = {
  title: (app: string) => `Connect ${app}`,
  againTitle: (app: string) => `${app} is connected`,
  asks: (app: string) => `${app} asks to be paid from a wallet of yours for what you do there.`,
  connected: (app: string) => `${app} may spend from this wallet. You can change the monthly cap here.`,
  before: 'You have connected this app before. What was in the wallet is there still.',

  account: 'Your account there',

  mayTitle: 'What the app may do',
  may: [
    'Spend from this wallet for what you do in the app, up to the monthly cap.',
    'See what is in this wallet and what the app has spent of it.',
  ],
  mayNotTitle: 'What it may not do',
  mayNot: [
    'Put money in, or take money out: that is yours alone.',
    'Spend more than the wallet holds, or see anything else of yours.',
  ],
  stop: 'You can change the cap, pause the app or disconnect it at any time.',

  cap: 'Monthly cap',
  capHint: 'The most that the app can spend in a month. It is no payment.',
  noCap: 'No cap',
  otherCap: 'Another amount',
  otherAmount: (currency: string) => `Another amount, in ${currency}`,
  noChoice: 'Choose a monthly cap.',
  twoCaps: 'Choose “Another amount” for the amount that you typed, or leave its field empty.',
  tooLittle: 'A cap must be more than nothing.',

  own: (app: string) => `I came here from ${app} myself, and this account there is mine.`,
  warning: (app: string) =>
    `Only if you came here from ${app} yourself: if somebody sent you this link, you would pay for what they do.`,
  oneMore: (app: string) =>
    `You have connected another account at ${app} before. If you have only that one there, this is somebody else’s: do not connect it.`,
  notConfirmed: 'Confirm that the account is yours, or go back without connecting.',

  connect: 'Connect',
  save: 'Save and go on',
  cancel: 'Cancel',

  doneTitle: (app: string) => `${app} is connected`,
  done: 'It can spend once there is money in the wallet.',
  leavingTitle: (app: string) => `Back to ${app} ...`,
  backTo: (app: string) => `Back to ${app}`,

  goneTitle: 'The way back is closed',
  gone: (app: string) => `${app} no longer takes people back where this link leads, so we do not send you there.`,
  goneAdvice: 'Go back to the app by yourself. What you have done here stays as it is.',
} as const;
