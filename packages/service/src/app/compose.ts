import type { Server } from 'node:http';
import path from 'node:path';
import { createKeyDirectory, readAppFacts } from '#developers/keys/directory.ts';
import { withSingleUseKeys } from '#developers/keys/single-use-keys.ts';
import { startKeyUse } from '#developers/keys/last-use.ts';
import { emailSealOf } from '#app/secrets/address-seal.ts';
import { openCallRecords } from '#app/monitoring/call-records.ts';
import { openCatalogue } from '#app/catalogue/catalogue.ts';
import { endsOf, openCells } from '#app/cells/open-cells.ts';
import type { Config } from '#app/settings/config.ts';
import { openMetrics } from '#app/monitoring/health.ts';
import { openPools, type Pools } from '#app/process/pools.ts';
import { openReaders } from '#app/reports/readers.ts';
import { openServer } from '#app/compose/open-server.ts';
import { composeWebhooks } from '#app/compose/webhooks.ts';
import { declareProcessMetrics } from '#app/monitoring/process-metrics.ts';
import { createReadiness } from '#app/monitoring/readiness.ts';
import { openStatus } from '#app/monitoring/status.ts';
import { startMail } from '#app/compose/mail.ts';
import { createIdempotency, type Idempotency } from '#idempotency/idempotency.ts';
import { createLinks } from '#connections/link.ts';
import { startClockWatch } from '#db/clock/clock-watch.ts';
import { startGenerations } from '#db/processes/generations.ts';
import { type Instance, startInstance } from '#db/processes/instance.ts';
import type { Pool } from '#db/pool/pool.ts';
import { selectDatabaseId } from '#db/processes/queries.ts';
import { startSmallTableStatistics } from '#db/health/small-table-statistics.ts';
import { createDrains } from '#gateway/stream/drains.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import { STREAM_PACE } from '#gateway/stream/keep-alive.ts';
import { createLiveLane } from '#gateway/lanes/live-lane.ts';
import { createRunningCalls } from '#gateway/lanes/running-calls.ts';
import type { Gateway } from '#gateway/pipeline.ts';
import { createWires } from '#gateway/wires/wires.ts';
import { createPseudonyms } from '#gateway/request/pseudonyms.ts';
import { createRejections } from '#gateway/retries/rejections.ts';
import { createSandboxLane } from '#gateway/lanes/sandbox-lane.ts';
import { createExactAddress } from '#http/requests/caller-address.ts';
import type { Closing } from '#http/listener/closing.ts';
import { createFrameWriter, type FrameWriters } from '#http/data-plane/frame-writer.ts';
import { type Clock, systemClock } from '#kernel/time/clock.ts';
import { markPort } from '#kernel/faults/failpoint.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import type { MetricReading } from '#kernel/metrics/metrics.ts';
import { createDrainSlots } from '#ledger/hold/drain-slots.ts';
import { createHolds, type Holds } from '#ledger/holds.ts';
import type { Channels } from '#ledger/turn/channel.ts';
import { declareSpoolMetrics } from '#ledger/settlement/metrics.ts';
import { reapHolds } from '#ledger/recovery/queries.ts';
import { startReaper } from '#ledger/recovery/reaper.ts';
import { BACKLOG_LIMITS } from '#ledger/settlement/settling.ts';
import { createSpool, type Spool } from '#ledger/settlement/spool.ts';
import { startLedgerWatch } from '#ledger/watch/watch.ts';
import { startMonths } from '#ledger/months/months.ts';
import { startSandboxExpiry } from '#sandbox/wallets/expiry.ts';
import { startSessionExpiry } from '#calls/sessions/expiry.ts';
import { reapSandboxHolds } from '#sandbox/holds/queries.ts';
import { createSandboxHolds } from '#sandbox/holds/sandbox-holds.ts';
import { startRollUp } from '#calls/roll-up/roll-up.ts';

interface ComposeOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly databaseUrl: string;
  readonly simulatorUrl: string | undefined;
  readonly log: Log;
  /** Reads the metrics of all processes of the service, merged. */
  readonly readAllMetrics: () => Promise<readonly MetricReading[]>;
  /** Channels to the ledger that this process shares with others. Undefined if it has one of its own. */
  readonly channels?: Channels | undefined;
  /** Shorter stream delays, for tests. */
  readonly pace?: StreamPace;
}

/** One gateway process, wired and running but not yet listening. */
export interface Service {
  readonly server: Server;
  /** Ends the listener without losing a request. */
  readonly closing: Closing;
  /** Stops the background work and gives up the lease. Call it when no request is in progress. */
  readonly stop: () => Promise<void>;
  /** Ends long polls, which would otherwise keep a shutdown waiting. Call it first. */
  readonly endWaits: () => void;
  /** The number of calls that hold money, whether or not their caller is still connected. */
  readonly callsInFlight: () => number;
  /** The number of requests being answered, plus work that continues after an answer. */
  readonly workInFlight: () => number;
  /** What `/metrics` shows. */
  readonly readMetrics: () => Promise<readonly MetricReading[]>;
  /** The number of settlements of answered calls that still wait for the database. */
  readonly settlementsKept: () => number;
}

/** Creates one gateway process from its modules. Read from top to bottom, this is the architecture. The schema must be current. */
export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, keys, databaseUrl, simulatorUrl, log, readAllMetrics, channels, pace = STREAM_PACE } = options;
  const clock = systemClock;
  const pools = openPools({ url: databaseUrl, log, emails: emailSealOf(keys) });
  const { upkeep, reads, sandbox: play } = pools;
  const { directory, apiKeys, keyUse, addressOf } = openApiKeys(upkeep, config, { clock, log });
  const cells = openCells({ ...pools, config, db: upkeep, keys, directory, addressOf, clock, log });
  const { providers, catalogue, upstreams } = openCatalogue(upkeep, log, config, simulatorUrl);
  const generations = await followChanges(upkeep, log, { accounts: apiKeys, catalogue, cells: cells.map });

  const instance = await startInstance(upkeep, log, config.leaseMs);
  await generations.confirmAs(instance.id);
  const spool = openSpool(config.dataDirectory, await selectDatabaseId(upkeep), clock, log);
  const holds = cells.overCells(openHolds({ pools, channels, instance, spool, log }));
  await holds.replay(); // Before the reaper starts: it could release holds whose settlements an earlier process left on disk.
  const drainSlots = createDrainSlots({ pool: reads, log });
  const sandboxHolds = createSandboxHolds({ reserve: play, settle: play }, instance, config.sandboxGrant);
  const upkeepJobs = startUpkeep({ holds, instance, pools, clock, log, config });

  const idempotency = openIdempotency(reads, keys, log);
  const links = createLinks({ keysOf: keys.proof, publicUrl: config.publicUrl, clock });
  const running = createRunningCalls(log);
  const live = createLiveLane({ holds, drainSlots, links, clientOf: providers.clientOf, upstreams, running });
  const sandbox = createSandboxLane({ holds: sandboxHolds, placeholders: links.placeholders, pace, running });
  const { noted, endCall, beginSpan } = await openCallRecords(pools.planes, config, log);
  const gateway: Gateway = {
    wires: createWires(keys),
    keys: apiKeys,
    addressOf: cells.addressOf,
    rateLimiter: markPort('rate', cells.rateLimiter),
    catalogue,
    pseudonyms: createPseudonyms(keys),
    lanes: { live: markPort('lane', live), sandbox: markPort('lane', sandbox) },
    log,
    drains: createDrains(),
    pace,
    idempotency,
    rejections: createRejections(idempotency.digests, clock),
    upstreams,
    keepsSessions: config.callLookupMs > 0,
    beginSpan,
  };
  const processMetrics = declareProcessMetrics({ callsInFlight: running.count });
  const { cellRoutes, ...read } = openReaders({ db: reads, pools, config, keys, clock, log, ...cells });
  const ends = endsOf(endCall, cells, cellRoutes);
  const bodyBytesMax = config.callBodyBytesMax;
  const dataPlane = { gateway, writers: openWriters(), bodyBytesMax, ...read, links, clock, ...ends };
  const webhooks = composeWebhooks({ config, keys, pools, clock, log });
  const outbox = startMail(config, pools.planes, log);
  const status = openStatus({ upkeep, pools, config, instance, spool, catalogue, log });
  const acts = { ...options, ...read, ...status, ...generations, pools, clock, apiKeys, catalogue, links, webhooks };
  const readiness = createReadiness({ ...config, ...instance, ...holds, pool: upkeep, log });
  const metrics = openMetrics(pools.planes, { config, clock, log, readAllMetrics });
  const { planes, inFlight, ...listens } = await openServer(acts, { dataPlane, readiness, metrics, log });
  return {
    ...listens,
    callsInFlight: () => running.count() + (cells.forwarding?.callsInFlight() ?? 0),
    workInFlight: inFlight.count,
    settlementsKept: spool.kept,
    endWaits: webhooks.listeners.endLooks,
    stop: async () => {
      processMetrics.stop();
      const timed = [generations, upkeepJobs, drainSlots, idempotency.answers, keyUse, outbox, webhooks.worker, noted];
      await Promise.all([...timed, gateway.rateLimiter, status, cells].map(({ stop }) => stop()));
      await endHolds({ instance, spool, planes, holds, log });
      for (const { close } of [providers, cells]) close();
      await pools.end();
    },
  };
}

/** Ends the planes, then the holds that nothing can use any more, then the lease. */
async function endHolds({ instance, spool, planes, holds, log }: EndedHolds): Promise<void> {
  const endLease = spool.kept() === 0 ? instance.stop : instance.leave; // `leave` keeps the holds of settlements on disk.
  await planes.close();
  await holds.stop();
  await endLease().catch(tellOfLease(log));
}

interface EndedHolds {
  readonly instance: Instance;
  readonly spool: Spool;
  readonly planes: { readonly close: () => Promise<unknown> };
  readonly holds: Pick<Holds, 'stop'>;
  readonly log: Log;
}

function tellOfLease(log: Log): (fault: unknown) => void {
  return (fault) => log.warn({ fault: describeFault(fault) }, 'the lease could not be given up and will expire');
}

/** Opens the keys in memory, the note of when each was last used, and the way to tell where a caller is. */
function openApiKeys(db: Pool, { appLimits, proxyHops }: Config, of: { readonly clock: Clock; readonly log: Log }) {
  const keyUse = startKeyUse({ db, ...of });
  const directory = markPort('keys', createKeyDirectory(db, appLimits, keyUse.note));
  const keys = withSingleUseKeys(directory, (appId) => readAppFacts(db, appLimits, appId));
  return { directory, apiKeys: keys, keyUse, addressOf: createExactAddress(proxyHops, of.log) };
}

/** Loads what is kept in memory, and again whenever the generation counter of that kind of configuration grows. */
async function followChanges(upkeep: Pool, log: Log, kept: Kept) {
  await Promise.all([kept.accounts.refresh(), kept.catalogue.refresh(), kept.cells?.refresh()]);
  const generations = startGenerations(upkeep, log);
  generations.subscribe('accounts', kept.accounts.refresh);
  generations.subscribe('catalogue', kept.catalogue.refresh);
  if (kept.cells !== undefined) generations.subscribe('cells', kept.cells.refresh);
  return generations;
}

interface Kept {
  readonly accounts: Refreshed;
  readonly catalogue: Refreshed;
  /** The map of cells that is loaded again. It is undefined if there are no other cells. */
  readonly cells: Refreshed | undefined;
}

/** Something in memory that can be loaded again from the database. */
interface Refreshed {
  readonly refresh: () => Promise<void>;
}

/** Opens the spool: the files that keep settlements while the database cannot take them. One directory for each database. */
function openSpool(dataDirectory: string, databaseId: string, clock: Clock, log: Log): Spool {
  const spool = createSpool({ directory: path.join(dataDirectory, 'settlements', databaseId), clock, log });
  declareSpoolMetrics(spool);
  return markPort('spool', spool);
}

/** The holds of real wallets in this database. */
function openHolds({ pools, channels, ...of }: HoldsOpened): Holds {
  const turns = channels ?? pools.openTurns();
  return createHolds({ pools: { turns, upkeep: pools.upkeep }, backlog: BACKLOG_LIMITS, ...of });
}

interface HoldsOpened {
  readonly pools: Pools;
  readonly channels: Channels | undefined;
  readonly instance: Instance;
  readonly spool: Spool;
  readonly log: Log;
}

function openWriters(): FrameWriters {
  return markPort('writers', { open: createFrameWriter });
}

function openIdempotency(pool: Pool, keys: Keys, log: Log): Idempotency {
  const idempotency = createIdempotency({ pool, keys, log });
  return { ...idempotency, answers: markPort('answers', idempotency.answers) };
}

/** Starts the periodic jobs that run whether or not there are calls. */
function startUpkeep({ holds, instance, pools, clock, log, config }: Upkeep): {
  readonly stop: () => Promise<unknown>;
} {
  const { isKeeper } = instance;
  const asKeeper =
    (release: (holdsMax: number) => Promise<number>) =>
    (holdsMax: number): Promise<number> => {
      if (isKeeper()) return release(holdsMax);
      // The reaper wants to know whether the database answers, and the lease asks it anyway.
      return instance.failedRenewals() === 0
        ? Promise.resolve(0)
        : Promise.reject(new Error('The lease is not renewed.'));
    };
  const jobs = [
    // Releases the holds of dead processes, live and sandbox. The spool is replayed first, so that a hold whose settlement
    // is on disk is charged and not released.
    startReaper({
      passes: [
        { prepare: holds.replay, release: asKeeper((holdsMax) => reapHolds(pools.upkeep, holdsMax)) },
        { release: asKeeper((holdsMax) => reapSandboxHolds(pools.sandbox, holdsMax)) },
        { release: holds.releaseOrphans },
      ],
      log,
      leaseMs: config.leaseMs,
    }),
    startSandboxExpiry(pools.sandbox, log, isKeeper),
    startSessionExpiry({ pool: pools.upkeep, log, keptMs: config.callLookupMs, isKeeper }),
    startLedgerWatch({ pool: pools.watch, clock, log }),
    startRollUp({ pool: pools.stats, log, isKeeper }),
    startMonths(pools.upkeep, log, isKeeper),
    startSmallTableStatistics(pools.upkeep, log, isKeeper),
    startClockWatch(pools.upkeep, log, isKeeper),
  ];
  return { stop: () => Promise.all(jobs.map(({ stop }) => stop())) };
}

interface Upkeep {
  readonly holds: Holds;
  readonly instance: Instance;
  readonly pools: Pools;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: Config;
}
