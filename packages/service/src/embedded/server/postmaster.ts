import { type ChildProcess, spawn } from 'node:child_process';
import pg from 'pg';
import type { Binaries } from '#embedded/files/binaries.ts';
import { CHILD_ENVIRONMENT } from '#embedded/processes/command.ts';
import { freeBytes, logMib } from '#embedded/server/disk.ts';
import { EmbeddedPostgresError } from '#embedded/files/embedded-postgres-error.ts';
import type { Layout } from '#embedded/files/layout.ts';
import { readPostmasterFile } from '#embedded/processes/leftovers.ts';
import { memoryBytes, sharedBuffersMib } from '#embedded/server/memory.ts';
import type { Privileges } from '#embedded/processes/privileges.ts';
import { probe } from '#embedded/server/queries.ts';
import { openServerLog, readServerLog } from '#embedded/server/log.ts';
import { stopInSteps, waitUntil } from '#embedded/processes/wait.ts';

/** A PostgreSQL server that we started and that has answered a query. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves when the server has ended, with words that say how. Never rejects. */
  readonly exited: Promise<string>;
  /** Stops it within 75 s. Returns at once when it has already ended. Throws when even SIGKILL does not end it. */
  readonly stop: () => Promise<void>;
}

export interface LaunchOptions {
  readonly binaries: Binaries;
  readonly privileges: Privileges;
  readonly layout: Layout;
  readonly port: number;
  readonly url: string;
  /** Further settings of the server. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * It is true when nobody needs the data after a stop or a crash. Then nothing is forced to disk. This is for tests
   * only.
   */
  readonly isThrowaway?: boolean;
}

/** A server that ended, or did not answer, during its start. */
export class LaunchFailure extends EmbeddedPostgresError {
  /** It is true when another attempt, or another port, may succeed. */
  readonly mayPass: boolean;

  constructor(message: string, mayPass: boolean) {
    super(message);
    this.mayPass = mayPass;
  }
}

// Passed on the command line, so that neither an edited file nor ALTER SYSTEM can override them. The first three keep every
// committed charge through a power cut.
const SETTINGS = {
  fsync: 'on',
  full_page_writes: 'on',
  synchronous_commit: 'on',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // A socket's path may have only about 100 characters, and ours may be longer.
  max_connections: '200', // A gateway process opens up to 30 and closes idle ones.
  logging_collector: 'off',
  log_line_prefix: '%m [%p] ',
  log_checkpoints: 'off',
  // Statement errors go back to the client that sent the statement. Logged here, they would only fill the disk and could
  // reveal stored values.
  log_min_messages: 'log',
} as const;

const THROWAWAY_SETTINGS = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  max_wal_size: '512MB', // The disk may be a RAM disk.
  shared_buffers: '128MB', // Copying a database, and removing one, looks through all of it.
} as const;

const READY_WAIT_MS = 1_800_000; // Recovery after a crash replays up to 4 GB of log, and the disk may be slow.
const ANSWER_TIMEOUT_MS = 5_000;
const PASSING_CAUSE = /could not create any TCP\/IP sockets|pre-existing shared memory block/;

/** Starts PostgreSQL and returns when it has answered a query. On failure it stops the server and throws LaunchFailure. */
export async function launchPostmaster(options: LaunchOptions, ending: AbortSignal): Promise<Postmaster> {
  const resources = await resourcesFor(options.layout);
  const serverLog = openServerLog(options.layout);
  let child: ChildProcess;
  try {
    child = spawnPostgres(options, resources, serverLog.fd);
  } finally {
    serverLog.close(); // The child has its own copy of the descriptor.
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

/** The settings that depend on this machine's memory and disk. */
async function resourcesFor({ parent }: Layout): Promise<Readonly<Record<string, string>>> {
  return {
    shared_buffers: `${sharedBuffersMib(memoryBytes())}MB`,
    max_wal_size: `${logMib(await freeBytes(parent))}MB`,
  };
}

function spawnPostgres(
  { binaries, privileges, layout, port, settings: further = {}, isThrowaway = false }: LaunchOptions,
  resources: Readonly<Record<string, string>>,
  logFd: number,
): ChildProcess {
  const chosen = { ...SETTINGS, ...resources, ...further, ...(isThrowaway ? THROWAWAY_SETTINGS : {}) };
  const settings = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const server = [binaries.postgres, '-D', layout.directory, '-p', String(port), ...settings];
  const [command = '', ...parameters] = [...privileges.prefix, ...server];
  return spawn(command, parameters, {
    ...privileges.identity,
    cwd: '/',
    env: CHILD_ENVIRONMENT,
    stdio: ['ignore', logFd, logFd],
    detached: true, // In a process group of its own. Otherwise Ctrl-C would stop it while running calls still need it.
  });
}

/** Follows the child's life. `exited` settles exactly once, also when the child could not be started at all. */
function watch(child: ChildProcess): Postmaster {
  const { promise: exited, resolve } = Promise.withResolvers<string>();
  // Covers every way out except being killed. For that, the death signal exists (see `privileges.ts`).
  const stopOnExit = (): void => void child.kill('SIGINT');
  process.once('exit', stopOnExit);
  const settle = (ending: string): void => {
    process.off('exit', stopOnExit);
    resolve(ending);
  };
  child.on('error', (fault) => {
    if (child.pid === undefined) settle(fault.message); // With a pid, the child runs and only a signal could not be sent.
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

// An open port proves nothing: the server accepts connections before it serves them, and the port may be another program's.
// The server's own pid file says when it is ready, and a query proves it.
async function answers(pid: number | undefined, { layout, url }: LaunchOptions): Promise<boolean> {
  const file = await readPostmasterFile(layout);
  if (file === undefined || !file.isReady || file.pid !== pid) return false;
  const timeouts = { connectionTimeoutMillis: ANSWER_TIMEOUT_MS, query_timeout: ANSWER_TIMEOUT_MS };
  const client = new pg.Client({ connectionString: url, ...timeouts });
  client.on('error', () => undefined); // The server may go down at any time. The query below shows it.
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

/** Finds the cause of a failed start: the last fatal message in the log, or the last line, or how the process ended. */
function explainFailure(written: string, ending: string, { layout }: LaunchOptions): LaunchFailure {
  const fatal = [...written.matchAll(/(?:FATAL|PANIC): {2}(.*)/g)].at(-1)?.[1];
  const cause = fatal ?? (written.trim().split('\n').at(-1) || ending);
  return new LaunchFailure(
    `PostgreSQL did not start: ${cause}. Its log is ${layout.log}.`,
    PASSING_CAUSE.test(written),
  );
}
