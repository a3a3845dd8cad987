import type { RuleSet } from './rule-set.ts';

const DEVELOPERS = ['tests', 'tools'];

/** The rules of the house as data. Why each is there: docs/ARCHITECTURE.md and docs/STYLE.md. */
export const RULES: RuleSet = {
  areas: {
    contract: [],
    simulator: [],
    kernel: [],
    db: ['kernel'],
    embedded: ['kernel'],
    providers: ['kernel', 'contract'],
    accounts: ['kernel', 'db'],
    catalogue: ['kernel', 'db', 'contract'],
    limits: ['kernel', 'db'],
    attempts: ['kernel', 'db'],
    mail: ['kernel', 'db'],
    audit: ['kernel', 'db'],
    webhooks: ['kernel', 'db', 'contract'],
    operator: ['kernel', 'db', 'accounts', 'catalogue', 'ledger', 'audit', 'contract'],
    usage: ['kernel', 'db'],
    sandbox: ['kernel', 'db'],
    ledger: ['kernel', 'db'],
    connections: ['kernel', 'db', 'ledger'],
    gateway: [
      'kernel',
      'accounts',
      'catalogue',
      'limits',
      'attempts',
      'ledger',
      'connections',
      'usage',
      'sandbox',
      'providers',
      'contract',
    ],
    http: [
      'kernel',
      'accounts',
      'catalogue',
      'ledger',
      'connections',
      'usage',
      'sandbox',
      'mail',
      'gateway',
      'operator',
      'webhooks',
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
      'attempts',
      'usage',
      'sandbox',
      'ledger',
      'connections',
      'mail',
      'operator',
      'webhooks',
      'gateway',
      'http',
      'contract',
      'simulator',
    ],
    cli: ['app', 'kernel', 'db', 'embedded', 'accounts', 'ledger', 'catalogue', 'operator', 'webhooks', 'contract'],
  },

  allowedImports: [
    {
      from: 'kernel/refusal.ts',
      to: 'contract/errors.ts',
      reason: 'A refusal carries a code of the wire, so that a signature lists what a route may answer.',
    },
  ],

  fileImports: [
    {
      file: 'gateway/sandbox-lane.ts',
      only: ['gateway', 'sandbox', 'kernel', 'limits'],
      never: ['gateway/live-lane.ts'],
      reason: 'play money has no way to the ledger, to usage or to a provider',
    },
    {
      file: 'gateway/sandbox-provider.ts',
      only: ['gateway', 'sandbox', 'kernel', 'providers/provider.ts'],
      never: ['gateway/live-lane.ts'],
      reason: 'the sandbox answers and fails like a provider, and has no way to one',
    },
    {
      file: 'gateway/live-lane.ts',
      never: ['sandbox', 'gateway/sandbox-lane.ts'],
      reason: 'a live call is never answered or paid by the sandbox',
    },
    {
      file: 'gateway/pipeline.ts',
      never: ['gateway/live-lane.ts', 'gateway/sandbox-lane.ts'],
      reason: 'it knows the type `Lane`, and app/compose.ts hands the lanes in',
    },
    {
      file: 'gateway/run-in-lane.ts',
      never: ['gateway/live-lane.ts', 'gateway/sandbox-lane.ts'],
      reason: 'it knows the type `Lane`, and app/compose.ts hands the lanes in',
    },
  ],

  modules: {
    pg: [{ user: 'db' }, { user: 'embedded' }],
    fastify: [{ user: 'http' }],
    undici: [{ user: 'providers' }, { user: 'webhooks/deliver.ts' }, { user: 'cli/listener-client.ts' }],
    nodemailer: [{ user: 'mail/smtp.ts' }],
    'eventsource-parser': [{ user: 'providers/sse.ts' }],
    pino: [{ user: 'kernel/log.ts' }, { user: 'http', isTypeOnly: true }],
    zod: [{ user: 'contract' }, { user: 'catalogue' }, { user: 'app' }, { user: 'http' }],
    // Where `process.env` and `performance.now` would get round the rules on code below.
    'node:process': [],
    'node:perf_hooks': [{ user: 'app' }, { user: 'kernel/clock.ts' }],
  },

  aliases: {
    '#': 'packages/service/src/',
    '@purser/contract/': 'packages/contract/src/',
    '@purser/simulator/': 'packages/simulator/src/',
    '@purser/service/': 'packages/service/',
  },

  sizes: { fileLines: 300, functionLines: 70 },
  groupingFunctions: ['describe', 'suite'],

  sql: {
    schemas: [
      'accounts',
      'audit',
      'mail',
      'webhooks',
      'catalogue',
      'limits',
      'attempts',
      'ledger',
      'sandbox',
      'usage',
      'db',
    ],
    homes: {
      fileNames: ['queries.ts', 'account-queries.ts', 'operator-queries.ts'],
      places: ['db', 'embedded/postmaster.ts'],
    },
    migrations: 'packages/service/migrations/',
    mentions: {
      ledger: ['usage', 'attempts', 'webhooks'],
      sandbox: ['attempts'],
      attempts: ['usage'],
      usage: ['ledger', 'catalogue'],
    },
  },

  restrictedCode: [
    {
      code: 'process . env',
      allowed: ['app/config.ts', ...DEVELOPERS],
      instead: 'Read the setting in app/config.ts and hand its typed value down.',
    },
    {
      code: 'process [ env ]',
      allowed: ['app/config.ts', ...DEVELOPERS],
      instead: 'Read the setting in app/config.ts and hand its typed value down.',
    },
    {
      code: 'env } = process',
      allowed: ['app/config.ts', ...DEVELOPERS],
      instead: 'Read the setting in app/config.ts and hand its typed value down.',
    },
    {
      code: 'Date . now',
      allowed: ['kernel/clock.ts', 'simulator/answer.ts', ...DEVELOPERS],
      instead: 'Take a `Clock` (kernel/clock.ts).',
    },
    { code: 'new Date', allowed: ['kernel/clock.ts', ...DEVELOPERS], instead: 'Use kernel/clock.ts.' },
    {
      code: 'performance . now',
      allowed: ['kernel/clock.ts', ...DEVELOPERS],
      instead: 'Take a `Clock` (kernel/clock.ts).',
    },
    {
      code: 'Math . random',
      allowed: ['kernel/random.ts', ...DEVELOPERS],
      instead: 'Use kernel/random.ts, which draws from the generator of the system.',
    },
    { code: '^fetch (', allowed: DEVELOPERS, instead: 'Call out by a port that has a deadline and a limit.' },
    { code: 'globalThis . fetch', allowed: DEVELOPERS, instead: 'Call out by a port that has a deadline and a limit.' },
    {
      code: '^console .',
      allowed: ['cli', 'app/banner.ts', ...DEVELOPERS],
      instead: 'Log by a `Log` (kernel/log.ts).',
    },
    {
      code: 'as Micros',
      allowed: ['kernel/micros.ts'],
      instead: 'Use `micros` or `microsFromRow` (kernel/micros.ts).',
    },
    { code: 'enum WORD', allowed: [], instead: 'Use a union of literals; `enum` is not erasable.' },
    { code: ': any', allowed: [], instead: 'Use `unknown` and parse it.' },
    { code: 'as any', allowed: [], instead: 'Use `unknown` and parse it.' },
  ],

  bannedCommentWords: ['@ts-ignore', 'TODO', 'FIXME', 'XXX'],
  bannedFileNames: ['utils.ts', 'helpers.ts', 'types.ts', 'common.ts'],
  entries: ['cli/main.ts'],

  exceptions: [
    {
      rule: 'sql-owner',
      file: 'packages/service/src/ledger/queries.ts',
      name: 'db.current_month',
      reason:
        'What is spent this month is zero in a month that no hold has begun; the month must be the one of the holds.',
    },
  ],

  minimums: {
    'repository files': 100,
    'TypeScript files': 80,
    'service files': 50,
    imports: 350,
    functions: 700,
    'exported names': 170,
    'SQL texts': 25,
    migrations: 5,
    'database objects': 20,
  },
};
