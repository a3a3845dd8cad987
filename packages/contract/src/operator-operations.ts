import { type Operation, OWN } from './operation.ts';

const ANY_APPS = 'Operator: apps';
const ANY_WALLETS = 'Operator: wallets';
const CATALOGUE = 'Operator: catalogue';
const SERVICE = 'Operator: service';

/** Those of operators. */
export const OPERATOR_OPERATIONS: Readonly<Record<string, Operation>> = {
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
  'GET /operator/apps/{appId}/wallets/{userId}/payments': {
    id: 'listPayments',
    tag: ANY_WALLETS,
    summary: 'Lists the payments into a wallet, with what went back of each',
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
    summary: 'Has a payment paid back, or books money that was returned to the user outside',
    description:
      'With `paymentId`, the amount is set aside in the wallet, the payment processor is asked, and the refund is booked once it has paid; where the wallet has less, it is booked then all the same, and suspends. Without it, money is booked that was returned by other means. A refund that is made at the processor itself books itself: do not book it here too.',
    refuses: [...OWN, 'CONFLICT'],
  },
  'POST /operator/apps/{appId}/wallets/{userId}/clawback': {
    id: 'clawBackWallet',
    tag: ANY_WALLETS,
    summary: 'Books money that a bank took back: what the balance does not cover suspends the wallet',
    description: 'For payments outside. A dispute at the payment processor books itself: do not book it here too.',
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
    refuses: ['CONFLICT', 'TOO_MANY_REQUESTS'],
  },
  'PATCH /operator/accounts/{accountId}': {
    id: 'changeAccount',
    tag: SERVICE,
    summary: 'Changes the role of an account, or disables it; either ends its sessions',
    refuses: [...OWN, 'CONFLICT'],
  },
};
