/** What the pages say by which money gets into a wallet. */
export const TOPUP_TEXTS = {
  title: (app: string) => `Top up your wallet for ${app}`,
  giftTitle: (app: string) => `Pay into a wallet for ${app}`,
  available: 'You can spend now',
  explain: (app: string) =>
    `The money goes into your wallet for ${app}. Nothing is spent before ${app} uses it for you.`,
  gift: 'This wallet belongs to somebody else. You may pay into it as a gift: the money will be the owner’s, and you cannot get it back here.',
  suspended: (operator: string) =>
    `This wallet is blocked, and nothing can be spent from it. Contact ${operator}. You can pay in, but that does not lift the block.`,
  amount: 'Amount',
  least: (amount: string) => `${amount}, the least that lets your last call through`,
  other: (currency: string) => `Another amount, in ${currency}`,
  range: (least: string, most: string) => `From ${least} to ${most}. You see the amount once more before you pay.`,
  goOn: 'Continue to payment',
  skip: 'Not now',
  chooseOne: 'Choose an amount, or type one.',
  chooseOnlyOne: 'You chose an amount and typed another. Choose one, or type one.',
  notAnAmount: (least: string, most: string, unit: string) =>
    `Type an amount from ${least} to ${most}, in steps of ${unit}, for example 12.50.`,
  away: 'The payment processor cannot be reached now. Nothing was taken. Try again in a few minutes.',
  notSetUp: (operator: string) => `Payments are not set up here. Contact ${operator}.`,
} as const;

/** Of a link whose call the monthly cap refused. */
export const CAP_TEXTS = {
  title: (app: string) => `Your monthly cap for ${app}`,
  reached: (app: string) => `${app} wanted to spend more this month than you allow.`,
  paused: (app: string) => `You paused spending by ${app}. Setting a cap ends the pause.`,
  present: 'Cap',
  none: 'none',
  spent: 'Spent this month',
  field: (currency: string) => `New monthly cap, in ${currency}`,
  set: 'Set this cap',
  unlimited: 'No cap',
  notAnAmount: 'Type an amount, for example 20 or 12.50.',
  pay: 'Keep the cap and top up',
  done: (app: string) =>
    `The cap is set, and ${app} can go on within it. Top up if there is too little in your wallet.`,
} as const;

/** Where a payer waits for the money. */
export const CHECKOUT_TEXTS = {
  amount: 'Amount',
  app: 'Wallet for',
  openTitle: 'Your payment is on its way',
  open: 'We are waiting for the payment processor to confirm it. This usually takes a few seconds.',
  slow: 'It takes longer than usual. Nothing is lost: what you paid gets into the wallet as soon as it is confirmed, also when you close this page. If you did not pay, nothing was taken.',
  unpaidTitle: 'Not paid yet',
  unpaid: 'No money was taken. If you did pay, this page shows it when it arrives.',
  tryAgain: 'Try again',
  tryFromApp: (app: string) => `To try again, go back to ${app} and open its link.`,
  paidTitle: 'The money has arrived',
  paid: (amount: string, app: string) => `${amount} went into the wallet for ${app}.`,
  available: 'You can spend now',
  onTo: (app: string) => `Go on to ${app}`,
  backTo: (app: string) => `You can go back to ${app} now.`,
  wallet: 'To your wallet',
  passkey: 'Next time without a code from the mail?',
  addPasskey: 'Add a passkey',
  keptTitle: 'We have your payment',
  kept: (operator: string) =>
    `It was not as expected, so that it is not in the wallet yet. Nothing is lost: ${operator} looks at it.`,
  goneTitle: 'Nothing to see here',
  gone: 'There is no payment at this address.',
} as const;
