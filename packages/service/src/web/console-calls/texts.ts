import type { ErrorCode } from '@purser/contract/errors.ts';
import type { TraceOutcome } from '#traces/queries.ts';

/** The texts of the list of calls and of one call. */
export const CALLS_TEXTS = {
  title: 'Calls',
  what: 'What became of each call. No prompt and no answer is ever kept.',
  caption: 'Latest calls',
  columns: ['Ended', 'User', 'Model', 'What became of it', 'Tokens', 'Charged', 'Took'],
  none: 'No call fits. Calls appear here within a second of their end.',
  noneYet: 'No calls yet in this mode. Make one in the playground, or with a key.',
  goOn: 'None of the latest calls fits. Look at older ones.',
  sampled: 'Of a busy app, the list has some of the answered calls; the usage report and the charts have all.',
  older: 'Older calls',
  newest: 'Newest calls',
  find: 'Correlation id or call id',
  user: 'User',
  model: 'Model',
  outcome: 'What became of it',
  all: 'Everything',
  stream: 'streamed',
  span: 'Calls of the last',
  spans: { '': 'All', hour: '1 h', day: '24 h', week: '7 d', month: '30 d' },
  from: 'From (UTC)',
  to: 'Until before (UTC)',
  notAMoment: 'A moment must look like 2027-06-30T14:05, in UTC.',
  endsFirst: 'The list would end before it begins. “From” must be earlier than “Until before”.',
  follow: 'Keep the list current',
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
  none: 'No call of this app has this id, or it ended longer ago than calls are kept for.',
  life: 'Its life',
  admitted: 'Admitted',
  held: 'Held',
  provider: 'Asked the model',
  settled: 'Settled',
  notAdmitted: 'Refused before it had a hold',
  why: 'Why, and what to do',
  facts: 'Facts',
  callId: 'Call id',
  correlationId: 'Correlation id',
  user: 'User',
  model: 'Model',
  ended: 'Ended',
  took: 'Took',
  status: 'Status',
  receipt: 'Receipt',
  tokens: 'Tokens',
  prompt: 'Prompt',
  cached: 'of it from the cache',
  cacheWrite: 'of it written to the cache',
  completion: 'Answer',
  reasoning: 'of it reasoning',
  charged: 'Charged',
  released: 'Given back',
  estimated: 'Counted by this service, because the provider did not say.',
  late: 'Charged late: the gateway that answered was cut off, and its hold had been released by then. The wallet paid what it could.',
  free: 'Nothing was charged.',
  asData: 'The same as data:',
  began: 'its key, its app and its rate limit were in order',
  heldUpTo: (amount: string) => `${amount} were set aside, the most that it could cost`,
  sandboxHeld: 'play money was set aside',
  answeredBy: 'the answer came',
  abandonedBy: 'the caller left before the end; what had come until then is charged',
  failedBy: (kind: string) => `the provider failed the call (${kind}); the hold was given back`,
  failedBare: 'it failed; the hold was given back',
  chargedOf: (charged: string, released: string) => `${charged} charged, ${released} given back`,
  chargedOnly: (charged: string) => `${charged} charged`,
  replay: 'It carried the idempotency key of an earlier call and got its answer. It was not charged again.',
} as const;

/** For the developer of the app: what a refusal means, and what to do. */
export const CODE_TEXTS: Readonly<Record<ErrorCode, string>> = {
  BAD_REQUEST:
    'Something in the request is not accepted. The message of the answer named the field. Correct it; trying again does not help.',
  UNAUTHORIZED: 'The key is missing, mistyped, expired or revoked.',
  PAYMENT_REQUIRED:
    'The user has no wallet for this app, is not connected, or has too little money. Send their browser to the top-up address of the answer.',
  APP_SPEND_CAP_EXCEEDED:
    'The user’s own monthly cap for this app is reached, or they have paused it. Send them to the top-up address, if there is one.',
  WALLET_SUSPENDED: 'A bank took money back from this wallet. The user has to ask the people who run this service.',
  APP_SUSPENDED: 'This app is suspended. Ask the people who run this service.',
  MODEL_NOT_ENTITLED:
    'The model is reserved for other apps, or not among those of this key. Choose one from the page of models.',
  KEY_BUDGET_EXCEEDED:
    'The monthly budget of this key did not cover the call. Raise it on the page of the key, or wait for the first of the month (UTC).',
  NOT_FOUND: 'There is no such route or model.',
  PAYLOAD_TOO_LARGE: 'The body is too large. Send less.',
  TOO_MANY_REQUESTS: 'A rate limit was reached. Wait as long as `retry-after` said, and spread the calls out.',
  CONCURRENT_STREAM_LIMIT: 'This user had too many streams open at once. End one, or wait.',
  UPSTREAM_THROTTLED: 'The provider of the model was busy. Wait as long as `retry-after` said.',
  INTERNAL_SERVER_ERROR: 'A fault of this service. Tell the people who run it, with the correlation id.',
  UPSTREAM_PROVIDER_ERROR:
    'The provider of the model refused or failed. `error.type` of the answer said which, and `x-should-retry` whether trying again helps.',
  FORBIDDEN: 'The key may not be used from the address of the caller.',
  METHOD_NOT_ALLOWED: 'The route does not take this method.',
  CONFLICT: 'The idempotency key belongs to another body, or the earlier call was still running.',
};
