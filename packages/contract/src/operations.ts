import { ACCOUNT_OPERATIONS } from './account-operations.ts';
import { CALL_OPERATIONS } from './call-operations.ts';
import { TEAM_OPERATIONS } from './team-operations.ts';
import { type Operation, OWN, tagged } from './operation.ts';
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
  ...CALL_OPERATIONS,

  ...tagged('Wallets and usage of users', {
    'GET /balance': {
      id: 'getBalance',
      summary: 'Shows the balance of a user’s wallet for the app',
      description:
        'Answers with a 402 if there is no wallet, and always for a test key, because play money is in no wallet of a user.',
      refuses: ['PAYMENT_REQUIRED'],
    },
    'POST /connect': {
      id: 'createConnectLink',
      summary: 'Creates a link to the page where a user connects a wallet to the app',
      description:
        'The link works for 15 minutes and for this user only. Creating it changes nothing. The browser returns to `redirectUri` with `status=connected` or `status=cancelled` and your `state` added to the query. Use these only to choose the next page: `GET /balance` says whether the user is connected. With a test key, the link leads to a page that explains the sandbox.',
    },
    'GET /usage/summary': {
      id: 'getUsageSummary',
      summary: 'Shows what a user spent through the app in a month',
      description: 'The summary is empty with a test key, and if there is no wallet.',
    },
    'GET /calls/{callId}': {
      id: 'getCallOfUser',
      summary: 'Shows the receipt of one call of a user',
      description:
        'The receipt says what the call used and cost, and at which price. A call that had a hold has a receipt once it has ended. Calls with a test key have none, and those of a user who is not connected are not shown.',
      refuses: ['NOT_FOUND'],
    },
  }),

  ...tagged(ACCOUNTS, {
    'POST /accounts': {
      id: 'register',
      summary: 'Creates an account',
      description:
        'A mail asks the person to verify the address. Until they have, the account can use the sandbox but cannot make live keys. If registration is closed, only operators create accounts.',
      refuses: ['CONFLICT', 'FORBIDDEN', 'TOO_MANY_REQUESTS'],
    },
    'POST /sessions': {
      id: 'signIn',
      summary: 'Signs in and returns a session token',
      description:
        'If the account has a second factor, the answer is a 202 without a session: send its `signInToken` and a code to `POST /pending-sign-ins/use` within ten minutes.',
      refuses: ['UNAUTHORIZED', 'TOO_MANY_REQUESTS'],
    },
    'GET /sessions': { id: 'listSessions', summary: 'Lists the sessions of the account' },
    'GET /sessions/current': { id: 'getCurrentSession', summary: 'Shows the current session and its account' },
    'DELETE /sessions/{sessionId}': {
      id: 'endSession',
      summary: 'Ends a session of the account: one by its id, the `current` one, or all `others`',
      refuses: OWN,
    },
    'PUT /accounts/current/password': {
      id: 'changePassword',
      summary: 'Changes the password and ends all other sessions',
      refuses: ['TOO_MANY_REQUESTS'],
    },
    'POST /password-resets': {
      id: 'requestPasswordReset',
      summary: 'Sends an e-mail with a token to set a new password',
      description: 'The answer is the same whether or not the account exists.',
      refuses: ['TOO_MANY_REQUESTS'],
    },
    'POST /password-resets/use': {
      id: 'resetPassword',
      summary: 'Sets a new password with the token from that e-mail, and signs in',
      description:
        'The token does not replace the second factor: if the account has one, the answer is a 202, as for `POST /sessions`.',
      refuses: ['TOO_MANY_REQUESTS'],
    },
  }),
  ...ACCOUNT_OPERATIONS,

  ...tagged(ACCOUNTS, {
    'GET /accounts/current/audit': {
      id: 'listOwnAudit',
      summary: 'Lists what the account did, the newest first',
      description:
        'The entries are about apps and their addresses, keys, webhooks and passwords. Each says who acted, when and from where, and shows the state before and after. Entries are never removed; their network addresses are, after 90 days unless the operator has set another time.',
    },
    'GET /accounts/current/sign-ins': {
      id: 'listOwnSignIns',
      summary:
        'Lists the sign-ins to the account and the attempts that failed, counted by minute, for 90 days unless the operator has set another time',
    },
  }),

  ...tagged(APPS, {
    'POST /apps': { id: 'createApp', summary: 'Creates an app', refuses: ['CONFLICT'] },
    'GET /apps': { id: 'listApps', summary: 'Lists the apps of the account' },
    'GET /apps/{appId}': { id: 'getApp', summary: 'Shows an app', refuses: OWN },
    'PATCH /apps/{appId}': {
      id: 'changeApp',
      summary: 'Changes an app; fields that you leave out stay as they are',
      refuses: OWN,
    },
    'PUT /apps/{appId}/logo': {
      id: 'putLogo',
      summary: 'Sets the logo of an app, which users see where they consent and pay',
      refuses: OWN,
    },
    'DELETE /apps/{appId}/logo': { id: 'deleteLogo', summary: 'Removes the logo of an app', refuses: OWN },
    'POST /apps/{appId}/keys': {
      id: 'mintKey',
      summary: 'Creates an API key, live or for the sandbox, and shows it once',
      description:
        'The mode, user and window of a key can never be changed; its name, expiry and limits can. A key without limits of its own has only those of its app. Making a live key needs an account whose e-mail is verified.',
      refuses: [...OWN, 'CONFLICT', 'FORBIDDEN'],
    },
    'GET /apps/{appId}/keys': { id: 'listKeys', summary: 'Lists the API keys of an app', refuses: OWN },
    'GET /apps/{appId}/keys/{keyId}': { id: 'getKey', summary: 'Shows an API key, but not its text', refuses: OWN },
    'PATCH /apps/{appId}/keys/{keyId}': {
      id: 'changeKey',
      summary: 'Changes the name, expiry or limits of an API key',
      description:
        'The answer comes when all gateways know of the change, or after a second with the header `x-service-unconfirmed`. Running calls are not cut off.',
      headers: ['x-service-unconfirmed'],
      refuses: [...OWN, 'CONFLICT'],
    },
    'POST /apps/{appId}/keys/{keyId}/roll': {
      id: 'rollKey',
      summary: 'Creates the successor of an API key and lets the old one expire after an overlap',
      description:
        'The successor has the mode, user, window, name and limits of the old key, and goes on with what is left of its rate and budget. A key has one successor: a second roll gets a 409 that names it. An account that has not verified its e-mail rolls sandbox keys only.',
      headers: ['x-service-unconfirmed'],
      refuses: [...OWN, 'CONFLICT'],
    },
    'DELETE /apps/{appId}/keys/{keyId}': {
      id: 'revokeKey',
      summary: 'Revokes an API key; the next call with it is refused',
      headers: ['x-service-unconfirmed'],
      refuses: OWN,
    },
  }),

  ...TEAM_OPERATIONS,

  ...tagged('Usage and receipts', {
    'GET /apps/{appId}/usage': {
      id: 'getUsage',
      summary: 'Shows an app’s usage by day, model and user',
      description: 'With `format=csv` the answer is a file, and the header `link` leads to the next page.',
      alsoAs: 'text/csv',
      headers: ['link'],
      refuses: [...OWN, 'TOO_MANY_REQUESTS'],
    },
    'GET /apps/{appId}/stats': {
      id: 'getStats',
      summary: 'Shows sums of an app’s calls by hour or day, model, outcome and key',
      description:
        'These are the sums that the charts of the console show: charges, refusals by code, errors of providers, and latency. They are kept beside the receipts, so the answer is quick with any number of calls. The charges of live calls equal those of the receipts. Everything else is counted in memory: if a process dies, calls of its last second are missing.',
      refuses: OWN,
    },
    'GET /apps/{appId}/calls/{callId}': {
      id: 'getCall',
      summary: 'Shows the receipt of a call',
      description:
        'The id is the `x-service-call-id` of the answer. A receipt contains nothing of the prompt or the answer.',
      refuses: OWN,
    },
    'GET /apps/{appId}/calls': {
      id: 'findCalls',
      summary: 'Finds calls by their correlation id or call id, refused ones included',
      description:
        'Name one of the two. `calls` has the receipts of live calls that had a hold; they are kept for good. `traces` says what became of calls whose key was valid; it is kept for the days that the operator has set (7 by default). Each list has the newest hundred. A trace appears within a second of the end of its call. Of an app’s answered live calls, at most 20 a second get a trace; all get a receipt.',
      refuses: OWN,
    },
    'GET /apps/{appId}/latest-calls': {
      id: 'listLatestCalls',
      summary: 'Lists the latest calls of an app in one mode, newest first',
      description:
        'The list has the traces of calls, for the days that the operator has set. A page may be short although `next` is not null: go on to find rare calls.',
      refuses: OWN,
    },
  }),
  ...USER_OPERATIONS,
  ...WEBHOOK_OPERATIONS,
  ...OPERATOR_OPERATIONS,

  ...tagged('Service', {
    'POST /webhooks/stripe': {
      id: 'receiveStripeWebhook',
      summary: 'Receives a webhook of Stripe',
      description:
        'Only Stripe calls this, signed by `stripe-signature`. A webhook only makes the service look the payment up at Stripe, so webhooks may arrive repeatedly and in any order. After a 500, Stripe must send it again. A 404 means that Stripe is not the payment processor of this service.',
      refuses: ['NOT_FOUND'],
    },
    'POST /webhooks/test': {
      id: 'receiveTestProcessorWebhook',
      summary: 'Receives a webhook of the test processor',
      description:
        'Only the service itself can sign it, by `purser-test-signature`. The answer is a 404 in production, and whenever the test processor is not the payment processor.',
      refuses: ['NOT_FOUND'],
    },
    'GET /healthz': { id: 'getHealth', summary: 'Says that the process is up' },
    'GET /readyz': {
      id: 'getReadiness',
      summary: 'Says whether the service can take calls, and if not, why',
      description:
        'The database must answer, take writes and have the schema of this build, and the disk of the data directory must have room.',
    },
    'GET /status.json': {
      id: 'getStatus',
      summary: 'Shows whether the service and its models are up, and what went wrong lately',
      description:
        'Anybody may read it. It shows what the page at `/status` shows, is up to a minute behind, and is answered without the database too. The answer is a 404 if the operator has switched it off.',
      refuses: ['NOT_FOUND'],
    },
    'GET /metrics': {
      id: 'getMetrics',
      summary: 'Shows the metrics of all processes in the text format of Prometheus',
      description:
        'Requires the token for metrics. If the operator has set none, only callers on the same machine may read it.',
      refuses: ['UNAUTHORIZED', 'NOT_FOUND'],
    },
    'GET /openapi.json': { id: 'getDescription', summary: 'Shows this description as OpenAPI 3.1' },
    'GET /docs': { id: 'getReference', summary: 'Shows this description as a page for people' },
  }),
};
