import type { CatalogueProvider } from '@purser/contract/catalogue-providers.ts';
import { countOperators, selectOperatorsWithoutFactor } from '#developers/operators/queries.ts';
import { selectPriceState, selectProviders } from '#catalogue/queries.ts';
import {
  selectDatabaseHealth,
  selectInstances,
  selectOwnState,
  selectServer,
  type ServerRow,
} from '#db/health/queries.ts';
import { isUsable, readSchema, SCHEMA_VERSION } from '#db/schema/migrate.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectOpenRestore } from '#db/identity/restore-queries.ts';
import { selectOldestSchema, selectRights } from '#db/schema/queries.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { listChecks } from '#ledger/check/history.ts';
import { selectLedgerAttention } from '#ledger/overview/attention-queries.ts';
import { selectWebhooksAttention } from '#webhooks/history/attention-queries.ts';

/** What the settings and the machine of this process say. Never a value that may be a secret. */
export interface OwnFacts {
  readonly isProduction: boolean;
  /** What a start would refuse, a sentence each. Undefined for a running service, and if no database was reached. */
  readonly startFaults: readonly string[] | undefined;
  /** Why the database server lets nobody in, if it answered. */
  readonly refusal: string | undefined;
  readonly publicUrl: string;
  readonly proxyHops: number;
  readonly sendsMail: boolean;
  readonly payments: 'none' | 'test money' | 'test key' | 'live';
  /** Whether a large act waits for a second person. */
  readonly needsSecondPerson: boolean;
  /** Whether the provider of operators has to say that a second factor was used. Undefined if there is no provider. */
  readonly ssoSaysFactor: boolean | undefined;
  /** Settings that are allowed and that few want in production, each with the reason. */
  readonly unwiseSettings: readonly string[];
  /** The server runs in the data directory, and keeps its log where PURSER_BACKUP_DIR says. */
  readonly isEmbedded: boolean;
  /** The folder of backups of the embedded server. `lastAtMs`: when the last whole one ended. Undefined if no folder is set. */
  readonly backups:
    | 'unreadable'
    | { readonly lastAtMs: number | undefined; readonly isOnDataDisk: boolean }
    | undefined;
  /** The secret is being changed. */
  readonly hasTwoSecrets: boolean;
  readonly disk: { readonly freeBytes: number; readonly totalBytes: number } | undefined;
}

/** What the database says. */
export interface StoredFacts {
  readonly nowMs: number;
  readonly server: string;
  /** The schema of the database, and that of this build. */
  readonly schema: { readonly is: number; readonly ours: number; readonly isFromBeforeRelease: boolean };
  readonly serverSettings: readonly { readonly name: string; readonly value: string }[];
  readonly connections: { readonly used: number; readonly most: number };
  /** How far the database's clock is ahead of this machine's. */
  readonly skewMs: number;
  readonly secretFits: boolean;
  readonly gateways: number;
  readonly books: { readonly differences: number; readonly checkedSecondsAgo: number | undefined };
  readonly lastFullCheckAtMs: number | undefined;
  readonly mail: { readonly waitingLong: number; readonly failedOfDay: number };
  readonly webhooks: { readonly late: number; readonly disabled: number };
  /** Names of providers. */
  readonly missingKeys: readonly string[];
  /** The database came out of a backup, and nobody has said yet that the original is gone. */
  readonly restored: { readonly untilMs: number | undefined } | undefined;
  readonly hosting: ServerRow;
  readonly prices: { readonly unpriced: readonly string[]; readonly changedDaysAgo: number | undefined };
  readonly operators: { readonly withoutFactor: readonly string[]; readonly all: number; readonly movers: number };
}

export interface FactOptions {
  readonly pool: Pool;
  /** Whether this process has the secret of the database. Null if the database has known none yet. */
  readonly isOwnSecret: (fingerprint: Buffer | null) => boolean;
  readonly hasKey: (provider: CatalogueProvider) => boolean;
  readonly readMail: (pool: Pool) => Promise<StoredFacts['mail']>;
}

const COUNTED_MAX = 1_000;
const NAMED_MAX = 20;
const CHECKS_MAX = 200;
const DAY_SECONDS = 86_400;

/** Reads what the doctor judges, in fourteen statements; of another schema only its number. Throws if the database does not answer. */
export async function readStoredFacts(options: FactOptions): Promise<StoredFacts | Pick<StoredFacts, 'schema'>> {
  const { pool, isOwnSecret, hasKey, readMail } = options;
  if (!(await selectRights(pool)).has_schema) {
    return { schema: { is: 0, ours: SCHEMA_VERSION, isFromBeforeRelease: false } };
  }
  const { version: is, isFromBeforeRelease } = await readSchema(pool);
  const schema = { is, ours: SCHEMA_VERSION, isFromBeforeRelease };
  if (schema.isFromBeforeRelease || schema.is < schema.ours) return { schema };
  if (schema.is > schema.ours && !isUsable(await selectOldestSchema(pool))) return { schema };
  const begunMs = systemClock.nowMs();
  const own = await selectOwnState(pool);
  const nowMs = systemClock.nowMs();
  const [
    health,
    instances,
    ledger,
    checks,
    mail,
    webhooks,
    providers,
    withoutFactor,
    operators,
    hosting,
    prices,
    restore,
  ] = await Promise.all([
    selectDatabaseHealth(pool),
    selectInstances(pool, COUNTED_MAX),
    selectLedgerAttention(pool, COUNTED_MAX),
    listChecks(pool, CHECKS_MAX),
    readMail(pool),
    selectWebhooksAttention(pool, COUNTED_MAX),
    selectProviders(pool),
    selectOperatorsWithoutFactor(pool, NAMED_MAX),
    countOperators(pool),
    selectServer(pool),
    selectPriceState(pool, NAMED_MAX),
    selectOpenRestore(pool),
  ]);
  const checkedSeconds = ledger.checked_seconds;
  return {
    nowMs,
    server: health.version,
    schema,
    serverSettings: health.settings,
    connections: {
      used: health.connections.reduce((sum, { count }) => sum + count, 0),
      most: health.connections_max,
    },
    skewMs: own.now_ms - (begunMs + nowMs) / 2,
    secretFits: isOwnSecret(own.secret_fingerprint),
    gateways: instances.filter(({ lease_seconds: seconds }) => seconds > 0).length,
    books: {
      differences: Number(ledger.differences),
      checkedSecondsAgo: checkedSeconds === 0 ? undefined : Math.max(0, own.now_ms / 1_000 - checkedSeconds),
    },
    lastFullCheckAtMs: checks.find(({ kind }) => kind === 'full')?.endedAtMs,
    mail,
    webhooks: { late: webhooks.late, disabled: webhooks.disabled.length },
    missingKeys: providers.filter(({ definition }) => !hasKey(definition)).map(({ name }) => name),
    restored: restore && { untilMs: restore.until_at?.getTime() },
    hosting,
    prices: {
      unpriced: prices.unpriced,
      changedDaysAgo: prices.changed_seconds === null ? undefined : Math.floor(prices.changed_seconds / DAY_SECONDS),
    },
    operators: { withoutFactor: withoutFactor.map(({ email }) => email), ...operators },
  };
}
