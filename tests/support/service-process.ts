// The service as its operator starts it, in a separate process, so that a test can kill it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runs } from './embedded-harness.ts';
import { outerEnvironment } from './outer-environment.ts';
import { waitUntil } from './wait-until.ts';

const CLI = fileURLToPath(new URL('../../packages/service/src/cli/main.ts', import.meta.url));
/**
 * `npm start` has the first flag too: without it, a tenth of a start is garbage collection. The second makes starts
 * quicker.
 */
const NODE_FLAGS = ['--max-semi-space-size=32'];
const READY = /Purser is ready at (\S+?)\.?\s/;
const WORKING = /Purser (delivers) webhooks/;
const LISTENING = /Signing secret until this command ends: (whsec_\w{43})\s/;
const START_MS_MAX = 60_000;

export interface ServiceProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything that it has written so far to its output and its log. */
  readonly said: () => string;
  /** Kills it as the machine would when out of memory: only this process, at once. */
  readonly kill: () => Promise<void>;
  /** Asks it to shut down gracefully. Harmless if it is gone. */
  readonly stop: () => Promise<void>;
}

interface ProcessOptions {
  readonly dataDirectory: string;
  readonly catalogue: unknown;
  /** The address of the database. It is undefined for the embedded server in the data directory. */
  readonly databaseUrl?: string;
  readonly workers?: number;
  /** The gateway's lease, for tests that do not need its real length of 15 s. */
  readonly leaseSeconds?: number;
  /** The command of an installed package. By default the sources run. */
  readonly program?: string;
  /** Further settings. */
  readonly environment?: Readonly<Record<string, string>>;
  /** The text on its standard input. */
  readonly input?: string;
  /** The time after which it is killed if it has not ended by itself. */
  readonly endMsMax?: number;
}

/** Runs `purser serve` on a free port and waits until it says that it is ready. */
export function startServiceProcess(options: ProcessOptions): Promise<ServiceProcess> {
  return startProcess(options, ['serve'], READY);
}

/** Runs `purser work`, which has no address. */
export function startWorkProcess(options: ProcessOptions): Promise<ServiceProcess> {
  return startProcess(options, ['work'], WORKING);
}

/** Runs `purser listen` and returns the secret that it prints. */
export async function startListenProcess(
  options: ProcessOptions,
  ...words: readonly string[]
): Promise<Omit<ServiceProcess, 'url'> & { readonly secret: string }> {
  const { url: secret, ...listening } = await startProcess(options, ['listen', ...words], LISTENING);
  return { secret, ...listening };
}

async function startProcess(options: ProcessOptions, words: readonly string[], ready: RegExp): Promise<ServiceProcess> {
  const child = runCli(options, words);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part: Buffer) => void (said += part.toString('utf8')));
  }
  const url = await waitUntil(
    'the service is ready',
    () => {
      if (child.exitCode !== null) throw new Error(`The service ended: ${said}`);
      return ready.exec(said)?.[1];
    },
    START_MS_MAX,
  );
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  return { url, pid: child.pid ?? 0, said: () => said, kill: () => end('SIGKILL'), stop: () => end('SIGTERM') };
}

/** The output of `purser ledger check` for the database of a data directory, and its exit status. */
export function checkByCommand(options: ProcessOptions, ...words: readonly string[]): Promise<Ended> {
  return runToEnd(options, 'ledger', 'check', ...words);
}

interface Ended {
  readonly status: unknown;
  readonly said: string;
}

/** A command that ends by itself. */
export async function runToEnd(options: ProcessOptions, ...words: readonly string[]): Promise<Ended> {
  const child = runCli(options, words);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (part: Buffer) => void (said += part.toString('utf8')));
  }
  const [status] = (await once(child, 'close')) as unknown[];
  return { status, said };
}

function runCli(options: ProcessOptions, words: readonly string[]): ChildProcess {
  const catalogueFile = path.join(options.dataDirectory, 'catalogue.json');
  writeFileSync(catalogueFile, JSON.stringify(options.catalogue));
  const { program } = options;
  const args = program === undefined ? [...NODE_FLAGS, CLI, ...words] : words;
  const child = spawn(program ?? process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: options.endMsMax ?? 0,
    killSignal: 'SIGKILL',
    env: {
      ...outerEnvironment(),
      PORT: '0',
      PURSER_DATA_DIR: options.dataDirectory,
      PURSER_CATALOGUE: catalogueFile,
      PURSER_LOG_LEVEL: 'silent',
      PURSER_STOP_DELAY_SECONDS: '0', // There is no proxy in front, and every stop would wait for it in production.
      PURSER_WORKERS: String(options.workers ?? 1),
      ...(options.leaseSeconds === undefined ? {} : { PURSER_LEASE_SECONDS: String(options.leaseSeconds) }),
      // The server of the tests has no standby, and flushes nothing to disk.
      ...(options.databaseUrl === undefined
        ? {}
        : { DATABASE_URL: options.databaseUrl, PURSER_DATABASE_DURABILITY: 'none' }),
      ...options.environment,
    },
  });
  child.stdin.on('error', () => {}); // It may end without having read all.
  child.stdin.end(options.input ?? '');
  return child;
}

/** The demo app of a development service, whose user has money. */
export function readDemo(dataDirectory: string): {
  readonly appId: string;
  readonly liveKey: string;
  readonly userId: string;
} {
  return JSON.parse(readFileSync(path.join(dataDirectory, 'demo.json'), 'utf8')) as ReturnType<typeof readDemo>;
}

/** Every process that descends from this one, by Linux's process table. */
export function descendantsOf(pid: number): readonly number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const parent = parentOf(Number(name));
    if (parent !== undefined) parents.set(Number(name), parent);
  }
  const found = [pid];
  for (const ancestor of found) {
    for (const [child, parent] of parents) if (parent === ancestor) found.push(child);
  }
  return found.slice(1);
}

function parentOf(pid: number): number | undefined {
  try {
    return Number(/\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.[1]);
  } catch {
    return undefined; // It has ended since the table was read.
  }
}

/** Waits until none of the processes runs any more. */
export async function untilGone(pids: readonly number[]): Promise<void> {
  await waitUntil(`the processes ${pids.join(', ')} have ended`, () => pids.every((pid) => !runs(pid)));
}
