import type { Server } from 'node:http';
import { type Served, openCatalogue } from '#app/catalogue/catalogue.ts';
import { type Cells, openCells } from '#app/cells/open-cells.ts';
import { type ApiKeys, openApiKeys } from '#app/compose/api-keys.ts';
import { type OpenGateway, openGateway } from '#app/compose/gateway.ts';
import { openLedger, type OwnLedger } from '#app/compose/ledger.ts';
import { loadOtherRoutes } from '#app/others/load-others.ts';
import { type Mail, openMail } from '#app/compose/mail.ts';
import { openDataPlane } from '#app/compose/data-plane.ts';
import { openPayments, type Payments } from '#app/compose/payments.ts';
import { startUpkeep } from '#app/compose/upkeep.ts';
import { createWalletMail } from '#app/compose/wallet-mail.ts';
import { openWebhooks, type Webhooks } from '#app/compose/webhooks.ts';
import { type CallRecords, openCallRecords } from '#app/monitoring/call-records.ts';
import { openMetrics, type ReadAllMetrics } from '#app/monitoring/metrics.ts';
import { createReadiness } from '#app/monitoring/readiness.ts';
import { openStatus, type Status } from '#app/monitoring/status.ts';
import type { Ground, Stoppable } from '#app/process/ground.ts';
import { openPools } from '#app/process/pools.ts';
import { openUserReads, type UserReads } from '#app/reports/user-usage.ts';
import { emailSealOf } from '#app/secrets/address-seal.ts';
import type { Config } from '#app/settings/config.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import { createLinks, type Links } from '#connections/link.ts';
import { type Generations, startGenerations } from '#db/processes/generations.ts';
import { type Instance, startInstance } from '#db/processes/instance.ts';
import { createEchoToDoctor } from '#doctor/outside/echo.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import { STREAM_PACE } from '#gateway/stream/keep-alive.ts';
import type { CellPeers } from '#http/cells/questions/question.ts';
import { type Closing, createClosing, createInFlight, type InFlight } from '#http/listener/closing.ts';
import { createOwnCalls } from '#http/listener/own-calls.ts';
import { createHttpServer } from '#http/server.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { createLate } from '#kernel/work/late.ts';
import type { Channels } from '#ledger/turn/channel.ts';
import { createThrottle, type ForgetfulThrottle } from '#limits/throttle.ts';

interface ComposeOptions {
  readonly config: Config;
  readonly keys: Keys;
  readonly databaseUrl: string;
  readonly simulatorUrl: string | undefined;
  readonly log: Log;
  readonly readAllMetrics: ReadAllMetrics;
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
  readonly readMetrics: ReadAllMetrics;
  /** The number of settlements of answered calls that still wait for the database. */
  readonly settlementsKept: () => number;
}

/** The domains of a process, each opened on the ground by what it needs of the others. */
interface Domains {
  readonly apiKeys: ApiKeys;
  readonly cells: Cells;
  readonly served: Served;
  readonly changes: Generations;
  readonly instance: Instance;
  readonly ledger: OwnLedger;
  readonly links: Links;
  readonly records: CallRecords;
  readonly calls: OpenGateway;
  readonly users: UserReads;
  readonly mail: Mail;
  readonly webhooks: Webhooks;
  /** They are undefined when no payment processor is configured. */
  readonly payments: Payments | undefined;
  readonly throttle: ForgetfulThrottle;
  readonly status: Status;
  readonly upkeep: Stoppable;
}

/** Creates one gateway process from its modules. Read from top to bottom, this is the architecture. The schema must be current. */
export async function compose(options: ComposeOptions): Promise<Service> {
  const { config, keys, databaseUrl, log } = options;
  const pools = openPools({ url: databaseUrl, log, emails: emailSealOf(keys) });
  const ground: Ground = { config, keys, pools, clock: systemClock, log };
  const domains = await openDomains(ground, options);
  const { served, cells, ledger, calls, webhooks } = domains;
  const { server, closing, inFlight, closeOthers, readMetrics } = await openServer(ground, domains, options);
  return {
    server,
    closing,
    readMetrics,
    callsInFlight: () => calls.inFlight() + (cells.forwarding?.callsInFlight() ?? 0),
    workInFlight: inFlight.count,
    settlementsKept: ledger.spool.kept,
    endWaits: webhooks.listeners.endLooks,
    stop: async () => {
      await Promise.all(runningOf(domains).map(({ stop }) => stop()));
      await closeOthers();
      await ledger.end();
      for (const { close } of [served.providers, cells]) close();
      await pools.end();
    },
  };
}

/** Everything that works by itself, and stops at once when no request is in progress. */
function runningOf(domains: Domains): readonly Stoppable[] {
  const { apiKeys, cells, changes, records, calls, mail, webhooks, payments, status, upkeep } = domains;
  const running = [apiKeys, cells, changes, records, calls, mail, webhooks, status, upkeep];
  return payments === undefined ? running : [...running, payments];
}

async function openDomains(ground: Ground, options: ComposeOptions): Promise<Domains> {
  const { config, keys, pools, clock, log } = ground;
  const { simulatorUrl, channels, pace = STREAM_PACE } = options;

  // What is kept in memory, and loaded again when another process has changed it.
  const apiKeys = openApiKeys(ground);
  const cells = openCells(ground, apiKeys.directory);
  const { peers, overCells } = cells;
  const served = openCatalogue(ground, simulatorUrl);
  const { catalogue } = served;
  const changes = await followChanges(ground, { apiKeys, catalogue, map: peers?.map });

  // Calls, and the money that they hold.
  const instance = await startInstance(pools.upkeep, log, config.leaseMs);
  await changes.confirmAs(instance.id);
  const ledger = await openLedger(ground, { instance, channels, overCells });
  const { holds, spool } = ledger;
  const links = createLinks({ keysOf: keys.proof, publicUrl: config.publicUrl, clock });
  const records = await openCallRecords(ground);
  const calls = openGateway(ground, { instance, holds, apiKeys, cells, served, links, records, pace });

  // What is read of users and wallets, in all cells.
  const users = openUserReads(ground, peers);

  // What owners, operators and people act on besides.
  const mail = openMail(ground);
  const isTestMoney = config.payments.processor === 'test';
  const { tellOfPayment, tellOwner } = createWalletMail({ mail, isTestMoney, clock });
  const webhooks = openWebhooks(ground, mail.send);
  const payments = await openPayments(ground, { tellOfPayment, peers });
  const throttle = createThrottle(pools.planes);
  const status = openStatus(ground, { instance, spool, served });
  const upkeep = startUpkeep(ground, { instance, holds, throttle, tellOwner });

  return {
    apiKeys,
    cells,
    served,
    changes,
    instance,
    ledger,
    links,
    records,
    calls,
    users,
    mail,
    webhooks,
    payments,
    throttle,
    status,
    upkeep,
  };
}

/** Loads what is kept in memory, and again whenever the generation counter of that kind of configuration grows. */
async function followChanges({ pools, log }: Ground, { apiKeys, catalogue, map }: Kept): Promise<Generations> {
  await Promise.all([apiKeys.refresh(), catalogue.refresh(), map?.refresh()]);
  const changes = startGenerations(pools.upkeep, log);
  changes.subscribe('accounts', apiKeys.refresh);
  changes.subscribe('catalogue', catalogue.refresh);
  if (map !== undefined) changes.subscribe('cells', map.refresh);
  return changes;
}

interface Kept {
  readonly apiKeys: ApiKeys;
  readonly catalogue: Catalogue;
  readonly map: CellPeers['map'] | undefined;
}

/** Opens the server. What takes no calls is loaded when it is first asked for: most of the code, which many processes never run. */
async function openServer(ground: Ground, domains: Domains, { readAllMetrics }: ComposeOptions): Promise<Listener> {
  const { config, keys, pools, log } = ground;
  const { apiKeys, cells, served, changes, instance, ledger, links, records, calls } = domains;
  const { users, mail, webhooks, payments, throttle, status } = domains;
  const inFlight = createInFlight();
  const closing = createClosing();
  const ownCalls = createOwnCalls();
  const metrics = openMetrics(ground, readAllMetrics, cells);
  const others = createLate(async () => {
    const { openOtherRoutes } = await loadOtherRoutes();
    return openOtherRoutes(ground, {
      apiKeys,
      cells,
      served,
      changes,
      links,
      mail,
      webhooks,
      payments,
      throttle,
      status,
      readAllMetrics,
      inFlight,
      ownCalls,
    });
  });
  // Other cells ask from the start.
  const asked = cells.peers && (await others.get());
  const cellRoutes = [cells, users, asked, payments].flatMap((one) => one?.cellRoutes ?? []);
  const server = createHttpServer({
    dataPlane: openDataPlane(ground, { calls, cells, links, records, users, cellRoutes }),
    openOthers: others.get,
    processorWebhooks: payments?.processorWebhooks,
    readiness: createReadiness({
      pool: pools.upkeep,
      dataDirectory: config.dataDirectory,
      failedRenewals: instance.failedRenewals,
      takesNoWrites: ledger.holds.takesNoWrites,
      log,
    }),
    echoToDoctor: createEchoToDoctor({ addressOf: cells.addressOf, keys, pools }),
    metrics,
    log,
    logsRequests: config.logFormat === 'text',
    inFlight,
    closing,
  });
  ownCalls.attach(server);
  const closeOthers = async () => (await others.opened())?.planes.close();
  return { server, closing, inFlight, closeOthers, readMetrics: metrics.readAll };
}

interface Listener extends Pick<Service, 'server' | 'closing' | 'readMetrics'> {
  readonly inFlight: InFlight;
  readonly closeOthers: () => Promise<void>;
}
