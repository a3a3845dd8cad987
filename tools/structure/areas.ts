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
  embedded: 'kernel',
  backup: 'kernel db embedded',
  providers: 'kernel contract upstream-http text-runs',
  limits: 'kernel db',
  audit: 'kernel db',
  webauthn: 'kernel',
  developers: 'kernel db limits audit webauthn contract',
  people: 'kernel db limits audit webauthn',
  catalogue: 'kernel db contract',
  probe: 'kernel providers text-runs contract',
  'price-lists': 'kernel catalogue contract',
  idempotency: 'kernel db',
  calls: 'kernel db contract',
  mail: 'kernel db',
  webhooks: 'kernel db contract audit',
  ledger: 'kernel db',
  doctor: 'kernel db developers catalogue webhooks ledger backup mail providers contract',
  connections: 'kernel db people ledger audit',
  payments: 'kernel db connections ledger audit',
  operator: `kernel db developers people catalogue ledger payments connections webhooks audit probe doctor
    price-lists contract`,
  cells: 'kernel db people idempotency ledger connections payments',
  reconciliation: 'kernel db catalogue payments operator calls',
  status: 'kernel db',
  sandbox: 'kernel db contract simulator audit',
  privacy: 'kernel db developers people ledger payments connections audit mail calls operator',
  gateway: 'kernel developers catalogue limits idempotency ledger connections sandbox providers text-runs contract',
  telemetry: 'kernel catalogue gateway providers',
  http: `kernel cells developers catalogue limits people ledger connections payments calls
    status sandbox mail gateway operator privacy reconciliation webhooks contract`,
  web: `kernel developers catalogue limits people ledger connections payments calls status
    sandbox mail webhooks operator privacy reconciliation http contract`,
  app: `kernel db cells embedded backup providers probe price-lists developers catalogue limits idempotency
    calls status sandbox ledger people connections payments mail operator doctor privacy
    reconciliation webhooks audit gateway telemetry http web contract simulator`,
  cli: `app kernel db cells embedded backup audit developers ledger calls catalogue price-lists probe
    operator doctor reconciliation webhooks contract`,
  // They need these to measure the service as it is. They import nothing of `tests` and `tools`, and nothing imports them.
  benchmarks: 'kernel db embedded developers ledger app contract upstream-http',
});

/** The areas that are packages of their own, in `packages/`. All others but `examples` and `benchmarks` are folders of the service. */
export const PACKAGES: readonly string[] = ['contract', 'simulator', 'upstream-http', 'text-runs', 'sdk'];

/** The folders and rooms that own a schema of another name. Renaming it would lock older builds out. */
export const SCHEMAS: Readonly<Record<string, string>> = {
  developers: 'accounts',
  people: 'identities',
  'calls/usage': 'usage',
  'calls/sessions': 'usage',
  'calls/traces': 'traces',
  'calls/stats': 'stats',
  'calls/roll-up': 'stats',
  'calls/rebuild': 'stats',
};

/** Single imports that the table does not allow. */
export const ALLOWED_IMPORTS: Readonly<Record<string, string>> = {
  // A refusal carries a code of the wire, so that a signature lists what a route may answer.
  'kernel/faults/refusal.ts': 'contract/errors.ts',
  // The pattern of a user id is part of the wire, and is written once.
  'kernel/values/ids.ts': 'contract/identifiers.ts',
};

/**
 * How many files may import from a folder whose subject is spread easily. Others take a port of it: what `app/compose.ts` hands them, such as
 * `CellPeers`, or a value of `kernel`.
 */
export const IMPORTERS_MAX: Readonly<Record<string, number>> = { cells: 15 };

const LANES = 'gateway/lanes/live-lane.ts gateway/lanes/sandbox-lane.ts';

/** What single files may not import although their folder may: areas or files. If `only` is given, it is all that they may. */
export const FILE_IMPORTS: Readonly<Record<string, { only?: string; never: string }>> = {
  // Play money has no way to the ledger, to usage or to a provider.
  'gateway/lanes/sandbox-lane.ts': { only: 'gateway sandbox kernel limits', never: 'gateway/lanes/live-lane.ts' },
  // The sandbox answers and fails like a provider, and has no way to one.
  'gateway/lanes/sandbox-provider.ts': {
    only: 'gateway sandbox kernel providers/port/provider.ts',
    never: 'gateway/lanes/live-lane.ts',
  },
  // A live call is never answered or paid by the sandbox.
  'gateway/lanes/live-lane.ts': { never: 'sandbox gateway/lanes/sandbox-lane.ts' },
  // These know the type `Lane`, and app/compose.ts hands the lanes in.
  'gateway/pipeline.ts': { never: LANES },
  'gateway/run-in-lane.ts': { never: LANES },
};
