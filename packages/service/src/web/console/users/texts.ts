import type { SandboxOutcome } from '@purser/contract/sandbox.ts';

/** The texts of the list of users. */
export const USERS_TEXTS = {
  title: 'Users',
  what: 'Users with a connected wallet. You do not see users who have disconnected, nor anybody’s balance, e-mail address or name.',
  caption: 'Users',
  columns: ['User', 'Connected since', 'Last charged call', 'Spent this month'],
  none: 'No users with a connected wallet match.',
  noneYet:
    'There are no users yet. A user connects a wallet with the link in a 402 answer, or with one from POST /connect.',
  capReached: 'Cap reached',
  beginsWith: 'User ID begins with',
  never: 'none yet',
  older: 'Next page',
  newest: 'First page',
} as const;

/** The texts of the page of one user. */
export const USER_TEXTS = {
  none: 'This app has no user with this ID and a connected wallet.',
  noneTitle: 'No such user',
  thisMonth: 'Spent this month',
  noCap: 'No cap',
  exactly: (amount: string) => `Exactly ${amount}.`,
  ofCap: (cap: string) => `Cap ${cap} a month.`,
  inAll: 'Spent in total',
  connected: 'Connected since',
  last: 'Last charged call',
  whatReached:
    'Calls are refused with 402 APP_SPEND_CAP_EXCEEDED until the user raises the cap or the month ends. A user who has paused your app looks the same.',
  calls: 'Latest calls',
  columns: ['Ended', 'Model', 'Outcome', 'Charged'],
  noCalls: 'None of the app’s latest 5,000 calls is from this user.',
  allCalls: 'All calls of this user',
  sessions: 'Sessions of coding agents',
  hidden: 'Only the owner of the wallet sees its balance and their e-mail address.',
} as const;

/** The texts of the page of sessions of one user. */
export const SESSIONS_TEXTS = {
  title: (user: string) => `Sessions of ${user}`,
  what: 'Claude Code, Codex and opencode name the session that a call belongs to. Calls of other clients are in no session. A session is forgotten some days after its last call.',
  caption: 'Sessions, newest first',
  none: 'No coding agent has named a session of this user in the last days.',
  noTestUser: 'This app has no test user with this ID.',
  newest: 'Newest sessions',
  older: 'Older sessions',
} as const;

/** The texts of the page of test users. */
export const SANDBOX_TEXTS = {
  title: 'Sandbox',
  what: 'Calls with a test key are answered by the sandbox: no provider is called, and they are paid with play money. The first call of a test user creates a wallet with the starting balance.',
  caption: 'Test users',
  columns: ['User', 'Balance', 'On hold', 'Monthly cap', 'Calls', 'Tokens', 'Next call'],
  none: 'There are no test users yet. Set one up above, or make a call with a test key.',
  noCap: 'none',
  suspended: 'Suspended',
  usual: 'as usual',
  older: 'Next page',
  newest: 'First page',
  next: 'Make the next call fail',
  user: 'User ID',
  userHint: 'The name that you send as x-service-user. A user without a wallet gets one.',
  plays: 'Outcome of their next call',
  nextWhat:
    'It applies to exactly one call, with any model: the next one for which money is put on hold. To get an outcome every time, call its model, for example sandbox/throttled.',
  asUsual: 'as usual (clears what was set)',
  setNext: 'Set the next call',
  call: 'Make a call as this user in the playground',
  sessions: 'Their sessions of coding agents',
  change: 'Set the wallet of a test user',
  becomes: 'New state of their wallet',
  wallets: [
    ['reset', 'new: the starting balance and no cap'],
    ['empty', 'empty: 402 PAYMENT_REQUIRED'],
    ['capped', 'cap reached: 402 APP_SPEND_CAP_EXCEEDED'],
    ['suspended', 'suspended: 402 WALLET_SUSPENDED'],
    ['other', 'the values below'],
  ],
  setWhat:
    'It applies to all calls until you set it again. The user’s holds, counters, kept answers and next outcome are cleared.',
  balance: (currency: string) => `Balance in ${currency}`,
  cap: (currency: string) => `Monthly cap in ${currency}`,
  emptyFields: 'Empty fields mean the starting balance and no cap.',
  isSuspended: 'The wallet is suspended',
  set: 'Set the wallet',
  nothingChosen: 'Choose an outcome for the next call, or a state for the wallet.',
  code: 'As code, for automated tests',
  codeWhat: 'PURSER_TEST_TOKEN is a test token: it reads and resets test users, and makes no calls.',
  callCode: 'A call with a model that is always throttled',
  listCode: 'All test users',
  resetCode: 'A test user with a balance of 2 and a cap of 1',
  amountFault: 'Balance and cap: use digits, with at most one point or comma.',
  done: {
    set: (user: string) => `The wallet of ${user} was set.`,
    next: (user: string, outcome: string) => `The next call of ${user} will have the outcome ${outcome}.`,
    cleared: (user: string) => `The next call of ${user} will be answered as usual.`,
  },
} as const;

/** The part with the tokens for automated tests. */
export const TEST_TOKEN_TEXTS = {
  heading: 'Test tokens',
  what: 'Automated tests set up their users with a token. It reads and resets the test users of this app and opens nothing else, until you revoke it or are no owner any more.',
  make: 'Make a test token',
  made: 'Your test token',
  once: 'Copy it now. It is not shown again.',
  token: 'Token',
  caption: 'Current test tokens',
  columns: ['Made by', 'Last used', 'Revoke'],
  never: 'Never',
  revoke: 'Revoke',
  revoked: 'The test token was revoked. It opens nothing any more.',
} as const;

/** What each outcome does, in a few words. docs/SANDBOX.md has every detail. */
export const OUTCOME_TEXTS: Readonly<Record<SandboxOutcome, string>> = {
  throttled: '429 UPSTREAM_THROTTLED',
  error: '502 UPSTREAM_PROVIDER_ERROR',
  rejected: '502: the provider rejects the request',
  timeout: '502 after 5 seconds',
  'late-error': '502 after 12 seconds; an error frame in a stream',
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
