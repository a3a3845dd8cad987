/**
 * What becomes of a table when there are several cells. `directory`: it is written in one cell and copied to all. `cell`: each cell has the rows of
 * its own users. `local`: it is about this database alone.
 */
type TableClass = 'directory' | 'cell' | 'local';

/** All tables, by schema. A test compares them with the schema. */
export const TABLES: Readonly<Record<string, Readonly<Partial<Record<TableClass, readonly string[]>>>>> = {
  accounts: {
    directory: [
      'accounts',
      'answered_challenges',
      'api_keys',
      'app_logos',
      'apps',
      'authenticators',
      'email_verifications',
      'enrolments',
      'invitations',
      'listen_tokens',
      'members',
      'passkeys',
      'password_resets',
      'pending_sign_ins',
      'recovery_codes',
      'sessions',
      'test_tokens',
    ],
  },
  audit: { local: ['addresses', 'entries', 'head', 'links', 'sign_ins'] },
  catalogue: {
    directory: ['aliases', 'applied_files', 'models', 'price_ends', 'prices', 'providers'],
    local: ['drafts'],
  },
  cells: { directory: ['cells', 'slots'], local: ['arrivals', 'own'] },
  connections: { cell: ['alerts', 'connections', 'releases'] },
  db: {
    directory: ['generations', 'kept_keys'],
    local: ['clock', 'compatibility', 'functions', 'identity', 'instances', 'migrations', 'restores'],
  },
  idempotency: { cell: ['kept_answers'] },
  // People sign in to the wallets of each cell separately.
  identities: { cell: ['answered_challenges', 'codes', 'identities', 'moves', 'passkeys', 'sessions'] },
  ledger: {
    cell: ['earlier_acts', 'holds', 'journal', 'key_budgets', 'leaving', 'spent_elsewhere', 'wallets'],
    local: ['allowances', 'checkpoints', 'checks', 'last_check', 'month_budgets', 'month_wallets', 'months'],
  },
  limits: { local: ['askers', 'buckets', 'token_leases'] },
  mail: { local: ['messages'] },
  operator: { cell: ['movements', 'pending_acts'] },
  payments: {
    cell: [
      'cases',
      'checkouts',
      'dispute_movements',
      'payments',
      'processor_webhooks',
      'refunds',
      'test_checkouts',
      'test_events',
      'test_movements',
      'test_payments',
      'test_refunds',
    ],
  },
  reconciliation: { local: ['items', 'reports'] },
  sandbox: { cell: ['holds', 'key_budgets', 'sessions', 'wallets'] },
  stats: { local: ['hours', 'keys', 'passes', 'rebuilt', 'watermarks'] },
  status: { local: ['incidents', 'service', 'usual'] },
  traces: { cell: ['calls'] },
  usage: { cell: ['calls', 'late_receipts', 'session_calls', 'sessions'] },
  webhooks: { directory: ['event_key', 'subscriptions'], cell: ['attempts', 'copies', 'events'] },
};

/** A table of the directory, and what every cell may do to its own copy all the same. */
export interface DirectoryTable {
  readonly name: string;
  /** Columns that each cell writes for itself: when it has last seen a thing, and whether deliveries from there fail. */
  readonly ownColumns: readonly string[];
  /** A row may be deleted once this time is over, in every cell. */
  readonly expiresBy: string | null;
  /** Whether the table has rows before anybody has used the database. */
  readonly isSeeded: boolean;
}

const OWN_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'accounts/api_keys': ['last_used_at'],
  'accounts/listen_tokens': ['last_used_at'],
  'accounts/sessions': ['last_used_at'],
  'accounts/test_tokens': ['last_used_at'],
  'webhooks/subscriptions': [
    'status',
    'disabled_reason',
    'failures_in_row',
    'exhausted_in_row',
    'drop_told_at',
    'last_failed_at',
    'last_failed_status',
    'last_failed_error',
  ],
};

const EXPIRES_BY: Readonly<Record<string, string>> = {
  'accounts/answered_challenges': 'expires_at',
  'accounts/email_verifications': 'expires_at',
  'accounts/enrolments': 'expires_at',
  'accounts/invitations': 'expires_at',
  'accounts/listen_tokens': 'expires_at',
  'accounts/password_resets': 'expires_at',
  'accounts/pending_sign_ins': 'expires_at',
  'accounts/sessions': 'expires_at',
  'webhooks/subscriptions': 'listening_until',
};

const EVENT_KEY = 'webhooks/event_key';
const SEEDED: readonly string[] = ['db/generations', EVENT_KEY];

/** The table that tells one directory from another: its one row is random since the first cell's database was made, and copied to all cells. */
export const MARK = EVENT_KEY.replace('/', '.');

/** All tables of the directory. */
export const DIRECTORY: readonly DirectoryTable[] = Object.entries(TABLES).flatMap(([schema, { directory = [] }]) =>
  directory.map((table) => {
    const key = `${schema}/${table}`;
    return {
      name: `${schema}.${table}`,
      ownColumns: OWN_COLUMNS[key] ?? [],
      expiresBy: EXPIRES_BY[key] ?? null,
      isSeeded: SEEDED.includes(key),
    };
  }),
);
