import { type Operation, OWN } from './operation.ts';
import { OPERATOR_OPERATIONS } from './operator-operations.ts';
import { WEBHOOK_OPERATIONS } from './webhook-operations.ts';

const ACCOUNTS = 'Accounts and sessions';
const APPS = 'Apps and keys';

/** Every operation that the service offers, by method and path. */
export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'POST /v1/chat/completions': {
    id: 'createChatCompletion',
    tag: 'Chat completions',
    summary: 'Answers a conversation, and charges the wallet of the user for it',
    description:
      'The most that it can cost is set aside first, and what it did cost is taken afterwards. What is refused costs nothing. With `"stream": true` the answer is a stream of server-sent events, `data: [DONE]` the last; an error after its beginning is a frame with the envelope, and no `[DONE]`. A parameter that is `null` is one that is left out.',
    refuses: [
      'MODEL_NOT_ENTITLED',
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
    description: 'The name may hold slashes, as they are or encoded.',
    refuses: ['NOT_FOUND', 'MODEL_NOT_ENTITLED'],
  },
  'GET /balance': {
    id: 'getBalance',
    tag: 'Wallets and usage of users',
    summary: 'Shows what a user has in the wallet for the app',
    description: 'A 402 where there is no wallet, and with a test key, since play money has no balance to show.',
    refuses: ['PAYMENT_REQUIRED'],
  },
  'POST /connect': {
    id: 'createConnectLink',
    tag: 'Wallets and usage of users',
    summary: 'Makes a link to the page where a user connects a wallet to the app',
    description:
      'The link is good for 15 minutes, for this user alone, and nothing is changed by making it. The browser comes back to `redirectUri` with `status=connected` or `status=cancelled`, and `state`, added to its query. That is for the page to go on with: whether the user is connected, `GET /balance` says. With a test key, the link leads to a page that says so.',
  },
  'GET /usage/summary': {
    id: 'getUsageSummary',
    tag: 'Wallets and usage of users',
    summary: 'Shows what a user spent through the app in a month',
    description: 'Nothing with a test key, and where there is no wallet.',
  },

  'POST /accounts': {
    id: 'register',
    tag: ACCOUNTS,
    summary: 'Makes an account',
    description: 'Where registration is closed, operators make accounts.',
    refuses: ['CONFLICT', 'FORBIDDEN', 'TOO_MANY_REQUESTS'],
  },
  'POST /sessions': {
    id: 'signIn',
    tag: ACCOUNTS,
    summary: 'Signs in: gives a session token',
    refuses: ['UNAUTHORIZED', 'TOO_MANY_REQUESTS'],
  },
  'GET /sessions': { id: 'listSessions', tag: ACCOUNTS, summary: 'Lists the sessions of the account' },
  'GET /sessions/current': {
    id: 'getCurrentSession',
    tag: ACCOUNTS,
    summary: 'Shows the session that asks, and its account',
  },
  'DELETE /sessions/{sessionId}': {
    id: 'endSession',
    tag: ACCOUNTS,
    summary: 'Ends a session of the account; `current` is the one that asks',
    refuses: OWN,
  },
  'PUT /accounts/current/password': {
    id: 'changePassword',
    tag: ACCOUNTS,
    summary: 'Changes the password, and ends all other sessions',
    refuses: ['TOO_MANY_REQUESTS'],
  },
  'POST /password-resets': {
    id: 'requestPasswordReset',
    tag: ACCOUNTS,
    summary: 'Sends a mail to set a new password with',
    description: 'Answers the same whether or not there is such an account.',
    refuses: ['TOO_MANY_REQUESTS'],
  },
  'POST /password-resets/use': {
    id: 'resetPassword',
    tag: ACCOUNTS,
    summary: 'Sets a new password with the token of that mail, and signs in',
    refuses: ['TOO_MANY_REQUESTS'],
  },

  'POST /apps': { id: 'createApp', tag: APPS, summary: 'Makes an app', refuses: ['CONFLICT'] },
  'GET /apps': { id: 'listApps', tag: APPS, summary: 'Lists the apps of the account' },
  'GET /apps/{appId}': { id: 'getApp', tag: APPS, summary: 'Shows an app', refuses: OWN },
  'PATCH /apps/{appId}': {
    id: 'changeApp',
    tag: APPS,
    summary: 'Changes an app: what is left out stays',
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
    summary: 'Makes an API key, live or for tests, and shows it this once',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /apps/{appId}/keys': { id: 'listKeys', tag: APPS, summary: 'Lists the API keys of an app', refuses: OWN },
  'DELETE /apps/{appId}/keys/{keyId}': {
    id: 'revokeKey',
    tag: APPS,
    summary: 'Revokes an API key: within a second it opens nothing',
    refuses: OWN,
  },

  'GET /apps/{appId}/usage': {
    id: 'getUsage',
    tag: 'Usage and receipts',
    summary: 'Shows what an app used, by day, model and user',
    description: 'As CSV, it is a file, and the header `link` leads to the next page.',
    alsoAs: 'text/csv',
    headers: ['link'],
    refuses: [...OWN, 'TOO_MANY_REQUESTS'],
  },
  'GET /apps/{appId}/calls/{callId}': {
    id: 'getCall',
    tag: 'Usage and receipts',
    summary: 'Shows the receipt of a call',
    description: 'By the `x-service-call-id` of its answer. It holds nothing of what was asked and answered.',
    refuses: OWN,
  },
  'GET /apps/{appId}/calls': {
    id: 'findCalls',
    tag: 'Usage and receipts',
    summary: 'Finds the receipts of calls by their correlation id',
    refuses: OWN,
  },
  'GET /apps/{appId}/sandbox': {
    id: 'listSandboxUsers',
    tag: 'Sandbox',
    summary: 'Lists the fake wallets of an app',
    refuses: OWN,
  },
  'POST /apps/{appId}/sandbox/users/{userId}/reset': {
    id: 'resetSandboxUser',
    tag: 'Sandbox',
    summary: 'Sets a fake wallet anew, and makes one where there is none',
    refuses: OWN,
  },
  ...WEBHOOK_OPERATIONS,
  ...OPERATOR_OPERATIONS,

  'POST /webhooks/stripe': {
    id: 'receiveStripeWebhook',
    tag: 'Service',
    summary: 'Takes a notice of Stripe',
    description:
      'Only Stripe sends them, signed by `stripe-signature`. A notice is only a reason to look the payment up there, so one may be sent again and in any order. A 404 where Stripe is not the payment processor; after a 500 it must be sent again.',
    refuses: ['NOT_FOUND'],
  },
  'POST /webhooks/test': {
    id: 'receiveTestProcessorWebhook',
    tag: 'Service',
    summary: 'Takes a notice of the test processor',
    description:
      'Only the service itself signs them, by `purser-test-signature`. A 404 in production, and wherever the test processor is not the payment processor.',
    refuses: ['NOT_FOUND'],
  },
  'GET /healthz': { id: 'getHealth', tag: 'Service', summary: 'The process is up' },
  'GET /readyz': {
    id: 'getReadiness',
    tag: 'Service',
    summary: 'The database answers and has the schema of this build',
  },
  'GET /metrics': {
    id: 'getMetrics',
    tag: 'Service',
    summary: 'Metrics of all processes, in the text format of Prometheus',
    description: 'With the token for metrics; where none is set, for callers on the same machine alone.',
    refuses: ['UNAUTHORIZED', 'NOT_FOUND'],
  },
  'GET /openapi.json': { id: 'getDescription', tag: 'Service', summary: 'This description, as OpenAPI 3.1' },
  'GET /docs': { id: 'getReference', tag: 'Service', summary: 'This description, to be read' },
};
