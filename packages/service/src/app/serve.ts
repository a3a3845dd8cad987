import cluster, { type Worker } from 'node:cluster';
import type { Server } from 'node:http';
import { flushCompileCache } from 'node:module';
import type { AddressInfo } from 'node:net';
import { emailSealOf } from '#app/secrets/address-seal.ts';
import { bannerOf } from '#app/start/banner.ts';
import { openCell } from '#app/cells/own-cell.ts';
import type * as compose from '#app/compose.ts';
import type { Config } from '#app/settings/config.ts';
import { makeDataDirectory } from '#app/environment/data-directory.ts';
import { type Database, openDatabase } from '#app/start/database.ts';
import { ensureDemo } from '#app/start/demo.ts';
import { readCatalogue } from '#app/catalogue/catalogue-text.ts';
import { refuseUnfit } from '#app/start/unfit-database.ts';
import { refuseStart } from '#app/start/judge-start.ts';
import { openKeys } from '#app/secrets/open-keys.ts';
import { refuseCopy } from '#app/start/restored-copy.ts';
import { type SimulatorProcess, startSimulator } from '#app/process/simulator-process.ts';
import { openMetricsExport } from '#app/monitoring/telemetry.ts';
import { SETUP_STATUS, SetupError, StartError } from '#app/environment/start-error.ts';
import { endChild } from '#app/process/end-child.ts';
import { stopGateway, stopMsMax } from '#app/stop.ts';
import { openWorkerChannels, startWorkerChannels } from '#app/process/worker-channels.ts';
import { createWorkerReader, startWorkerMetrics } from '#app/process/worker-metrics.ts';
import { applyCatalogueFile } from '#catalogue/catalogue-file.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import { armFailpoint } from '#kernel/faults/failpoint.ts';
import type { Log } from '#kernel/log.ts';
import { createKeys, keptKeysBy, type KeptKeys } from '#kernel/crypto/keys.ts';
import { readMetrics } from '#kernel/metrics/metrics.ts';
import type { Pool } from '#db/pool/pool.ts';
import { createKeyRules } from '#providers/keys/key-rules.ts';
import { ensureOperator } from '#operator/people/accounts.ts';

const WORKER_RESTART_DELAY_MS = 500;

/** What a gateway process gets from the process that opened the database and started the simulator. */
interface Prepared {
  readonly databaseUrl: string;
  readonly simulatorUrl: string | undefined;
  readonly keptKeys: KeptKeys;
  /** False for all workers but one: it exports the metrics of all. */
  readonly exportsMetrics?: boolean;
  /** How many channels the first process has for its workers. Undefined if this is the only process. */
  readonly channels?: number;
}

interface ServeOptions {
  readonly config: Config;
  readonly log: Log;
  /** Lines for the person at the terminal. */
  readonly say: (text: string) => void;
  /** Called before the first process may take calls: from now on a stop has to let calls end. Resolves when a stop is asked for. */
  readonly beforeCalls: () => Promise<void>;
}

/** A running service. */
interface Running {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

/**
 * Starts the whole service: database, schema, catalogue, demo data, then one gateway process or several. When a step fails,
 * what was started before is stopped again.
 */
export async function serve(options: ServeOptions): Promise<Pick<Running, 'stop'>> {
  const { config, log, say } = options;
  // Before anything that has a time limit: on a slow machine it keeps the process busy for seconds.
  if (config.workers === 1) await loadGateway();
  makeDataDirectory(config.dataDirectory); // Now, because an outage would be the wrong time to find that it cannot be used.
  const judge = (owner: Pool) => refuseStart(config, owner, log);
  const database = await openDatabase({ config, log, say, mayShare: false, judge });
  let simulator: SimulatorProcess | undefined;
  try {
    await refuseUnfit(config, log);
    await refuseCopy(database.owner);
    const directoryUrl = await openCell(database.owner, config.cell);
    const isDirectory = directoryUrl === undefined;
    const keptKeys = await openKeys(database.owner, config, { isGateway: isDirectory, say });
    database.owner.emails = emailSealOf(createKeys(config, keptKeys));
    if (config.environment === 'development') simulator = await startSimulator(log);
    if (isDirectory) await applyCatalogue(config, database, log);
    else say(`Accounts, apps and the catalogue are those of ${directoryUrl}. PURSER_CATALOGUE is not read.`);
    if (isDirectory && config.operator !== undefined) {
      const role = await ensureOperator(database.owner, config.operator);
      if (role !== 'operator')
        say(
          'The account of PURSER_OPERATOR_EMAIL exists but is not an operator. Somebody else may have registered it.',
        );
    }
    if (config.environment === 'production' && config.mail === undefined) {
      log.warn(
        'no mail is sent: set SMTP_URL and PURSER_MAIL_FROM, or nobody can sign in to a wallet or reset a password',
      );
    }
    if (config.environment === 'production') warnOfPayments(config, log);
    const prepared = { databaseUrl: database.url, simulatorUrl: simulator?.url, keptKeys };
    const told = options.beforeCalls();
    // A single process needs no primary beside it, which saves memory and makes development easier to follow.
    const gateway =
      config.workers === 1
        ? await startGateway(config, log, prepared)
        : await startWorkers(config, log, prepared, told);
    if (gateway.url !== undefined) say(await describe(config, isDirectory ? database : undefined, gateway.url));
    return {
      // In this order: running calls need the simulator and the database to end and be settled.
      stop: async () => {
        await gateway.stop();
        await simulator?.stop();
        await database.close();
      },
    };
  } catch (fault) {
    await simulator?.stop();
    await database.close();
    throw fault;
  }
}

/** Both are valid settings, but rarely what an operator wants in production. */
function warnOfPayments({ payments }: Config, log: Log): void {
  if (payments.processor === 'stripe' && payments.isTestKey) {
    log.warn('payments move no real money: PURSER_STRIPE_SECRET_KEY is a test key');
  }
  if (payments.processor === 'none') log.warn('nobody can pay: set PURSER_STRIPE_SECRET_KEY');
}

/** Most of the code, which the first of several processes never runs. */
async function loadGateway(): Promise<typeof compose> {
  const loaded = await import('#app/compose.ts');
  flushCompileCache(); // Now, because a process that is killed writes nothing at its end.
  return loaded;
}

/** Starts one gateway process once the database is ready: in each worker, or in the only process when there are no workers. */
export async function startGateway(
  config: Config,
  log: Log,
  prepared: Prepared,
  options: { readonly pace?: StreamPace } = {},
): Promise<Running> {
  if (config.failpoint !== undefined) armFailpoint(config.failpoint);
  const readAllMetrics = cluster.isWorker ? createWorkerReader() : async () => readMetrics();
  const channels = prepared.channels === undefined ? undefined : openWorkerChannels(prepared.channels);
  const { keptKeys, databaseUrl, simulatorUrl } = prepared;
  const keys = createKeys(config, keptKeys);
  const { compose } = await loadGateway();
  const service = await compose({ config, keys, log, readAllMetrics, channels, databaseUrl, simulatorUrl, ...options });
  const { server } = service;
  try {
    await listen(server, config);
  } catch (fault) {
    await service.stop();
    throw fault;
  }
  const exported =
    prepared.exportsMetrics === false ? undefined : await openMetricsExport(config, service.readMetrics, log);
  const { port } = server.address() as AddressInfo;
  return {
    url: urlOf(config.host, port),
    stop: async () => {
      await exported?.stop();
      await stopGateway(service, config);
    },
  };
}

/** IPv6 addresses need brackets in a URL. */
function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Listens at the address of the settings. Throws `SetupError` if that cannot be: only an operator can change it. */
function listen(server: Server, { host, port }: Config): Promise<void> {
  const said: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} on ${host} is already in use. Set PORT to another one.`,
    EACCES: `This user may not listen on port ${port}. Set PORT to one above 1023, and let a proxy take the calls.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Correct HOST.`,
  };
  return new Promise((resolve, reject) => {
    server.once('error', (fault: NodeJS.ErrnoException) => {
      const words = said[fault.code ?? ''];
      reject(words === undefined ? fault : new SetupError(words, { cause: fault }));
    });
    server.listen(port, host, () => resolve());
  });
}

async function applyCatalogue(config: Config, database: Database, log: Log): Promise<void> {
  const { text, file } = readCatalogue(config);
  await applyCatalogueFile(database.owner, text);
  const keys = createKeyRules(config.providerKeys);
  for (const [provider, definition] of Object.entries(file.providers)) {
    const fault = keys.faultOf(definition);
    if (fault !== undefined) log.warn({ provider, ...fault }, 'a provider has no key that it may be sent');
  }
}

/** In development this also creates the demo data, whose keys the banner shows, unless another cell has the directory. */
async function describe(config: Config, database: Database | undefined, url: string): Promise<string> {
  if (config.environment === 'production' || database === undefined) return `Purser is ready at ${url}.`;
  const demo = await ensureDemo(database.owner, config);
  return bannerOf({ url, demo, config });
}

/**
 * Starts several gateway processes behind one port. A process that dies is replaced; all of them end with this one. If a stop is
 * asked for meanwhile, nobody waits for those that do not listen yet: they have no calls. There is no address then.
 */
async function startWorkers(
  config: Config,
  log: Log,
  prepared: Prepared,
  told: Promise<void>,
): Promise<Pick<Running, 'stop'> & { readonly url: string | undefined }> {
  // Each accepts for itself. A connection that this process has accepted for a worker that then dies would stay open, and its caller would
  // wait: Node neither closes it nor hands it to another.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  const metrics = startWorkerMetrics();
  const channels = startWorkerChannels({ databaseUrl: prepared.databaseUrl, workers: config.workers, log });
  const listeners = new Set<Worker>();
  let isKept = false; // Workers are replaced only while the service runs, not during its start or stop.
  const fork = (exportsMetrics: boolean): Worker => {
    const own = textOf({ ...prepared, exportsMetrics, channels: channels.count });
    const worker = cluster.fork({ PURSER_WORKER_GROUND: own });
    worker.once('listening', () => listeners.add(worker));
    worker.once('exit', () => {
      listeners.delete(worker);
      if (!isKept) return;
      log.error('a gateway process ended and is replaced');
      setTimeout(() => isKept && fork(exportsMetrics), WORKER_RESTART_DELAY_MS); // A delay, or a crash at start would fork in a tight loop.
    });
    return worker;
  };
  const stop = async () => {
    isKept = false;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    for (const worker of workers) if (!listeners.has(worker)) worker.process.kill('SIGKILL');
    const ends = await Promise.all([...listeners].map(({ process: child }) => endChild(child, stopMsMax(config))));
    metrics.stop();
    await channels.stop();
    if (!ends.includes(false)) return;
    log.error('a gateway process did not stop in time and was killed: its calls are not charged');
    process.exitCode = 1;
  };
  try {
    const started = Promise.all(Array.from({ length: config.workers }, (_, place) => listening(fork(place === 0))));
    const addresses = await Promise.race([started, told.then(() => undefined)]);
    isKept = addresses !== undefined;
    return { url: addresses && urlOf(config.host, addresses[0]?.port ?? config.port), stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

/** Resolves when the worker listens. A worker that ends before that could not start. */
function listening(worker: Worker): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    worker.once('listening', resolve);
    worker.once('exit', (status) => {
      const Fault = status === SETUP_STATUS ? SetupError : StartError;
      reject(new Fault('A gateway process could not start. Its own message is above.'));
    });
  });
}

/** What a forked worker got from the primary process. Undefined in any other process. */
export function preparedForWorker(config: Config): Prepared | undefined {
  const text = config.readEnvironment('PURSER_WORKER_GROUND');
  if (text === undefined) return undefined;
  const { keptKeys, ...servers } = JSON.parse(text) as PreparedAsText;
  return { ...servers, keptKeys: keptKeysBy((purpose) => Buffer.from(keptKeys[purpose], 'base64')) };
}

type PreparedAsText = Omit<Prepared, 'keptKeys'> & { readonly keptKeys: Readonly<Record<keyof KeptKeys, string>> };

/** Workers get the keys from their primary, in their environment beside the secret: a change of it cannot lock a new worker out. */
function textOf({ keptKeys, ...servers }: Prepared): string {
  const keys = Object.entries(keptKeys).map(([purpose, key]) => [purpose, key.toString('base64')]);
  return JSON.stringify({ ...servers, keptKeys: Object.fromEntries(keys) });
}
