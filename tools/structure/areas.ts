import type { AllowedImport, FileImportRule } from './rule-set.ts';

/**
 * The folders of the service and the other packages, each with what it may import. A row names only rows above it, so the
 * table itself cannot allow a cycle.
 */
export const AREAS: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  simulator: [],
  'upstream-http': [],
  'text-runs': [],
  sdk: [],
  examples: [],
  kernel: [],
  db: ['kernel'],
  embedded: ['kernel'],
  providers: ['kernel', 'contract', 'upstream-http', 'text-runs'],
  limits: ['kernel', 'db'],
  audit: ['kernel', 'db'],
  accounts: ['kernel', 'db', 'limits', 'audit'],
  identities: ['kernel', 'db', 'limits', 'audit'],
  catalogue: ['kernel', 'db', 'contract'],
  idempotency: ['kernel', 'db'],
  mail: ['kernel', 'db'],
  webhooks: ['kernel', 'db', 'contract', 'audit'],
  ledger: ['kernel', 'db'],
  payments: ['kernel', 'db', 'ledger', 'audit'],
  connections: ['kernel', 'db', 'ledger', 'audit'],
  operator: [
    'kernel',
    'db',
    'accounts',
    'identities',
    'catalogue',
    'ledger',
    'payments',
    'connections',
    'audit',
    'contract',
  ],
  usage: ['kernel', 'db'],
  traces: ['kernel', 'db'],
<<<<<<< HEAD
  sandbox: ['kernel', 'db', 'simulator'],
  connections: ['kernel', 'db', 'ledger', 'audit'],
=======
  sandbox: ['kernel', 'db'],
>>>>>>> main
  gateway: [
    'kernel',
    'accounts',
    'catalogue',
    'limits',
    'idempotency',
    'ledger',
    'connections',
    'usage',
    'sandbox',
    'providers',
    'text-runs',
    'contract',
  ],
  http: [
    'kernel',
    'accounts',
    'catalogue',
    'limits',
    'identities',
    'ledger',
    'connections',
    'payments',
    'usage',
    'traces',
    'sandbox',
    'mail',
    'gateway',
    'operator',
    'webhooks',
    'contract',
  ],
  web: [
    'kernel',
    'accounts',
    'catalogue',
    'limits',
    'identities',
    'ledger',
    'connections',
    'payments',
    'usage',
    'sandbox',
    'mail',
    'http',
    'contract',
  ],
  app: [
    'kernel',
    'db',
    'embedded',
    'providers',
    'accounts',
    'catalogue',
    'limits',
    'idempotency',
    'usage',
    'traces',
    'sandbox',
    'ledger',
    'identities',
    'connections',
    'payments',
    'mail',
    'operator',
    'webhooks',
    'audit',
    'gateway',
    'http',
    'web',
    'contract',
    'simulator',
  ],
  cli: ['app', 'kernel', 'db', 'embedded', 'accounts', 'ledger', 'catalogue', 'operator', 'webhooks', 'contract'],
  // It needs these to measure the service as it is. It imports nothing of `tests` and `tools`, and nothing imports it.
  benchmarks: ['kernel', 'db', 'embedded', 'accounts', 'ledger', 'app', 'contract', 'upstream-http'],
};

/** The areas that are packages of their own, in `packages/`. All others but `examples` and `benchmarks` are folders of the service. */
export const PACKAGES: readonly string[] = ['contract', 'simulator', 'upstream-http', 'text-runs', 'sdk'];

/** Single imports that the table does not allow. */
export const ALLOWED_IMPORTS: readonly AllowedImport[] = [
  {
    from: 'kernel/refusal.ts',
    to: 'contract/errors.ts',
    reason: 'A refusal carries a code of the wire, so that a signature lists what a route may answer.',
  },
  {
    from: 'kernel/ids.ts',
    to: 'contract/identifiers.ts',
    reason: 'The pattern of a user id is part of the wire, and is written once.',
  },
];

/** What single files may not import, although their folder may. */
export const FILE_IMPORTS: readonly FileImportRule[] = [
  {
    file: 'gateway/lanes/sandbox-lane.ts',
    only: ['gateway', 'sandbox', 'kernel', 'limits'],
    never: ['gateway/lanes/live-lane.ts'],
    reason: 'play money has no way to the ledger, to usage or to a provider',
  },
  {
    file: 'gateway/lanes/sandbox-provider.ts',
    only: ['gateway', 'sandbox', 'kernel', 'providers/provider.ts'],
    never: ['gateway/lanes/live-lane.ts'],
    reason: 'the sandbox answers and fails like a provider, and has no way to one',
  },
  {
    file: 'gateway/lanes/live-lane.ts',
    never: ['sandbox', 'gateway/lanes/sandbox-lane.ts'],
    reason: 'a live call is never answered or paid by the sandbox',
  },
  {
    file: 'gateway/pipeline.ts',
    never: ['gateway/lanes/live-lane.ts', 'gateway/lanes/sandbox-lane.ts'],
    reason: 'it knows the type `Lane`, and app/compose.ts hands the lanes in',
  },
  {
    file: 'gateway/run-in-lane.ts',
    never: ['gateway/lanes/live-lane.ts', 'gateway/lanes/sandbox-lane.ts'],
    reason: 'it knows the type `Lane`, and app/compose.ts hands the lanes in',
  },
];
