import type { SandboxOutcome } from '@purser/contract/sandbox.ts';

/** The texts of the list of users. */
export const USERS_TEXTS = {
  title: 'Users',
  what: 'Users with a connected wallet. Someone who has disconnected is not here, like someone who never connected. Balances, mail addresses and names stay with their owners.',
  caption: 'Users',
  columns: ['User', 'Connected since', 'Last charged call', 'Spent this month'],
  none: 'No user with a connected wallet fits.',
  noneYet: 'No user yet. The first one connects a wallet with the link of a 402 answer, or with one of POST /connect.',
  capReached: 'Cap reached',
  beginsWith: 'User ID begins with',
  never: 'none yet',
  more: 'Next page',
  first: 'First page',
} as const;

/** The texts of the page of one user. */
export const USER_TEXTS = {
  none: 'This app has no user with this id who has a connected wallet.',
  noneTitle: 'No such user',
  thisMonth: 'Spent this month',
  noCap: 'No cap',
  exactly: (amount: string) => `Exactly ${amount}.`,
  ofCap: (cap: string) => `Cap ${cap} a month.`,
  inAll: 'Spent in all',
  connected: 'Connected since',
  last: 'Last charged call',
  whatReached:
    'Calls are refused with 402 APP_SPEND_CAP_EXCEEDED until the user raises the cap or the month ends. A user who has paused your app looks the same.',
  calls: 'Latest calls',
  columns: ['Ended', 'Model', 'Outcome', 'Charged'],
  noCalls: 'No call of this user in the latest 5,000 of the app.',
  allCalls: 'All calls of this user',
  hidden: 'The balance, mail address and name stay with the owner of the wallet.',
} as const;

/** The texts of the page of test users. */
export const SANDBOX_TEXTS = {
  title: 'Sandbox',
  what: 'A call with a test key is answered here: no provider is asked, and play money pays. The first call of a test user makes a wallet with the grant.',
  caption: 'Test users',
  columns: ['User', 'Balance', 'Reserved', 'Cap a month', 'Calls', 'Tokens', 'Next call'],
  none: 'No test user yet. Set one up above, or make a call with a test key.',
  noCap: 'none',
  suspended: 'Suspended',
  usual: 'as usual',
  more: 'Next page',
  first: 'First page',
  next: 'Make the next call fail',
  user: 'User ID',
  userHint: 'What you send as x-service-user. A user without a wallet gets one.',
  plays: 'Their next call plays',
  nextWhat:
    'Exactly one call takes it, for every model: the next one that gets a hold. The model sandbox/throttled always plays throttled, and so on.',
  asUsual: 'as usual: clears what was set',
  setNext: 'Set the next call',
  call: 'Make a call of this user in the playground',
  change: 'Set the wallet of a test user',
  becomes: 'Their wallet becomes',
  wallets: [
    ['reset', 'new: the grant and no cap'],
    ['empty', 'empty: 402 PAYMENT_REQUIRED'],
    ['capped', 'at its cap: 402 APP_SPEND_CAP_EXCEEDED'],
    ['suspended', 'suspended: 402 WALLET_SUSPENDED'],
    ['other', 'what I type'],
  ],
  setWhat:
    'For every call, until you set it again. Holds, counters, kept answers and a set next call of the user are dropped.',
  balance: (currency: string) => `Balance in ${currency}`,
  cap: (currency: string) => `Cap a month in ${currency}`,
  emptyFields: 'Empty fields become the grant and no cap.',
  isSuspended: 'The wallet is suspended',
  set: 'Set the wallet',
  nothingChosen: 'Choose what the next call plays, or what the wallet becomes.',
  code: 'As code, for automated tests',
  codeWhat: 'PURSER_TESTER_KEY is a sandbox key for automated tests: it resets test users and makes no calls.',
  makeKey: 'Create one',
  callCode: 'A call with a model that is always throttled',
  nextCode: 'The next call of a user is throttled',
  resetCode: 'A test user with a balance of 2 and a cap of 1',
  amountFault: 'Balance and cap: write digits, with at most one point or comma.',
  done: {
    set: (user: string) => `The wallet of ${user} was set.`,
    next: (user: string, outcome: string) => `The next call of ${user} plays ${outcome}.`,
    cleared: (user: string) => `The next call of ${user} plays what its model asks for.`,
  },
} as const;

/** What each outcome does, in a few words. docs/SANDBOX.md has every detail. */
export const OUTCOME_TEXTS: Readonly<Record<SandboxOutcome, string>> = {
  throttled: '429 UPSTREAM_THROTTLED',
  error: '502 UPSTREAM_PROVIDER_ERROR',
  rejected: '502: the provider rejects the request',
  timeout: '502 after 5 seconds',
  'late-error': '502 after 12 seconds; in a stream an error frame',
  'error-midway': 'A stream begins and ends with an error frame; 502 if plain',
  'throttled-midway': 'A stream begins and ends with UPSTREAM_THROTTLED; 429 if plain',
  stalled: 'A stream begins, stops for 5 seconds and fails; 502 if plain',
  unfinished: 'A stream ends without a finish reason; 502 if plain',
  length: '200, cut at the limit: finish reason length',
  'content-filter': '200, finish reason content_filter',
  refusal: '200: the model refuses in message.refusal',
  'tool-call': '200: calls the first of your tools',
  'no-usage': '200 without usage: we count the tokens',
  slow: '200 after 12 seconds',
  long: 'Streams 300 numbers for 30 seconds',
};
