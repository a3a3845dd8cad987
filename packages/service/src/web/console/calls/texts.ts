import type { ErrorCode } from '@purser/contract/errors.ts';
import type { TraceOutcome } from '#calls/traces/queries.ts';

/** The texts of the list of calls and of one call. */
export const CALLS_TEXTS = {
  title: 'Calls',
  what: 'The outcome of each call. Prompts and answers are never kept.',
  caption: 'Latest calls',
  columns: ['Ended', 'User', 'Model', 'Outcome', 'Tokens', 'Charged', 'Took'],
  none: 'No calls match. A call appears here within a second of its end.',
  noneYet: 'There are no calls in this mode yet. Make one in the playground, or with a key.',
  goOn: 'None of the latest calls match. Look at older ones.',
  sampled:
    'For a busy app, this list shows only some of the answered calls. The usage report and the charts count all of them.',
  older: 'Older calls',
  newest: 'Newest calls',
  find: 'Correlation ID or call ID',
  user: 'User',
  session: 'Session',
  model: 'Model',
  outcome: 'Outcome',
  all: 'All',
  stream: 'streamed',
  span: 'Period',
  spans: { '': 'All', hour: '1 h', day: '24 h', week: '7 d', month: '30 d' },
  from: 'From (UTC)',
  to: 'Before (UTC)',
  notAMoment: 'A time must look like 2027-06-30T14:05, in UTC.',
  endsFirst: '“From” must be earlier than “Before”.',
  follow: 'Keep the list up to date',
  followed: (seconds: number) => `New calls appear every ${seconds} seconds. Without scripts, reload the page.`,
  stop: 'Stop',
} as const;

export const OUTCOME_TEXTS: Readonly<Record<TraceOutcome, string>> = {
  answered: 'Answered',
  abandoned: 'Caller left',
  failed: 'Failed',
  refused: 'Refused',
  replayed: 'Answered again',
};

/** The texts of the page of one call. */
export const CALL_TEXTS = {
  title: 'One call',
  noneTitle: 'No such call',
  none: 'This app has no call with this ID, or the call is older than calls are kept.',
  life: 'Course of the call',
  admitted: 'Admitted',
  held: 'Held',
  provider: 'Sent to the model',
  settled: 'Settled',
  notAdmitted: 'Refused before money was put on hold',
  why: 'Why, and what to do',
  facts: 'Facts',
  callId: 'Call ID',
  correlationId: 'Correlation ID',
  user: 'User',
  session: 'Session',
  wire: 'Interface',
  model: 'Model',
  ended: 'Ended',
  took: 'Took',
  status: 'Status',
  param: 'Field at fault',
  said: 'Message of the answer',
  receipt: 'Receipt',
  tokens: 'Tokens',
  prompt: 'Prompt',
  cached: 'of which from the cache',
  cacheWrite: 'of which written to the cache',
  completion: 'Answer',
  reasoning: 'of which reasoning',
  charged: 'Charged',
  released: 'Returned',
  estimated: 'This service counted the tokens, because the provider did not report them.',
  late: 'Charged late: the gateway that answered was cut off, and the hold had been released by then. The wallet paid what it could.',
  free: 'Nothing was charged.',
  asData: 'For programs:',
  began: 'the key, the app and the rate limit were in order',
  heldUpTo: (amount: string) => `${amount} was put on hold, the most that the call could cost`,
  sandboxHeld: 'play money was put on hold',
  answeredBy: 'the answer came',
  abandonedBy: 'the caller left before the end; what had arrived by then is charged',
  failedBy: (kind: string) => `the provider failed (${kind}); the hold was released`,
  failedBare: 'it failed; the hold was released',
  chargedOf: (charged: string, released: string) => `${charged} charged, ${released} returned`,
  chargedOnly: (charged: string) => `${charged} charged`,
  replay: 'It carried the idempotency key of an earlier call and got its answer. It was not charged again.',
} as const;

/** The texts say for the developer of the app what a refusal means, and what to do. */
export const CODE_TEXTS: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST: 'Something in the request was not accepted. Correct it; trying again does not help.',
  UNAUTHORIZED: 'The key is missing, mistyped, expired or revoked.',
  PAYMENT_REQUIRED:
    'The user has no wallet for this app, is not connected, or has too little money. Send their browser to the top-up address in the answer.',
  APP_SPEND_CAP_EXCEEDED:
    'The user’s own monthly cap for this app is reached, or they have paused it. Send them to the top-up address, if there is one.',
  WALLET_SUSPENDED: 'A bank took money back from this wallet. The user has to ask the people who run this service.',
  APP_SUSPENDED: 'This app is suspended. Ask the people who run this service.',
  MODEL_NOT_ENTITLED:
    'The model is reserved for other apps, or this key may not call it. Choose one from “Models and prices”.',
  KEY_BUDGET_EXCEEDED:
    'The monthly budget of this key did not cover the call. Raise it on the page of the key, or wait for the first of the month (UTC).',
  NOT_FOUND: 'There is no such route or model.',
  PAYLOAD_TOO_LARGE: 'The body is too large. Send less.',
  TOO_MANY_REQUESTS: 'A rate limit was reached. Wait as long as `retry-after` said, and spread the calls out.',
  CONCURRENT_STREAM_LIMIT: 'This user had too many streams open at once. End one, or wait.',
  UPSTREAM_THROTTLED: 'The provider of the model was busy. Wait as long as `retry-after` said.',
  INTERNAL_SERVER_ERROR: 'This service failed. Tell the people who run it, and quote the correlation ID.',
  UPSTREAM_PROVIDER_ERROR:
    'The provider of the model refused or failed. `error.type` in the answer said which, and `x-should-retry` said whether trying again helps.',
  FORBIDDEN: 'The key may not be used from the address of the caller.',
  METHOD_NOT_ALLOWED: 'The route does not accept this method.',
  CONFLICT: 'The idempotency key was used with another body, or the earlier call was still running.',
};
