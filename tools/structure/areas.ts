import { tableOf } from './table.ts';

/**
 * The folders of the service and the other packages, each with what it may import beside itself. `tools/lint` makes rules of
 * oxlint from these tables.
 */
export const AREAS = tableOf({
  contract: '',
  simulator: '',
  'upstream-http': '',
  'text-runs': '',
  sdk: '',
  examples: '',
  kernel: '',
  db: 'kernel',
  cells: 'kernel db',
  embedded: 'kernel',
  backup: 'kernel db embedded',
  providers: 'kernel contract upstream-http text-runs',
  limits: 'kernel db',
  audit: 'kernel db',
  webauthn: 'kernel',
  accounts: 'kernel db limits audit webauthn contract',
  identities: 'kernel db limits audit webauthn',
  catalogue: 'kernel db contract',
  probe: 'kernel providers text-runs contract',
  'price-lists': 'kernel catalogue contract',
  idempotency: 'kernel db',
  mail: 'kernel db',
  webhooks: 'kernel db contract audit',
  ledger: 'kernel db cells',
  connections: 'kernel db identities ledger audit',
  payments: 'kernel db connections ledger audit',
  operator: `kernel db accounts identities catalogue ledger payments connections webhooks audit probe
    price-lists contract`,
  // Users who move to another cell, with everything that is about them.
  moves: 'kernel db cells identities idempotency ledger connections payments',
  // Short looks at everybody else, for the doctor.
  reach: 'kernel db operator contract',
  usage: 'kernel db',
  reconciliation: 'kernel db catalogue payments operator usage',
  traces: 'kernel db',
  stats: 'kernel db contract',
  status: 'kernel db',
  sandbox: 'kernel db contract simulator audit',
  privacy: 'kernel db accounts identities ledger payments connections audit mail usage traces operator',
  gateway: 'kernel accounts catalogue limits idempotency ledger connections usage sandbox providers text-runs contract',
  telemetry: 'kernel catalogue gateway providers',
  http: `kernel cells accounts catalogue limits identities ledger connections payments usage traces stats
    status sandbox mail gateway operator privacy reconciliation webhooks contract`,
  web: `kernel accounts catalogue limits identities ledger connections payments usage traces stats status
    sandbox mail webhooks operator privacy reconciliation http contract`,
  app: `kernel db cells embedded backup providers probe price-lists accounts catalogue limits idempotency
    usage traces stats status sandbox ledger identities connections payments mail operator reach privacy
    reconciliation webhooks audit gateway telemetry http web contract simulator`,
  cli: `app kernel db cells moves embedded backup audit accounts ledger stats catalogue price-lists probe
    operator reach reconciliation webhooks contract`,
  // They need these to measure the service as it is. They import nothing of `tests` and `tools`, and nothing imports them.
  benchmarks: 'kernel db embedded accounts ledger app contract upstream-http',
});

/** The areas that are packages of their own, in `packages/`. All others but `examples` and `benchmarks` are folders of the service. */
export const PACKAGES: readonly string[] = ['contract', 'simulator', 'upstream-http', 'text-runs', 'sdk'];

/** The folders and rooms that own a schema of another name. Renaming it would lock older builds out. */
export const SCHEMAS: Readonly<Record<string, string>> = {};

/** Single imports that the table does not allow. */
export const ALLOWED_IMPORTS: Readonly<Record<string, string>> = {
  // A refusal carries a code of the wire, so that a signature lists what a route may answer.
  'kernel/refusal.ts': 'contract/errors.ts',
  // The pattern of a user id is part of the wire, and is written once.
  'kernel/ids.ts': 'contract/identifiers.ts',
};

const LANES = 'gateway/lanes/live-lane.ts gateway/lanes/sandbox-lane.ts';

/** What single files may not import although their folder may: areas or files. If `only` is given, it is all that they may. */
export const FILE_IMPORTS: Readonly<Record<string, { only?: string; never: string }>> = {
  // Play money has no way to the ledger, to usage or to a provider.
  'gateway/lanes/sandbox-lane.ts': { only: 'gateway sandbox kernel limits', never: 'gateway/lanes/live-lane.ts' },
  // The sandbox answers and fails like a provider, and has no way to one.
  'gateway/lanes/sandbox-provider.ts': {
    only: 'gateway sandbox kernel providers/provider.ts',
    never: 'gateway/lanes/live-lane.ts',
  },
  // A live call is never answered or paid by the sandbox.
  'gateway/lanes/live-lane.ts': { never: 'sandbox gateway/lanes/sandbox-lane.ts' },
  // These know the type `Lane`, and app/compose.ts hands the lanes in.
  'gateway/pipeline.ts': { never: LANES },
  'gateway/run-in-lane.ts': { never: LANES },
};
