import { type ChildProcess, spawn } from 'node:child_process';
import pg from 'pg';
import type { Binaries } from '#embedded/binaries.ts';
import { CHILD_ENVIRONMENT } from '#embedded/command.ts';
import { freeBytes, logMib } from '#embedded/disk.ts';
import { EmbeddedPostgresError } from '#embedded/embedded-postgres-error.ts';
import type { Layout } from '#embedded/layout.ts';
import { readPostmasterFile } from '#embedded/leftovers.ts';
import { memoryBytes, sharedBuffersMib } from '#embedded/memory.ts';
import type { Privileges } from '#embedded/privileges.ts';
import { probe } from '#embedded/queries.ts';
import { openServerLog, readServerLog } from '#embedded/server-log.ts';
import { stopInSteps, waitUntil } from '#embedded/wait.ts';

/** A PostgreSQL server that we started and that answered. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves with how it ended, when it does. Never rejects. */
  readonly exited: Promise<string>;
  /** Stops it within 75 s; at once when it has ended already. Throws when even the kernel cannot. */
  readonly stop: () => Promise<void>;
}

export interface LaunchOptions {
  readonly binaries: Binaries;
  readonly privileges: Privileges;
  readonly layout: Layout;
  readonly port: number;
  readonly url: string;
  /** Nobody needs its data once it has stopped, or crashed: nothing is forced to the disk. For tests of other things. */
  readonly isThrowaway?: boolean;
}

/** A server that ended or kept silent while it started. */
export class LaunchFailure extends EmbeddedPostgresError {
  /** True for what passes with time or with another port. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

// On the command line, where neither an edited file nor ALTER SYSTEM can take them back.
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // The length of a socket's path is limited to about 100 characters; ours are not.
  max_connections: '200', // A gateway process opens up to 30, and closes those that idle.
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Errors of single statements go to whoever sent them. Here they would only fill the disk, and could show stored values.
  log_min_messages: 'log',
} as const;

const THROWAWAY_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_wal_size: '512MB', // Its disk may be memory.
} as const;

const READY_WAIT_MS = 1_800_000; // After a crash up to 4 GB of log is read back first, however slow the disk is.
const ANSWER_TIMEOUT_MS = 5_000;
const PASSING_CAUSE = /could not create any TCP\/IP sockets|pre-existing shared memory block/;

/** Starts PostgreSQL and returns when it has answered a query. Throws LaunchFailure, with the server stopped. */
export async function launchPostmaster(options: LaunchOptions, ending: AbortSignal): Promise<Postmaster> {
  const resources = await resourcesFor(options.layout);
  const serverLog = openServerLog(options.layout);
  let child: ChildProcess;
  try {
    child = spawnPostgres(options, resources, serverLog.fd);
  } finally {
    serverLog.close(); // The child has its own.
  }
  const postmaster = watch(child);
  let isReady = false;
  await waitUntil(async () => {
    isReady = await answers(child.pid, options);
    return isReady || hasEnded(child) || ending.aborted;
  }, READY_WAIT_MS);
  if (isReady) return postmaster;
  await postmaster.stop();
  throw explainFailure(await readServerLog(options.layout, serverLog.bytesBefore), await postmaster.exited, options);
}

/** What it may take of this machine. */
async function resourcesFor({ parent }: Layout): Promise<Readonly<Record<string, string>>> {
  return {
    shared_buffers: `${sharedBuffersMib(memoryBytes())}MB`,
    max_wal_size: `${logMib(await freeBytes(parent))}MB`,
  };
}

function spawnPostgres(
  { binaries, privileges, layout, port, isThrowaway = false }: LaunchOptions,
  resources: Readonly<Record<string, string>>,
  logFd: number,
): ChildProcess {
  const chosen = { ...SETTINGS, ...resources, ...(isThrowaway ? THROWAWAY_SETTINGS : {}) };
  const settings = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = [binaries.postgres, '-D', layout.directory, '-p', String(port), ...settings];
  const [command = '', ...parameters] = [...privileges.prefix, ...server];
  return spawn(command, parameters, {
    ...privileges.identity,
    cwd: '/',
    env: CHILD_ENVIRONMENT,
    stdio: ['ignore', logFd, logFd],
    detached: true, // Or Ctrl-C would stop it together with us, while calls in flight still need it.
  });
}

function watch(child: ChildProcess): Postmaster {
  const { promise: exited, resolve } = Promise.withResolvers<string>();
  // Not run when we are killed, but on every other way out, where the kernel does not do it for us.
  const stopOnExit = (): void => void child.kill('SIGINT');
  process.once('exit', stopOnExit);
  const settle = (ending: string): void => {
    process.off('exit', stopOnExit);
    resolve(ending);
  };
  child.on('error', (fault) => {
    if (child.pid === undefined) settle(fault.message); // Otherwise it runs, and only a signal did not reach it.
  });
  child.once('exit', (code, signal) => settle(signal === null ? `exit code ${code}` : `signal ${signal}`));
  const stop = async (): Promise<void> => {
    const stopped = await stopInSteps({ isRunning: () => !hasEnded(child), send: (signal) => child.kill(signal) });
    if (!stopped) throw new EmbeddedPostgresError(`PostgreSQL (process ${child.pid}) does not stop.`);
  };
  return { pid: child.pid ?? 0, exited, stop };
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

// An open port is no proof: the server accepts connections before it serves them. Its own file says when it does, and a
// query proves it.
async function answers(pid: number | undefined, { layout, url }: LaunchOptions): Promise<boolean> {
  const file = await readPostmasterFile(layout);
  if (file === undefined || !file.isReady || file.pid !== pid) return false;
  const timeouts = { connectionTimeoutMillis: ANSWER_TIMEOUT_MS, query_timeout: ANSWER_TIMEOUT_MS };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on('error', () => undefined); // The server may go down at any time; the query below tells.
  try {
    await client.connect();
    await probe(client);
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

function explainFailure(written: string, ending: string, { layout }: LaunchOptions): LaunchFailure {
  const fatal = [...written.matchAll(/(?:FATAL|PANIC): {2}(.*)/g)].at(-1)?.[1];
  const cause = fatal ?? (written.trim().split('\n').at(-1) || ending);
  return new LaunchFailure(
    `PostgreSQL did not start: ${cause}. Its log is ${layout.log}.`,
    PASSING_CAUSE.test(written),
  );
}
