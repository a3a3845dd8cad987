import cluster, { type Worker } from 'node:cluster';
import { readFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { bannerOf } from '#app/banner.ts';
import { compose, type Service } from '#app/compose.ts';
import { type Config, DEMO_CATALOGUE_FILE } from '#app/config.ts';
import { type Database, openDatabase } from '#app/database.ts';
import { ensureDemo } from '#app/demo.ts';
import { isTestKey } from '#app/payment-settings.ts';
import { type SimulatorProcess, startSimulator } from '#app/simulator-process.ts';
import { StartError } from '#app/start-error.ts';
import { createWorkerReader, startWorkerMetrics } from '#app/worker-metrics.ts';
import { applyCatalogueFile, parseCatalogueFile } from '#catalogue/catalogue-file.ts';
import type { StreamPace } from '#gateway/call/call.ts';
import { armFailpoint } from '#kernel/failpoint.ts';
import type { Log } from '#kernel/log.ts';
import { readMetrics } from '#kernel/metrics.ts';
import { sleep } from '#kernel/sleep.ts';
import { ensureOperator } from '#operator/accounts.ts';

/** How long calls under way may go on after the service was told to stop. */
const DRAIN_MS_MAX = 30_000;
/** And requests that hold no money: a statement takes at most five seconds. */
const ANSWER_MS_MAX = 10_000;
const SETTLE_MS_MAX = 5_000;
const WAIT_STEP_MS = 25;
const WORKER_RESTART_DELAY_MS = 500;

/** What one gateway process needs to know from the one that prepared the ground. */
interface Ground {
  readonly databaseUrl: string;
  readonly simulatorUrl: string | undefined;
}

interface ServeOptions {
  readonly config: Config;
  readonly log: Log;
  /** Lines for the person at the terminal. */
  readonly say: (text: string) => void;
}

/** The whole service: database, schema, catalogue, demo, then one gateway process or several. */
interface Running {
  readonly url: string;
  readonly stop: () => Promise<void>;
}

export async function serve(options: ServeOptions): Promise<Running> {
  const { config, log, say } = options;
  const database = await openDatabase({ config, log, say, mayShare: false });
  let simulator: SimulatorProcess | undefined;
  try {
    if (config.environment === 'development') simulator = await startSimulator(log);
    await applyCatalogue(config, database);
    if (config.operator !== undefined) {
      const role = await ensureOperator(database.owner, config.operator);
      if (role !== 'operator')
        say('The account of PURSER_OPERATOR_EMAIL is no operator: it was made by somebody else.');
    }
    if (config.environment === 'production' && config.mail === undefined) {
      log.warn(
        'no mail is sent: set SMTP_URL and PURSER_MAIL_FROM, or nobody can sign in to a wallet or reset a password',
      );
    }
    if (config.environment === 'production') warnOfPayments(config, log);
    const ground = { databaseUrl: database.url, simulatorUrl: simulator?.url };
    const gateway =
      config.workers === 1 ? await startGateway(config, log, ground) : await startWorkers(config, log, ground);
    say(await describe(config, database, gateway.url));
    return {
      url: gateway.url,
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

function warnOfPayments({ payments }: Config, log: Log): void {
  if (isTestKey(payments)) log.warn('payments move no real money: PURSER_STRIPE_SECRET_KEY is a test key');
  if (payments.processor === 'none') log.warn('nobody can pay: set PURSER_STRIPE_SECRET_KEY');
}

/** One gateway process on ground that is prepared: what a worker runs, and the only process where there is one. */
export async function startGateway(
  config: Config,
  log: Log,
  ground: Ground,
  options: { readonly pace?: StreamPace } = {},
): Promise<Running> {
  if (config.failpoint !== undefined) armFailpoint(config.failpoint);
  const readAllMetrics = cluster.isWorker ? createWorkerReader() : async () => readMetrics();
  const service = await compose({ config, log, readAllMetrics, ...ground, ...options });
  const { server } = service;
  try {
    await listen(server, config);
  } catch (fault) {
    await service.stop();
    throw fault;
  }
  const { port } = server.address() as AddressInfo;
  return {
    url: urlOf(config.host, port),
    stop: () => stopGateway(service),
  };
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function listen(server: Server, { host, port }: Config): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (fault: NodeJS.ErrnoException) => {
      const isTaken = fault.code === 'EADDRINUSE';
      reject(isTaken ? new StartError(`Port ${port} of ${host} is taken. Set PORT to another one.`) : fault);
    });
    server.listen(port, host, () => resolve());
  });
}

/** Takes no more calls, and lets those under way end and be settled, also those whose caller has left. */
async function stopGateway(service: Service): Promise<void> {
  const { server, stop, endWaits, callsUnderWay, workUnderWay, settlementsKept } = service;
  endWaits();
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  await Promise.all([
    waitUntil(() => callsUnderWay() === 0, DRAIN_MS_MAX),
    waitUntil(() => workUnderWay() === 0, ANSWER_MS_MAX),
  ]);
  server.closeAllConnections(); // Streams that go on are given up by this, as if their callers had left.
  await closed;
  await waitUntil(() => callsUnderWay() === 0 && workUnderWay() === 0 && settlementsKept() === 0, SETTLE_MS_MAX);
  await stop();
}

async function waitUntil(holds: () => boolean, waitMsMax: number): Promise<void> {
  for (let waitedMs = 0; !holds() && waitedMs < waitMsMax; waitedMs += WAIT_STEP_MS) await sleep(WAIT_STEP_MS);
}

async function applyCatalogue(config: Config, database: Database): Promise<void> {
  const text = readCatalogueText(config.catalogueFile ?? DEMO_CATALOGUE_FILE);
  const file = parseCatalogueFile(text);
  const usesSimulator = Object.values(file.providers).some(({ kind }) => kind === 'simulator');
  if (config.environment === 'production' && usesSimulator) {
    throw new StartError('The catalogue names the provider simulator, which exists in development only.');
  }
  await applyCatalogueFile(database.owner, text);
}

function readCatalogueText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (fault) {
    throw new StartError(`The catalogue ${file} cannot be read. Is PURSER_CATALOGUE right?`, { cause: fault });
  }
}

async function describe(config: Config, { owner }: Database, url: string): Promise<string> {
  if (config.environment === 'production') return `Purser is ready at ${url}.`;
  const demo = await ensureDemo(owner, config);
  return bannerOf({ url, demo, config });
}

/** Several gateway processes behind one port. One that dies is replaced; all die with this one. */
async function startWorkers(config: Config, log: Log, ground: Ground): Promise<Running> {
  const metrics = startWorkerMetrics();
  let isKept = false; // Only while the service runs is a worker that ends replaced.
  const fork = (): Worker => {
    const worker = cluster.fork({ PURSER_WORKER_GROUND: JSON.stringify(ground) });
    worker.once('exit', () => {
      if (!isKept) return;
      log.error('a gateway process ended and is replaced');
      setTimeout(() => isKept && fork(), WORKER_RESTART_DELAY_MS);
    });
    return worker;
  };
  const stop = async () => {
    isKept = false;
    const workers = Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);
    await Promise.all(workers.map(stopWorker));
    metrics.stop();
  };
  try {
    const addresses = await Promise.all(Array.from({ length: config.workers }, () => listening(fork())));
    isKept = true;
    return { url: urlOf(config.host, addresses[0]?.port ?? config.port), stop };
  } catch (fault) {
    await stop();
    throw fault;
  }
}

function stopWorker(worker: Worker): Promise<unknown> {
  if (worker.isDead()) return Promise.resolve();
  worker.process.kill('SIGTERM');
  return new Promise((resolve) => worker.once('exit', resolve));
}

function listening(worker: Worker): Promise<{ readonly port: number }> {
  return new Promise((resolve, reject) => {
    worker.once('listening', resolve);
    worker.once('exit', () => reject(new StartError('A gateway process could not start: its own message is above.')));
  });
}

/** The ground that a forked worker was given; undefined in a process of any other kind. */
export function workerGround(config: Config): Ground | undefined {
  const text = config.readEnvironment('PURSER_WORKER_GROUND');
  return text === undefined ? undefined : (JSON.parse(text) as Ground);
}
