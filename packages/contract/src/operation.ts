import type { ErrorCode } from './errors.ts';

/** The groups of operations in the reference, in this order. */
export const TAGS = {
  'Calls of models':
    'Routes for apps. The API key identifies the app, and `x-service-user` names its user who pays for the call.',
  'Wallets and usage of users':
    'Routes for apps and developers. They show the wallets of an app’s users, and what those have spent.',
  'Accounts and sessions': 'Routes for developers. An account owns apps, and a session token identifies the account.',
  'Apps and keys': 'Routes for developers. They manage the apps of an account, their members and their API keys.',
  Webhooks:
    'Routes for developers. Signed events of an app are sent to an endpoint, or fetched by a developer’s machine.',
  'Usage and receipts': 'Routes for developers. They show the usage of an app, and the outcome of a single call.',
  Sandbox: 'Routes for developers and automated tests. They show and reset the fake wallets of test users.',
  'Operator: apps': 'Routes for operators. They show and change all apps.',
  'Operator: wallets': 'Routes for operators. They show and change all wallets, and the audit trail records every act.',
  'Operator: payments':
    'Routes for operators. They show checkouts, payments, refunds and disputes of all wallets, and what about them waits for a person.',
  'Operator: bills':
    'Routes for operators. They compare what the payment processor and providers say they moved and billed with the books.',
  'Operator: catalogue': 'Routes for operators. They show and change providers, models with their prices, and aliases.',
  'Operator: service':
    'Routes for operators. They show how the service runs, the ledger check, the audit trail and accounts.',
  Service: 'Routes for the people and machines that watch the service: health, metrics and this description.',
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

/** Operations of one group. */
export function tagged(
  tag: Operation['tag'],
  operations: Readonly<Record<string, Omit<Operation, 'tag'>>>,
): Readonly<Record<string, Operation>> {
  return Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, { tag, ...operation }]));
}

/**
 * Operations of operators of one group. One about a single entity refuses an unknown one, unless it puts it there, and one that changes
 * something may meet another act. Those for which this is not so say it.
 */
export function operatorsOf(
  tag: Operation['tag'],
  operations: Readonly<Record<string, Omit<Operation, 'tag'>>>,
): Readonly<Record<string, Operation>> {
  const named = Object.entries(operations).map(([name, operation]) => {
    const isOfOne = name.includes('{') && !name.startsWith('PUT ');
    const refuses: readonly ErrorCode[] = [
      ...(isOfOne ? OWN : []),
      ...(name.startsWith('GET ') ? [] : ['CONFLICT' as const]),
    ];
    return [name, { refuses, ...operation }] as const;
  });
  return tagged(tag, Object.fromEntries(named));
}
