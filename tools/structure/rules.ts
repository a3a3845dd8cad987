import { ALLOWED_IMPORTS, AREAS, FILE_IMPORTS, PACKAGES } from './areas.ts';
import { ROOMS } from './rooms.ts';
import type { RuleSet } from './rule-set.ts';

/** The rules of the house as data. Why each is there: docs/ARCHITECTURE.md and docs/STYLE.md. */
export const RULES: RuleSet = {
  areas: AREAS,
  rooms: ROOMS,
  allowedImports: ALLOWED_IMPORTS,
  fileImports: FILE_IMPORTS,

  aliases: {
    '#': 'packages/service/src/',
    ...Object.fromEntries(PACKAGES.map((name) => [`@purser/${name}/`, `packages/${name}/src/`])),
    '@purser/service/': 'packages/service/',
  },

  sql: {
    schemas: [
      'accounts',
      'identities',
      'connections',
      'payments',
      'reconciliation',
      'audit',
      'mail',
      'webhooks',
      'catalogue',
      'limits',
      'idempotency',
      'ledger',
      'operator',
      'sandbox',
      'usage',
      'traces',
      'stats',
      'status',
      'cells',
      'db',
    ],
    homes: {
      fileNames: [
        'queries.ts',
        'account-queries.ts',
        'operator-queries.ts',
        'case-queries.ts',
        'overview-queries.ts',
        'drain-queries.ts',
        'history-queries.ts',
        'listener-queries.ts',
        'team-queries.ts',
        'factor-queries.ts',
        'pending-queries.ts',
        'verification-queries.ts',
        'listen-token-queries.ts',
        'sso-queries.ts',
        'privacy-queries.ts',
        'chain-queries.ts',
        'search-queries.ts',
        'health-queries.ts',
        'key-queries.ts',
        'rebuild-queries.ts',
        'reconciliation-queries.ts',
        'rate-queries.ts',
        'appointment-queries.ts',
        'attention-queries.ts',
        'call-queries.ts',
        'find-queries.ts',
        'moving-queries.ts',
        'session-queries.ts',
      ],
      places: ['db', 'embedded/postmaster.ts'],
    },
    migrations: 'packages/service/migrations/',
    expandsAfter: 67,
    functions: 'packages/service/src/',
    mentions: {
      ledger: ['usage', 'idempotency', 'webhooks'],
      sandbox: ['idempotency'],
      idempotency: ['usage'],
      usage: ['ledger', 'catalogue'],
      stats: ['ledger', 'usage', 'traces', 'catalogue'],
    },
  },

  bannedFileNames: ['index.ts', 'utils.ts', 'helpers.ts', 'types.ts', 'common.ts'],
  entries: ['cli/main.ts'],

  exceptions: [
    {
      rule: 'sql-owner',
      file: 'packages/service/src/ledger/wallet/queries.ts',
      name: 'db.current_month',
      reason: 'Spending starts at zero in a month without holds; the month must be the one that holds use.',
    },
  ],

  minimums: {
    'repository files': 100,
    'TypeScript files': 80,
    'service files': 50,
    imports: 350,
    'exported names': 170,
    'SQL texts': 25,
    migrations: 5,
    'function files': 40,
    'database objects': 20,
  },
};
