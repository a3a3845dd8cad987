import type { ErrorCode } from './errors.ts';

/** The groups of operations in the reference, in this order. */
export const TAGS = {
  'Chat completions': 'For apps: the API key identifies the app, and `x-service-user` its user who pays for the call.',
  'Wallets and usage of users': 'For apps: the balances of their users, and what those have spent.',
  'Accounts and sessions': 'For developers: an account owns apps. A session token identifies the account.',
  'Apps and keys': 'For developers: the apps of an account, and their API keys.',
  Webhooks: 'For developers: signed events of an app, sent to an endpoint or fetched by a developer’s machine.',
  'Usage and receipts': 'For developers: the usage of an app, and the outcome of a single call.',
  Sandbox: 'For developers: the fake wallets of test users.',
  'Operator: apps': 'For operators of the service: all apps.',
  'Operator: wallets': 'For operators: all wallets. Every act is recorded in the audit trail.',
  'Operator: payments':
    'For operators: checkouts, payments, refunds and disputes of all wallets, and what about them waits for a person.',
  'Operator: bills':
    'For operators: what the payment processor and providers say they moved and billed, beside our books.',
  'Operator: catalogue': 'For operators: providers, models with their prices, aliases.',
  'Operator: service': 'For operators: the ledger check, the audit trail, accounts.',
  Service: 'For the people who run the service: health, metrics and this description.',
} as const;

/** What the API description says about an operation in addition to its schemas. */
export interface Operation {
  /** The operation's name in generated clients. It must never change: clients call methods by it. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  readonly summary: string;
  readonly description?: string;
  /** Its error codes, besides those that follow from its access and its schemas. */
  readonly refuses?: readonly ErrorCode[];
  /** A second content type of the answer, as text. */
  readonly alsoAs?: string;
  /** Headers that its answer may have in addition to those of all answers. */
  readonly headers?: readonly string[];
}

/** The refusals of a route about one thing of the caller's. Foreign and unknown things get the same 404 (AU-06). */
export const OWN = ['NOT_FOUND'] as const satisfies readonly ErrorCode[];
