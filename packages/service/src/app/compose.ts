import type { Server } from 'node:http';
import path from 'node:path';
import { createAppProfiles } from '#accounts/app-profile.ts';
import { createKeyDirectory } from '#accounts/key-directory.ts';
import { startKeyUse } from '#accounts/key-use.ts';
import type { Config } from '#app/config.ts';
import { composePlanes } from '#app/control-plane.ts';
import { composeWebhooks, DELIVERIES_CONNECTIONS_MAX } from '#app/webhooks.ts';
import { declareProcessMetrics } from '#app/process-metrics.ts';
import { createReadiness } from '#app/readiness.ts';
import { createIdempotency } from '#idempotency/idempotency.ts';
import { createCatalogue } from '#catalogue/catalogue.ts';
import { createLinks } from '#connections/link.ts';
import { startGenerations } from '#db/generations.ts';
import { startInstance } from '#db/instance.ts';
import { createPool, type Pool } from '#db/pool.ts';
import { selectDatabaseId } from '#db/queries.ts';
import { startSmallTableStatistics } from '#db/small-table-statistics.ts';
import { createDrains } from '#gateway/stream/drains.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import { STREAM_PACE } from '#gateway/stream/keep-alive.ts';
import { createCountedLane } from '#gateway/lanes/counted-lane.ts';
import { createLiveLane } from '#gateway/lanes/live-lane.ts';
import type { Gateway } from '#gateway/pipeline.ts';
import { createPseudonyms } from '#gateway/request/pseudonyms.ts';
import { createRejections } from '#gateway/idempotency/rejections.ts';
import { createSandboxLane } from '#gateway/lanes/sandbox-lane.ts';
import { createHttpServer } from '#http/server.ts';
import { createUnderWay } from '#http/under-way.ts';
import { type Clock, steadyClock, systemClock } from '#kernel/clock.ts';
import type { Mode } from '#kernel/ids.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics.ts';
import { createDrainSlots } from '#ledger/hold/drain-slots.ts';
import { createHolds, type Holds } from '#ledger/holds.ts';
import { declareSpoolMetrics } from '#ledger/settlement/metrics.ts';
import { reapHolds } from '#ledger/recovery/queries.ts';
import { startReaper } from '#ledger/recovery/reaper.ts';
import { BACKLOG_LIMITS } from '#ledger/settlement/settling.ts';
import { createSpool, type Spool } from '#ledger/settlement/spool.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { CHECK_STATEMENT_MS_MAX, startLedgerWatch } from '#ledger/check/watch.ts';
import { createRateLimiter } from '#limits/rate-limit.ts';
import { startOutbox } from '#mail/outbox.ts';
import { createSmtpSender } from '#mail/smtp.ts';
import { createProviderRegistry } from '#providers/registry.ts';
import { startSandboxExpiry } from '#sandbox/expiry.ts';
import { reapSandboxHolds } from '#sandbox/queries.ts';
import { createSandboxHolds } from '#sandbox/sandbox-hold.ts';
import { REPORT_STATEMENT_MS_MAX, REPORTS_MAX } from '#usage/report.ts';
import { createUsage } from '#usage/usage.ts';

interface ComposeOptions {
  readonly config: Config;
  readonly databaseUrl: string;
  readonly simulatorUrl: string | undefined;
  readonly log: Log;
  /** What all processes of the service have counted together. */
  readonly readAllMetrics: () => Promise<readonly MetricReading[]>;
  /** For tests that are in a hurry. */
  readonly pace?: StreamPace;
}

/** One gateway process, wired and running but not yet listening. */
export interface Service {
  readonly server: Server;
  /** Ends what runs in the background and gives up the lease. Call when no request is under way. */
  readonly stop: () => Promise<void>;
  /** Lets nobody wait for what may come later. Call first. */
  readonly endWaits: () => void;
  /** Calls that hold money, whether or not their caller is still there. */
  readonly callsUnderWay: () => number;
  /** Requests that are being answered, and what goes on behind an answer. */
  readonly workUnderWay: () => number;
  /** Settlements that wait for the database, their calls answered. */
  readonly settlementsKept: () => number;
}

const SHARED_CONNECTIONS_MAX = 4;
/** Anybody may send to the planes of accounts and apps, so that no call waits for what they do. */
const PLANES_CONNECTIONS_MAX = 3;
const UPKEEP_CONNECTIONS_MAX = 3;
const ANSWERS_CONNECTIONS_MAX = 4;

/** Where the modules meet: read from top to bottom, this is the architecture. The database must be migrated. */
export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, databaseUrl, simulatorUrl, log, readAllMetrics, pace = STREAM_PACE } = options;
  const clock = systemClock;
  const { pool, shared, upkeep, endPools } = createPools(databaseUrl, log);

  const keyUse = startKeyUse({ db: upkeep, clock, log });
  const keys = createKeyDirectory(upkeep, config.appLimits, keyUse.note);
  const providers = createProviderRegistry({ simulatorUrl, readEnvironment: config.readEnvironment });
  const catalogue = createCatalogue(upkeep, providers.canReach);
  await Promise.all([keys.refresh(), catalogue.refresh()]);
  const generations = followChanges(upkeep, log, { accounts: keys, catalogue });

  const instance = await startInstance(upkeep, log, config.leaseMs);
  const spool = openSpool(config.dataDirectory, await selectDatabaseId(upkeep), clock, log);
  const holds = createHolds({ pools: openLanePools(pool, 'live'), instance, spool, backlog: BACKLOG_LIMITS, log });
  await holds.replay(); // What an earlier process has left is charged before anything can be released.
  const drainSlots = createDrainSlots({ pool: shared, log });
  const sandboxPools = openLanePools(pool, 'sandbox');
  const sandboxHolds = createSandboxHolds(sandboxPools, instance, config.sandboxGrant);
  const upkeepPools = { live: upkeep, sandbox: sandboxPools.settle, check: openCheckPool(pool) };
  const turns = startUpkeep({ holds, pools: upkeepPools, clock, log, leaseMs: config.leaseMs });

  const idempotency = createIdempotency({ pool: pool('live', ANSWERS_CONNECTIONS_MAX), secret: config.secret, log });
  const links = createLinks({ secret: config.secret, publicUrl: config.publicUrl, clock });
  const live = createLiveLane({ holds, drainSlots, links, clientOf: providers.clientOf });
  const sandbox = createSandboxLane({ holds: sandboxHolds, placeholders: links.placeholders, pace });
  const counting = { underWay: new Set<CallId>(), log };
  const gateway: Gateway = {
    keys,
    rateLimiter: createRateLimiter(pool('live', 1), steadyClock),
    catalogue,
    pseudonyms: createPseudonyms(config.secret),
    lanes: { live: createCountedLane(live, counting), sandbox: createCountedLane(sandbox, counting) },
    log,
    drains: createDrains(),
    pace,
    idempotency,
    rejections: createRejections(idempotency.digests, clock),
  };
  const processMetrics = declareProcessMetrics({ callsUnderWay: () => counting.underWay.size });
  const metrics = { token: config.metricsToken, readAll: readAllMetrics };
  const read = { wallets: createWallets(shared), usage: createUsage(shared), apps: createAppProfiles(shared) };
  const dataPlane = { gateway, ...read, links, currency: config.currency, clock };
  const planePools = openPlanePools(pool);
  const webhooks = composeWebhooks({ config, pools: planePools, clock, log });
  const outbox = startMail(config, planePools.shared, log);
  const underWay = createUnderWay();
  const kept = { keys, catalogue, underWay, links, ...webhooks };
  const planes = await composePlanes({ config, pools: planePools, clock, log, ...kept });
  return {
    server: createHttpServer({ dataPlane, planes, isReady: createReadiness(upkeep, log), metrics, log, underWay }),
    callsUnderWay: () => counting.underWay.size,
    workUnderWay: underWay.count,
    settlementsKept: spool.kept,
    endWaits: webhooks.listeners.endLooks,
    stop: async () => {
      processMetrics.stop();
      const timed = [generations, turns, drainSlots, idempotency.answers, keyUse, outbox, webhooks.worker];
      await Promise.all([...timed, gateway.rateLimiter].map(({ stop }) => stop()));
      const endLease = spool.kept() === 0 ? instance.stop : instance.leave;
      await planes.close();
      await holds.stop();
      await endLease().catch((fault: unknown) => log.warn({ fault: describeFault(fault) }, 'the lease was left'));
      providers.close();
      await endPools();
    },
  };
}

/** Keeps what is in memory up to date, by the counter of each kind of configuration. */
function followChanges(upkeep: Pool, log: Log, kept: Readonly<Record<'accounts' | 'catalogue', Refreshed>>) {
  const generations = startGenerations(upkeep, log);
  generations.subscribe('accounts', kept.accounts.refresh);
  generations.subscribe('catalogue', kept.catalogue.refresh);
  return generations;
}

interface Refreshed {
  readonly refresh: () => Promise<void>;
}

/** Where settlements lie while their own database cannot take them, and the metrics of it. */
function openSpool(dataDirectory: string, databaseId: string, clock: Clock, log: Log): Spool {
  const spool = createSpool({ directory: path.join(dataDirectory, 'settlements', databaseId), clock, log });
  declareSpoolMetrics(spool);
  return spool;
}

/** What goes on by itself, whether or not anybody calls. */
function startUpkeep({ holds, pools, clock, log, leaseMs }: Upkeep): { readonly stop: () => Promise<unknown> } {
  const turns = [
    // Gives back what processes held that have died, of both kinds of money.
    startReaper({
      passes: [
        { prepare: holds.replay, release: (holdsMax) => reapHolds(pools.live, holdsMax) },
        { release: (holdsMax) => reapSandboxHolds(pools.sandbox, holdsMax) },
        { release: holds.releaseOrphans },
      ],
      log,
      leaseMs,
    }),
    startSandboxExpiry(pools.sandbox, log),
    startLedgerWatch({ pool: pools.check, clock, log }),
    startSmallTableStatistics(pools.live, log),
  ];
  return { stop: () => Promise.all(turns.map(({ stop }) => stop())) };
}

interface Upkeep {
  readonly holds: Holds;
  readonly pools: { readonly live: Pool; readonly sandbox: Pool; readonly check: Pool };
  readonly clock: Clock;
  readonly log: Log;
  readonly leaseMs: number;
}

/** Mail is handed over where there is a mail server; in development its texts stay for the mailbox page. */
function startMail({ mail, environment }: Config, pool: Pool, log: Log) {
  const send = mail === undefined ? undefined : createSmtpSender(mail);
  return startOutbox({ pool, send, keepsBodies: environment === 'development', log });
}

type OpenPool = ReturnType<typeof createPools>['pool'];

/** One connection for each statement that calls of a mode are batched into. */
function openLanePools(pool: OpenPool, mode: Mode) {
  return { reserve: pool(mode, 1), settle: pool(mode, 1) };
}

function openCheckPool(pool: OpenPool): Pool {
  return pool('live', 1, { statementMsMax: CHECK_STATEMENT_MS_MAX });
}

/** A report may take long: nothing else waits for its connections. */
function openPlanePools(pool: OpenPool) {
  return {
    shared: pool('live', PLANES_CONNECTIONS_MAX),
    sandbox: pool('sandbox', 1),
    check: openCheckPool(pool),
    deliveries: pool('live', DELIVERIES_CONNECTIONS_MAX),
    reports: pool('live', REPORTS_MAX, { statementMsMax: REPORT_STATEMENT_MS_MAX }),
  };
}

/**
 * Opens pools, and ends them all. A batched statement has a connection of its own, so that none waits for another's; nor
 * does what keeps this process alive and up to date (`upkeep`) wait for anybody's summary.
 */
function createPools(url: string, log: Log) {
  const pools: Pool[] = [];
  const pool = (role: Mode, connectionsMax: number, limits: { readonly statementMsMax?: number } = {}): Pool => {
    const opened = createPool({ url, role, connectionsMax, log, ...limits });
    pools.push(opened);
    return opened;
  };
  return {
    pool,
    shared: pool('live', SHARED_CONNECTIONS_MAX),
    upkeep: pool('live', UPKEEP_CONNECTIONS_MAX),
    endPools: () => Promise.all(pools.map((one) => one.end())),
  };
}
