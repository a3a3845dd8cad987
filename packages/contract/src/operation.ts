import type { ErrorCode } from './errors.ts';

/** How the reference groups operations, in this order. */
export const TAGS = {
  'Chat completions': 'For apps: an API key says which app calls, `x-service-user` for which of its users.',
  'Wallets and usage of users': 'For apps: what their users have and have spent.',
  'Accounts and sessions': 'For developers: an account owns apps. A session token says whose account it is.',
  'Apps and keys': 'For developers: the apps of an account, and their API keys.',
  Webhooks: 'For developers: signed events of an app, for an endpoint of theirs or for their own machine.',
  'Usage and receipts': 'For developers: what an app used, and what became of a single call.',
  Sandbox: 'For developers: the fake wallets of test users.',
  'Operator: apps': 'For operators of the service: any app.',
  'Operator: wallets': 'For operators: any wallet. Every act is written to the audit trail.',
  'Operator: catalogue': 'For operators: providers, models with their prices, aliases.',
  'Operator: service': 'For operators: the books, the audit trail, accounts.',
  Service: 'For the operator: health and metrics, and this description.',
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

/** For routes below something that is the caller's own. */
export const OWN = ['NOT_FOUND'] as const satisfies readonly ErrorCode[];
