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
  ofCap: (cap: string) => `of ${cap} a month`,
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
  none: 'No test user yet. Make a call with a test key, or set one up below.',
  noCap: 'none',
  suspended: 'Suspended',
  usual: 'as usual',
  more: 'Next page',
  first: 'First page',
  change: 'Set up a test user',
  user: 'User ID',
  userHint: 'What you send as x-service-user. A user without a wallet gets one.',
  wallet: 'Wallet',
  balance: (currency: string) => `Balance in ${currency}`,
  cap: (currency: string) => `Cap a month in ${currency}`,
  isSuspended: 'The wallet is suspended',
  set: 'Set the wallet',
  setWhat: 'Empty fields become the grant and no cap. Holds, counters and kept answers of the user are dropped.',
  refuse: 'Refuse every call until you set the wallet again',
  refusals: [
    ['empty', '402 no balance'],
    ['capped', '402 cap reached'],
    ['suspended', '402 suspended'],
    ['reset', 'Back to the grant'],
  ],
  next: 'Make the next call play',
  nextWhat: 'Exactly one call takes it, for every model: the next one that gets a hold.',
  clear: 'Clear',
  outcomes: 'Outcomes',
  outcomesWhat:
    'Each is also a model that always plays it. A call is priced like the first model that your app may call.',
  outcomeColumns: ['Model', 'What it does'],
  code: 'As code',
  callCode: 'A call that is throttled',
  nextCode: 'The next call of a user fails, set by a program',
  resetCode: 'A test user with 2 units and a cap of 1',
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
