import { BILL_OPERATIONS } from './bill-operations.ts';
import { LOOK_UP_OPERATIONS } from './look-up.ts';
import { PAYMENT_OPERATIONS } from './payment-operations.ts';
import { PEOPLE_OPERATIONS } from './people-operations.ts';
import { type Operation, operatorsOf, OWN } from './operation.ts';

const ANY_APPS = 'Operator: apps';
const ANY_WALLETS = 'Operator: wallets';
const CATALOGUE = 'Operator: catalogue';
const SERVICE = 'Operator: service';

/** The operations for operators. Each one that changes something is recorded in the audit trail. */
export const OPERATOR_OPERATIONS: Readonly<Record<string, Operation>> = {
  ...BILL_OPERATIONS,
  ...LOOK_UP_OPERATIONS,
  ...PAYMENT_OPERATIONS,
  ...PEOPLE_OPERATIONS,
  ...operatorsOf(SERVICE, {
    'GET /operator/overview': {
      id: 'getOverview',
      summary: 'Shows what needs a person, the last check of the books, held money and deliveries',
    },
    'GET /operator/stats': {
      id: 'getServiceStats',
      summary:
        'Shows sums of the calls of all apps, or of one: what users paid, what providers charged, and what became of calls',
    },
    'GET /operator/find': {
      id: 'findAnything',
      summary: 'Finds anything by its id, and what belongs to it',
      description:
        'The prefix of an id tells what it is. An e-mail address must be exact. The list is empty if nothing has this id.',
    },
  }),
  ...operatorsOf(ANY_APPS, {
    'GET /operator/apps': { id: 'searchApps', summary: 'Finds apps by id, name or the owner’s e-mail' },
    'GET /operator/apps/{appId}': { id: 'getAnyApp', summary: 'Shows an app with its members and keys' },
    'PATCH /operator/apps/{appId}': {
      id: 'changeAnyApp',
      summary: 'Changes an app’s rights and limits; fields that you leave out stay as they are',
      headers: ['x-service-unconfirmed'],
    },
    'POST /operator/apps/{appId}/suspend': {
      id: 'suspendApp',
      summary: 'Suspends an app; the next call with one of its keys is refused',
      headers: ['x-service-unconfirmed'],
    },
    'POST /operator/apps/{appId}/resume': {
      id: 'resumeApp',
      summary: 'Lifts the suspension of an app',
      headers: ['x-service-unconfirmed'],
    },
  }),
  ...operatorsOf(ANY_WALLETS, {
    'GET /operator/wallets': {
      id: 'listWallets',
      summary: 'Lists and finds wallets of all apps',
      description:
        'The newest come first, unless you choose otherwise. `minHeldMicros` is compared with the holds of running calls. A search by amounts looks through 5,000 wallets at a time.',
    },
    'POST /operator/apps/{appId}/wallets': {
      id: 'openWallet',
      summary: 'Opens a connected wallet for a user who agreed elsewhere',
    },
    'GET /operator/apps/{appId}/wallets/{userId}': {
      id: 'getWallet',
      summary: 'Shows a wallet with its open holds and latest entries',
    },
    'POST /operator/apps/{appId}/wallets/{userId}/preview': {
      id: 'previewWalletAct',
      summary: 'Shows what an act would do to a wallet and the ledger, without doing it',
      description:
        'The act itself runs and is rolled back, so the figures are exact for the wallet as it is now. Calls that end meanwhile change its balance. An act that would be refused is refused here in the same words. Nothing is recorded or mailed, and the payment processor is not asked.',
      refuses: [...OWN, 'CONFLICT', 'TOO_MANY_REQUESTS'],
    },
    'GET /operator/apps/{appId}/wallets/{userId}/payments': {
      id: 'listPayments',
      summary: 'Lists the payments into a wallet, with the amounts that went back',
      refuses: [],
    },
    'POST /operator/apps/{appId}/wallets/{userId}/credit': { id: 'creditWallet', summary: 'Puts money into a wallet' },
    'POST /operator/apps/{appId}/wallets/{userId}/refund': {
      id: 'refundWallet',
      summary: 'Refunds a payment, or books money that was returned to the user by other means',
      description:
        'With `paymentId`, the service sets the amount aside in the wallet and asks the payment processor to pay it back. The refund is booked when the processor has paid it. If the wallet has less than the amount, the refund is booked all the same and suspends the wallet. Without `paymentId`, the service only books money that you have returned by other means. Do not book a refund that you make at the processor itself: the service learns of it and books it.',
    },
    'POST /operator/apps/{appId}/wallets/{userId}/clawback': {
      id: 'clawBackWallet',
      summary: 'Books money that a bank took back; what the balance does not cover suspends the wallet',
      description:
        'Use it for payments that did not go through the payment processor. Do not book a dispute at the processor: the service learns of it and books it.',
    },
    'POST /operator/apps/{appId}/wallets/{userId}/reinstate': {
      id: 'reinstateWallet',
      summary: 'Lifts the suspension of a wallet',
    },
    'POST /operator/apps/{appId}/wallets/{userId}/release': {
      id: 'releaseWallet',
      summary: 'Releases a wallet from its owner',
      description:
        'Use it for an owner who can no longer sign in. The wallet keeps its money and is disconnected, so nothing is spent. The next person who agrees through a link that was made afterwards becomes its owner: make sure that the app gives that link to the right user. The previous owner gets a mail.',
    },
    'GET /operator/pending': { id: 'listPendingActs', summary: 'Lists acts that wait for a second person' },
    'POST /operator/pending/{pendingId}/confirm': {
      id: 'confirmPendingAct',
      summary: 'Does an act that somebody else has asked for',
      description:
        'An act above the amount in the settings is answered with a 202 and waits for 24 hours. The operator who confirms it must be another person than the one who asked for it. At that moment, both need the role, and limits that suffice. The act is checked again, because the balance may have changed. It is done once.',
    },
    'POST /operator/pending/{pendingId}/reject': {
      id: 'rejectPendingAct',
      summary: 'Rejects an act that waits; no money moves',
    },
  }),
  ...operatorsOf(CATALOGUE, {
    'GET /operator/catalogue': { id: 'getCatalogue', summary: 'Shows the catalogue' },
    'PUT /operator/catalogue': {
      id: 'replaceCatalogue',
      summary: 'Replaces the catalogue; it takes effect within a second',
    },
    'PUT /operator/models/{id}': { id: 'putModel', summary: 'Adds or replaces a model' },
    'GET /operator/models/{id}/prices': {
      id: 'listPrices',
      summary: 'Shows the prices that a model has had, has and will have',
    },
    'DELETE /operator/models/{id}': { id: 'deleteModel', summary: 'Removes a model' },
    'PUT /operator/aliases/{alias}': { id: 'putAlias', summary: 'Points an alias at a model' },
    'DELETE /operator/aliases/{alias}': { id: 'deleteAlias', summary: 'Removes an alias' },
    'PUT /operator/providers/{name}': {
      id: 'putProvider',
      summary: 'Adds or replaces a provider',
      description:
        'A key is sent only to hosts to which it is bound, by the settings file of provider keys or by the present catalogue. To move a provider to another host, list that host in the settings file first.',
    },
    'DELETE /operator/providers/{name}': { id: 'deleteProvider', summary: 'Removes a provider that serves no model' },
    'POST /operator/providers/{name}/test': {
      id: 'testProvider',
      summary: 'Makes one call of one token at a provider, at your cost',
      description:
        'This is a real call with the key of the provider. The answer says whether it was answered, after how many milliseconds, and with which usage. The audit trail records it. No wallet is charged.',
    },
  }),
  ...operatorsOf(SERVICE, {
    'GET /operator/ledger/check': {
      id: 'checkLedger',
      summary: 'Derives every balance again from the ledger and shows each difference',
    },
    'GET /operator/upstreams': {
      id: 'listUpstreams',
      summary: 'Shows how the upstreams of the catalogue are doing: breakers, failures and the time to the first byte',
      description:
        'Every process of the service counts its own calls, and one of them answers. `/metrics` adds all of them up. Upstreams whose provider has no key here are left out.',
    },
    'GET /operator/calls': {
      id: 'findAnyCalls',
      summary: 'Finds calls of all apps by their correlation id or call id, refused ones included',
      description:
        'Name one of the two, and `appId` to search one app only. `calls` has receipts, and `traces` says what became of calls, as in `GET /apps/{appId}/calls`. Each list has at most a hundred.',
    },
    'GET /operator/audit': {
      id: 'listAudit',
      summary: 'Lists what operators and app owners did, the newest first',
      description:
        'Restrict it with `who`, `action`, `subject`, `appId`, `from`, `to`, `amountFrom` and `amountTo`: entries must match all that you name. An entry gets its line and hash in the chain a second or two after the act. The page `/ops/audit` exports all entries that match as a file.',
    },
    'GET /operator/health': {
      id: 'getServiceHealth',
      summary:
        'Shows how the service runs: processes, leases, queues, database, disk, settings and checks of the ledger',
    },
    'GET /operator/audit/head': {
      id: 'getAuditHead',
      summary: 'Shows the last line of the chain of the audit trail, with its hash',
      description:
        'Keep the hash outside of the service. `purser audit check --head <line>:<hash>` compares it with the chain later.',
    },
    'GET /operator/sign-ins': {
      id: 'listSignIns',
      summary: 'Lists sign-ins and the attempts that failed, counted by minute',
      description:
        'They are those of accounts and wallet owners, and are kept for 90 days unless you set another time. What somebody typed as an e-mail is not kept, only the account that has it. If more than 100 rows of failed attempts come together in one minute, the others are counted without account and address.',
    },
    'GET /operator/accounts': { id: 'listAccounts', summary: 'Lists all accounts' },
    'GET /operator/accounts/{accountId}': {
      id: 'getAnyAccount',
      summary: 'Shows an account with the apps of which it is a member',
    },
    'POST /operator/accounts': {
      id: 'createAccount',
      summary: 'Creates an account for a developer or an operator',
      refuses: ['CONFLICT', 'TOO_MANY_REQUESTS'],
    },
    'PATCH /operator/accounts/{accountId}': {
      id: 'changeAccount',
      summary:
        'Changes the role of an account, disables or enables it, vouches for its e-mail, or removes its second factor or its link to the provider',
    },
  }),
};
