import type { ErrorCode } from './errors.ts';

/** How the reference groups operations, in this order. */
export const TAGS = {
  'Chat completions': 'For apps: an API key says which app calls, `x-service-user` for which of its users.',
  'Wallets and usage of users': 'For apps: what their users have and have spent.',
  'Accounts and sessions': 'For developers: an account owns apps. A session token says whose account it is.',
  'Apps and keys': 'For developers: the apps of an account, and their API keys.',
  'Usage and receipts': 'For developers: what an app used, and what became of a single call.',
  Sandbox: 'For developers: the fake wallets of test users.',
  'Operator: apps': 'For operators of the service: any app.',
  'Operator: wallets': 'For operators: any wallet. Every act is written to the audit trail.',
  'Operator: catalogue': 'For operators: providers, models with their prices, aliases.',
  'Operator: service': 'For operators: the books, the audit trail, accounts.',
  Service: 'For whoever runs the service: health and metrics, and this description.',
} as const;

/** What the description of the API says of an operation beside its schemas. */
export interface Operation {
  /** Its name in generated clients. Stays as it is. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** What it refuses beside what follows from its access and its schemas. */
  readonly refuses?: readonly ErrorCode[];
  /** A type of content in which it answers too, as text. */
  readonly alsoAs?: string;
  /** Headers that its answer may have beside those of all answers. */
  readonly headers?: readonly string[];
}

const ACCOUNTS = 'Accounts and sessions';
const APPS = 'Apps and keys';
const ANY_APPS = 'Operator: apps';
const ANY_WALLETS = 'Operator: wallets';
const CATALOGUE = 'Operator: catalogue';
const SERVICE = 'Operator: service';
const OWN = ['NOT_FOUND'] as const;

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

  'GET /operator/apps': { id: 'searchApps', tag: ANY_APPS, summary: 'Finds apps by name, id or e-mail of the owner' },
  'PATCH /operator/apps/{appId}': {
    id: 'changeAnyApp',
    tag: ANY_APPS,
    summary: 'Changes rights and limits of an app: what is left out stays',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/suspend': {
    id: 'suspendApp',
    tag: ANY_APPS,
    summary: 'Suspends an app: within a second its keys open nothing',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/resume': {
    id: 'resumeApp',
    tag: ANY_APPS,
    summary: 'Ends the suspension of an app',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/wallets': {
    id: 'openWallet',
    tag: ANY_WALLETS,
    summary: 'Opens a connected wallet for a user who agreed elsewhere',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /operator/apps/{appId}/wallets/{userId}': {
    id: 'getWallet',
    tag: ANY_WALLETS,
    summary: 'Shows a wallet with its open holds and latest entries',
    refuses: OWN,
  },
  'POST /operator/apps/{appId}/wallets/{userId}/credit': {
    id: 'creditWallet',
    tag: ANY_WALLETS,
    summary: 'Puts money into a wallet',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/wallets/{userId}/refund': {
    id: 'refundWallet',
    tag: ANY_WALLETS,
    summary: 'Books money that was returned to the user',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/wallets/{userId}/clawback': {
    id: 'clawBackWallet',
    tag: ANY_WALLETS,
    summary: 'Books money that a bank took back, and suspends the wallet',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/wallets/{userId}/reinstate': {
    id: 'reinstateWallet',
    tag: ANY_WALLETS,
    summary: 'Ends the suspension of a wallet',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /operator/catalogue': { id: 'getCatalogue', tag: CATALOGUE, summary: 'Shows the catalogue' },
  'PUT /operator/catalogue': {
    id: 'replaceCatalogue',
    tag: CATALOGUE,
    summary: 'Replaces the catalogue, in force within a second',
    refuses: ['CONFLICT'],
  },
  'PUT /operator/models/{id}': {
    id: 'putModel',
    tag: CATALOGUE,
    summary: 'Adds a model, or replaces it',
    refuses: ['CONFLICT'],
  },
  'DELETE /operator/models/{id}': {
    id: 'deleteModel',
    tag: CATALOGUE,
    summary: 'Removes a model',
    refuses: [...OWN, 'CONFLICT'],
  },
  'PUT /operator/aliases/{alias}': {
    id: 'putAlias',
    tag: CATALOGUE,
    summary: 'Points an alias at a model',
    refuses: ['CONFLICT'],
  },
  'DELETE /operator/aliases/{alias}': {
    id: 'deleteAlias',
    tag: CATALOGUE,
    summary: 'Removes an alias',
    refuses: [...OWN, 'CONFLICT'],
  },
  'GET /operator/ledger/check': {
    id: 'checkLedger',
    tag: SERVICE,
    summary: 'Derives every balance anew from the ledger, and shows each difference',
  },
  'GET /operator/audit': { id: 'listAudit', tag: SERVICE, summary: 'Lists what operators did, the latest first' },
  'GET /operator/accounts': { id: 'listAccounts', tag: SERVICE, summary: 'Lists all accounts' },
  'POST /operator/accounts': {
    id: 'createAccount',
    tag: SERVICE,
    summary: 'Makes an account, of an owner or an operator',
    refuses: ['CONFLICT'],
  },
  'PATCH /operator/accounts/{accountId}': {
    id: 'changeAccount',
    tag: SERVICE,
    summary: 'Changes the role of an account, or disables it; either ends its sessions',
    refuses: [...OWN, 'CONFLICT'],
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
