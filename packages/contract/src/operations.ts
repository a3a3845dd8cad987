import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import { TEAM_OPERATIONS } from './team-operations.ts';
import { type Operation, OWN } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator-operations.ts';
import { USER_OPERATIONS } from './user-operations.ts';
import { WEBHOOK_OPERATIONS } from './webhook-operations.ts';

const ACCOUNTS = 'Accounts and sessions';
const APPS = 'Apps and keys';

/**
 * Every operation of the API by method and path. The schemas of a route say what it accepts and answers; this table adds
 * its name, its group and its words. A test compares the table with the routes, so neither can lack an entry.
 */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    tag: 'Chat completions',
    summary: 'Answers a conversation and charges the user’s wallet',
    description:
      'Before the call, the service sets aside the most that it can cost. Afterwards it takes the actual cost. A refused call costs nothing. With `"stream": true`, the answer is a stream of server-sent events that ends with `data: [DONE]`. Before that, the comment `: charge-micros=84 call-id=...` says what the call was charged, and so does `charge_micros` in the chunk with the usage. If an error occurs after the stream has begun, its last event is the error envelope, without `[DONE]`. A parameter that is `null` counts as left out.',
    refuses: [
      'MODEL_NOT_ENTITLED',
      'KEY_BUDGET_EXCEEDED',
      'PAYMENT_REQUIRED',
      'APP_SPEND_CAP_EXCEEDED',
      'WALLET_SUSPENDED',
      'CONCURRENT_STREAM_LIMIT',
      'CONFLICT',
      'UPSTREAM_THROTTLED',
      'UPSTREAM_PROVIDER_ERROR',
    ],
  },
  'GET /v1/models': {
    id: 'listModels',
    tag: 'Chat completions',
    summary: 'Lists the models and aliases that the app may call',
  },
  'GET /v1/models/{model}': {
    id: 'getModel',
    tag: 'Chat completions',
    summary: 'Shows one model or alias',
    description: 'The name may contain slashes, encoded or not.',
    refuses: ['NOT_FOUND', 'MODEL_NOT_ENTITLED'],
  },
  'GET /prices': {
    id: 'listModelPrices',
    tag: 'Chat completions',
    summary: 'Lists what the models that the app may call cost, and their limits',
    description:
      'What calls are charged by now, with the operator’s margin. A charge is computed exactly and rounded up once, so it may be a little below what these rates give.',
  },
  'GET /balance': {
    id: 'getBalance',
    tag: 'Wallets and usage of users',
    summary: 'Shows the balance of a user’s wallet for the app',
    description:
      'Answers with a 402 if there is no wallet, and always with a test key: play money has no balance to show.',
    refuses: ['PAYMENT_REQUIRED'],
  },
  'POST /connect': {
    id: 'createConnectLink',
    tag: 'Wallets and usage of users',
    summary: 'Creates a link to the page where a user connects a wallet to the app',
    description:
      'The link works for 15 minutes and for this user only. Creating it changes nothing. The browser returns to `redirectUri` with `status=connected` or `status=cancelled` and your `state` added to the query. Use these only to choose the next page: `GET /balance` says whether the user is connected. With a test key, the link leads to a page that explains the sandbox.',
  },
  'GET /usage/summary': {
    id: 'getUsageSummary',
    tag: 'Wallets and usage of users',
    summary: 'Shows what a user spent through the app in a month',
    description: 'Empty with a test key, and if there is no wallet.',
  },
  'GET /calls/{callId}': {
    id: 'getCallOfUser',
    tag: 'Wallets and usage of users',
    summary: 'Shows the receipt of one call of a user',
    description:
      'What the call used and cost, at which price. A call has a receipt once it has ended, and if it reached a wallet. Calls with a test key have none, and neither have calls of a user who is not connected.',
    refuses: ['NOT_FOUND'],
  },

  'POST /accounts': {
    id: 'register',
    tag: ACCOUNTS,
    summary: 'Creates an account',
    description:
      'A mail asks to verify the address. Until then the account uses the sandbox and makes no live keys. If registration is closed, only operators create accounts.',
    refuses: ['CONFLICT', 'FORBIDDEN', 'TOO_MANY_REQUESTS'],
  },
  'POST /sessions': {
    id: 'signIn',
    tag: ACCOUNTS,
    summary: 'Signs in and returns a session token',
    description:
      'If the account has a second factor, the answer is a 202 without a session: send its `signInToken` and a code to `POST /pending-sign-ins/use` within ten minutes.',
    refuses: ['UNAUTHORIZED', 'TOO_MANY_REQUESTS'],
  },
  'GET /sessions': { id: 'listSessions', tag: ACCOUNTS, summary: 'Lists the sessions of the account' },
  'GET /sessions/current': {
    id: 'getCurrentSession',
    tag: ACCOUNTS,
    summary: 'Shows the current session and its account',
  },
  'DELETE /sessions/{sessionId}': {
    id: 'endSession',
    tag: ACCOUNTS,
    summary: 'Ends a session of the account: one by its id, the `current` one, or all `others`',
    refuses: OWN,
  },
  'PUT /accounts/current/password': {
    id: 'changePassword',
    tag: ACCOUNTS,
    summary: 'Changes the password and ends all other sessions',
    refuses: ['TOO_MANY_REQUESTS'],
  },
  'POST /password-resets': {
    id: 'requestPasswordReset',
    tag: ACCOUNTS,
    summary: 'Sends an e-mail with a token to set a new password',
    description: 'The answer is the same whether or not the account exists.',
    refuses: ['TOO_MANY_REQUESTS'],
  },
  'POST /password-resets/use': {
    id: 'resetPassword',
    tag: ACCOUNTS,
    summary: 'Sets a new password with the token from that e-mail, and signs in',
    description:
      'It does not replace the second factor: if the account has one, the answer is a 202 as for `POST /sessions`.',
    refuses: ['TOO_MANY_REQUESTS'],
  },
  ...ACCOUNT_OPERATIONS,

  'GET /accounts/current/audit': {
    id: 'listOwnAudit',
    tag: ACCOUNTS,
    summary: 'Lists what the account did, the newest first',
    description:
      'Apps and their addresses, keys, webhooks and passwords: who, when, from where, and the state before and after. Nothing of it is ever removed, except the network address, after 90 days or as the service sets.',
  },
  'GET /accounts/current/sign-ins': {
    id: 'listOwnSignIns',
    tag: ACCOUNTS,
    summary:
      'Lists the sign-ins to the account and the attempts that failed, counted by minute, for 90 days or as the service sets',
  },

  'POST /apps': { id: 'createApp', tag: APPS, summary: 'Creates an app', refuses: ['CONFLICT'] },
  'GET /apps': { id: 'listApps', tag: APPS, summary: 'Lists the apps of the account' },
  'GET /apps/{appId}': { id: 'getApp', tag: APPS, summary: 'Shows an app', refuses: OWN },
  'PATCH /apps/{appId}': {
    id: 'changeApp',
    tag: APPS,
    summary: 'Changes an app; fields that you leave out stay as they are',
    refuses: OWN,
  },
  'PUT /apps/{appId}/logo': {
    id: 'putLogo',
    tag: APPS,
    summary: 'Sets the picture that users see where they consent and pay',
    refuses: OWN,
  },
  'DELETE /apps/{appId}/logo': { id: 'deleteLogo', tag: APPS, summary: 'Removes that picture', refuses: OWN },
  'POST /apps/{appId}/keys': {
    id: 'mintKey',
    tag: APPS,
    summary: 'Creates an API key, live or for the sandbox, and shows it this once',
    description:
      'Its mode, user and window can never be changed, its name, expiry and limits can. A limit that is not set is not there: the key then has those of its app alone. A live key needs an account whose e-mail is verified.',
    refuses: [...OWN, 'CONFLICT', 'FORBIDDEN'],
  },
  'GET /apps/{appId}/keys': { id: 'listKeys', tag: APPS, summary: 'Lists the API keys of an app', refuses: OWN },
  'GET /apps/{appId}/keys/{keyId}': {
    id: 'getKey',
    tag: APPS,
    summary: 'Shows an API key, but not its text',
    refuses: OWN,
  },
  'PATCH /apps/{appId}/keys/{keyId}': {
    id: 'changeKey',
    tag: APPS,
    summary: 'Changes the name, expiry or limits of an API key',
    description: 'In force within a second. Calls that run are not cut.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /apps/{appId}/keys/{keyId}/roll': {
    id: 'rollKey',
    tag: APPS,
    summary: 'Creates the successor of an API key and lets the old one expire after an overlap',
    description:
      'The successor has the mode, user, window, name and limits of the old key, and goes on with what is left of its rate and budget. A key has one successor: a second roll gets a 409 that names the first one’s. An account that has not verified its e-mail rolls sandbox keys only.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'DELETE /apps/{appId}/keys/{keyId}': {
    id: 'revokeKey',
    tag: APPS,
    summary: 'Revokes an API key; it stops working within a second',
    refuses: OWN,
  },

  ...TEAM_OPERATIONS,

  'GET /apps/{appId}/usage': {
    id: 'getUsage',
    tag: 'Usage and receipts',
    summary: 'Shows an app’s usage by day, model and user',
    description: 'With `format=csv` the answer is a file, and the header `link` leads to the next page.',
    alsoAs: 'text/csv',
    headers: ['link'],
    refuses: [...OWN, 'TOO_MANY_REQUESTS'],
  },
  'GET /apps/{appId}/stats': {
    id: 'getStats',
    tag: 'Usage and receipts',
    summary: 'Shows sums of an app’s calls by hour or day, model, outcome and key',
    description:
      'What the charts of the console show: charges, refusals by code, errors of providers, latency. Reads sums that are kept beside the receipts, so that it is quick at any number of calls. The charges of live calls equal those of the receipts. Everything else is counted in memory: if a process dies, calls of its last second are missing.',
    refuses: OWN,
  },
  'GET /apps/{appId}/calls/{callId}': {
    id: 'getCall',
    tag: 'Usage and receipts',
    summary: 'Shows the receipt of a call',
    description:
      'The id is the `x-service-call-id` of the answer. A receipt contains nothing of the prompt or the answer.',
    refuses: OWN,
  },
  'GET /apps/{appId}/calls': {
    id: 'findCalls',
    tag: 'Usage and receipts',
    summary: 'Finds calls by their correlation id or call id, refused ones included',
    description:
      'Name one of the two. `calls` are the receipts of live calls that had a hold, for good. `traces` show what became of calls whose key was valid, for the days that the operator has set (7 by default). Each has the newest hundred. A trace appears within a second of the end of its call. Of answered live calls, at most 20 a second of an app have a trace; all have a receipt.',
    refuses: OWN,
  },
  'GET /apps/{appId}/latest-calls': {
    id: 'listLatestCalls',
    tag: 'Usage and receipts',
    summary: 'Lists the latest calls of an app in one mode, newest first',
    description:
      'Their traces, for the days that the operator has set. A page may be short although `next` is not null: rare calls are found by going on.',
    refuses: OWN,
  },
  ...USER_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...OPERATOR_OPERATIONS,

  'POST /webhooks/stripe': {
    id: 'receiveStripeWebhook',
    tag: 'Service',
    summary: 'Receives a webhook of Stripe',
    description:
      'Only Stripe calls this, signed by `stripe-signature`. A webhook only makes the service look the payment up at Stripe, so webhooks may arrive repeatedly and in any order. After a 500, Stripe must send it again. A 404 means that Stripe is not the payment processor of this service.',
    refuses: ['NOT_FOUND'],
  },
  'POST /webhooks/test': {
    id: 'receiveTestProcessorWebhook',
    tag: 'Service',
    summary: 'Receives a webhook of the test processor',
    description:
      'Only the service itself can sign it, by `purser-test-signature`. A 404 in production, and whenever the test processor is not the payment processor.',
    refuses: ['NOT_FOUND'],
  },
  'GET /healthz': { id: 'getHealth', tag: 'Service', summary: 'Says that the process is up' },
  'GET /readyz': {
    id: 'getReadiness',
    tag: 'Service',
    summary: 'Says whether the service can take calls, and if not, why',
    description:
      'The database must answer, take writes and have the schema of this build, and the disk of the data directory must have room.',
  },
  'GET /status.json': {
    id: 'getStatus',
    tag: 'Service',
    summary: 'Shows whether the service and its models are up, and what went wrong lately',
    description:
      'What the page at `/status` shows, for anybody. It is answered without the database as well, and is up to a minute behind. A 404 if the operator has switched it off.',
    refuses: ['NOT_FOUND'],
  },
  'GET /metrics': {
    id: 'getMetrics',
    tag: 'Service',
    summary: 'Shows the metrics of all processes in the text format of Prometheus',
    description:
      'Requires the token for metrics. If the operator has set none, only callers on the same machine may read it.',
    refuses: ['UNAUTHORIZED', 'NOT_FOUND'],
  },
  'GET /openapi.json': { id: 'getDescription', tag: 'Service', summary: 'Shows this description as OpenAPI 3.1' },
  'GET /docs': { id: 'getReference', tag: 'Service', summary: 'Shows this description as a page for people' },
};
