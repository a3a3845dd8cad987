// The gateway machines: on each a gateway in production mode, HAProxy before the database, and a provider.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT } from '../../../tools/toolchain.ts';
import { rollCatalogue } from '../roll/catalogue.ts';
import { spoolIn } from '../../support/spool.ts';
import { waitUntil } from '../../support/wait-until.ts';
import type { Cell } from './cell.ts';
import { DATABASES, GATEWAYS, writeHaproxyFile } from './files.ts';
import { addMachine, type Machine } from './network.ts';
import type { Programs } from './programs.ts';

export interface Gateway {
  readonly machine: Machine;
  readonly url: string;
  /** Starts it, or starts it again, on a database other than the usual one if one is named. */
  readonly restart: (databaseUrl?: string) => Promise<void>;
  readonly isReady: () => Promise<boolean>;
  /** Waits until no settlement waits on its disk. */
  readonly untilSettled: () => Promise<void>;
  readonly logFile: string;
  /** Runs a command of the service there. Returns what it said, and its status. */
  readonly command: (...words: readonly string[]) => Promise<{ readonly status: number; readonly said: string }>;
}

interface GatewayOptions {
  readonly cell: Cell;
  readonly programs: Programs;
  readonly directory: string;
  readonly count: number;
  /** Whether commits wait for a standby. If it is false, they wait for none, which gateways otherwise refuse. */
  readonly isSynchronous: boolean;
  /** The cell that they are, whose directory others copy. Undefined: there are no cells. */
  readonly cellName: string | undefined;
}

/** The gateway that has all servers in its `DATABASE_URL`. The others find the leader through HAProxy. */
const SEVERAL_HOSTS = 'gateway2';
const PORT = 8787;
const PROVIDER_PORT = 9000;
const CHUNK_MS = 200;
const START_MS_MAX = 120_000;
const SETTLED_MS_MAX = 120_000;
/** The flags are those of `npm start`. */
const NODE_FLAGS = ['--max-semi-space-size=32'];
const PROGRAM = path.join(ROOT, 'packages/service/src/cli/main.ts');
const PROVIDER = fileURLToPath(new URL('../roll/provider.ts', import.meta.url));
export async function startGateways(options: GatewayOptions): Promise<readonly Gateway[]> {
  const { cell, programs, directory, count, isSynchronous, cellName } = options;
  const catalogueFile = path.join(directory, 'catalogue.json');
  writeFileSync(catalogueFile, JSON.stringify(rollCatalogue(`http://127.0.0.1:${PROVIDER_PORT}`)));
  const haproxyFile = writeHaproxyFile(directory);
  const gateways: Gateway[] = [];
  for (const [name, address] of Object.entries(GATEWAYS).slice(0, count)) {
    const machine = await addMachine(name, address);
    const logFile = (of: string) => path.join(directory, `${name}-${of}.log`);
    machine.start([programs.haproxy, '-db', '-f', haproxyFile], { env: {}, logFile: logFile('haproxy') });
    const provider = JSON.stringify({ port: PROVIDER_PORT, chunkMs: CHUNK_MS });
    machine.start([process.execPath, PROVIDER, provider], { env: {}, logFile: logFile('provider') });
    const own = path.join(directory, name);
    const environment = {
      ...environmentOf(directory, catalogueFile),
      PURSER_DATABASE_DURABILITY: isSynchronous ? 'standby' : 'disk',
      PURSER_DATA_DIR: own,
      ...(cellName !== undefined && { PURSER_CELL: cellName }),
      DATABASE_URL: name === SEVERAL_HOSTS ? cell.urlAt(...Object.values(DATABASES)) : cell.urlAt('127.0.0.1'),
    };
    const gateway = gatewayOn(machine, { environment, own, logFile: logFile('gateway') });
    if (cellName !== undefined && gateways.length === 0) await addCell(gateway, cellName);
    await gateway.restart();
    gateways.push(gateway);
  }
  return gateways;
}

/** Adds the cell, before the first gateway says that it is that cell. */
async function addCell(gateway: Gateway, name: string): Promise<void> {
  for (const words of [['migrate'], ['cells', 'add', name, '--at', gateway.url]]) await gateway.command(...words);
}

export function environmentOf(directory: string, catalogueFile: string): Readonly<Record<string, string>> {
  return {
    PURSER_ENV: 'production',
    PURSER_SECRET: 'a secret of the failover run, which guards nothing of worth',
    PURSER_PUBLIC_URL: 'https://purser.test',
    PURSER_PROXY_HOPS: '1',
    PURSER_CATALOGUE: catalogueFile,
    PURSER_LOG_LEVEL: 'info', // It says what callers were told.
    PURSER_WORKERS: '1',
    PURSER_STOP_DELAY_SECONDS: '0',
    NODE_COMPILE_CACHE: path.join(directory, 'compile-cache'),
    HOST: '0.0.0.0',
    PORT: String(PORT),
  };
}

interface Own {
  readonly environment: Readonly<Record<string, string>>;
  /** Its data directory. */
  readonly own: string;
  readonly logFile: string;
}

function gatewayOn(machine: Machine, { environment, own, logFile }: Own): Gateway {
  mkdirSync(own, { recursive: true });
  const url = `http://${machine.address}:${PORT}`;
  let child: ChildProcess | undefined;

  const isReady = (): Promise<boolean> =>
    fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) }).then(
      ({ ok }) => ok,
      () => false,
    );

  return {
    machine,
    url,
    logFile,
    isReady,
    restart: async (databaseUrl) => {
      if (child?.exitCode === null && child.signalCode === null) {
        child.kill('SIGTERM');
        await once(child, 'exit');
      }
      const env = { ...environment, ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }) };
      const started = machine.start([process.execPath, ...NODE_FLAGS, PROGRAM, 'serve'], { env, logFile });
      child = started;
      const ready = async (): Promise<boolean> => {
        if (started.exitCode !== null) throw new Error(`The gateway on ${machine.name} ended: see ${logFile}`);
        return isReady();
      };
      await waitUntil(`the gateway on ${machine.name} is ready`, ready, START_MS_MAX);
    },
    untilSettled: async () => {
      const waiting = `no settlement waits on ${machine.name}`;
      await waitUntil(waiting, () => filesIn(spoolIn(own)) === 0, SETTLED_MS_MAX);
    },
    command: (...words) => runCommand(machine, { env: environment, logFile }, words),
  };
}

/** Runs a command of the service on a machine. */
export async function runCommand(
  machine: Machine,
  { env, logFile }: { readonly env: Readonly<Record<string, string>>; readonly logFile: string },
  words: readonly string[],
): ReturnType<Gateway['command']> {
  const file = `${logFile}.${words.slice(0, 2).join('-')}`;
  const ran = machine.start([process.execPath, PROGRAM, ...words], { env, logFile: file });
  let said = '';
  for (const stream of [ran.stdout, ran.stderr])
    stream?.on('data', (part: Buffer) => void (said += part.toString('utf8')));
  const [status] = (await once(ran, 'close')) as [number | null];
  return { status: status ?? 1, said };
}

/** How many files are in a folder, which may not be there. */
function filesIn(directory: string): number {
  try {
    const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).length;
  } catch {
    return 0;
  }
}
