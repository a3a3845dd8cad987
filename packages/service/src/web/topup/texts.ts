/** The texts of the pages on which somebody pays into a wallet. */
export const TOPUP_TEXTS = {
  title: (app: string) => `Top up your wallet for ${app}`,
  giftTitle: (app: string) => `Pay into a wallet for ${app}`,
  available: 'You can spend now',
  explain: (app: string) =>
    `The money goes into your wallet for ${app}. Nothing is spent until ${app} uses it for you, and you see the amount again before you pay.`,
  /** This text is for a payer who is not the owner, and who sees no figure of the wallet. */
  gift: 'This wallet belongs to somebody else. You can pay into it as a gift: the money then belongs to the owner, and you cannot get it back here.',
  suspended: (operator: string) =>
    `This wallet is blocked, so nothing can be spent from it. Please contact ${operator}. You can pay in, but that does not lift the block.`,
  amount: 'Amount',
  /** An amount that is offered beside the round ones, after a refused call. */
  least: (amount: string) => `${amount}, just enough for the request that was refused`,
  other: 'Another amount',
  otherIn: (currency: string) => `Another amount, in ${currency}`,
  range: (least: string, most: string) => `From ${least} to ${most}.`,
  goOn: 'Continue to payment',
  skip: 'Not now',
  chooseOne: 'Choose an amount or type one.',
  chooseOnlyOne: 'You chose one amount and typed another. Either choose an amount or type one.',
  notAnAmount: (least: string, most: string, unit: string) =>
    `Type an amount from ${least} to ${most}, in steps of ${unit}, for example 12.50.`,
  away: 'We cannot reach the payment processor right now. You have not been charged. Please try again in a few minutes.',
  notSetUp: (operator: string) => `Payments are not set up here. Please contact ${operator}.`,
} as const;

/** The texts of the top-up page if the owner's cap or pause stops the app, so that paying alone would not help. */
export const STOP_TEXTS = {
  capped: (app: string, cap: string, spent: string) =>
    `Your monthly cap for ${app} is ${cap}, and ${spent} of it is spent. Paying in does not change that: ${app} cannot spend until you raise the cap or a new month begins.`,
  paused: (app: string) =>
    `You paused ${app}. Paying in does not change that: ${app} cannot spend until you resume spending.`,
  cap: 'Your monthly cap',
  pause: 'Your pause',
  raise: (cap: string) => `Raise it to ${cap}`,
  keep: (cap: string) => `Keep it at ${cap}`,
  resume: 'Resume spending',
  resumeRaised: (cap: string) => `Resume spending, with a cap of ${cap}`,
  stayPaused: 'Stay paused',
  chooseCap: 'Choose whether to raise the monthly cap or keep it.',
  choosePause: 'Choose whether to resume spending or stay paused.',
} as const;

/** The texts for an owner whose monthly cap or pause refused a call. */
export const CAP_TEXTS = {
  title: (app: string) => `Your monthly cap for ${app}`,
  reached: (app: string) => `${app} tried to spend more this month than your cap allows.`,
  pausedTitle: (app: string) => `You paused ${app}`,
  paused: (app: string) =>
    `${app} tried to spend from your wallet and was refused, because you paused it. It can spend again as soon as you resume.`,
  resume: 'Resume spending',
  resumed: (app: string) => `${app} can spend again. Top up if your balance is too low.`,
  stayPaused: 'Top up without resuming',
  monthlyCap: 'Monthly cap',
  present: 'Current cap',
  none: 'None',
  spent: 'Spent this month',
  field: (currency: string) => `New monthly cap, in ${currency}`,
  set: 'Set this cap',
  unlimited: 'No cap',
  notAnAmount: 'Type an amount, for example 20 or 12.50.',
  pay: 'Top up without changing the cap',
  done: (app: string) => `The cap is set, and ${app} can spend up to it. Top up if your balance is too low.`,
} as const;

/** The texts of the page on which a payer waits for the money. */
export const CHECKOUT_TEXTS = {
  amount: 'Amount',
  app: 'Wallet for',
  openTitle: 'Your payment is on its way',
  open: 'We are waiting for the payment processor to confirm it. This usually takes a few seconds.',
  /** Appears after a minute. Says what matters to somebody who has paid: nothing is lost, and the page need not stay open. */
  slow: 'This is taking longer than usual. Nothing is lost: your payment goes into the wallet as soon as it is confirmed, even if you close this page. If you did not pay, you have not been charged.',
  unpaidTitle: 'Not paid yet',
  unpaid: 'You have not been charged. If you did pay, this page shows the money when it arrives.',
  tryAgain: 'Try again',
  tryFromApp: (app: string) => `To try again, go back to ${app} and open its link again.`,
  paidTitle: 'The money has arrived',
  paid: (amount: string, app: string) => `${amount} went into the wallet for ${app}.`,
  available: 'You can spend now',
  onTo: (app: string) => `Continue to ${app}`,
  backTo: (app: string) => `You can go back to ${app} now.`,
  wallet: 'Go to your wallet',
  balance: 'In your wallet',
  /** What stands between the money and the app, and what to do about it. */
  stillPaused: (app: string) => `You paused ${app}, so it cannot spend this money until you resume spending.`,
  resume: 'Resume spending',
  stillCapped: (app: string, cap: string) =>
    `Your monthly cap of ${cap} for ${app} is used up, so it cannot spend this money until you raise the cap or a new month begins.`,
  partlyCapped: (app: string, cap: string, room: string) =>
    `Your monthly cap for ${app} is ${cap}, so it can spend ${room} of your money this month.`,
  changeCap: 'Change the cap',
  stillDisconnected: (app: string) =>
    `You disconnected ${app}, so it cannot spend this money until you connect it again.`,
  connect: 'Connect again',
  stillBlocked: (operator: string) =>
    `This wallet is blocked, so nothing can be spent from it. Please contact ${operator}.`,
  passkey: 'Would you like to sign in without a code next time?',
  addPasskey: 'Add a passkey',
  keptTitle: 'We have your payment',
  /** A payment that is confirmed but was not credited, until an operator has looked at it. */
  kept: (operator: string) =>
    `The payment was not as expected, so it is not in the wallet yet. Nothing is lost: ${operator} will look into it.`,
  goneTitle: 'There is nothing here',
  gone: 'There is no payment at this address.',
} as const;
