import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import {
  HOLDING_SETTINGS,
  isCopy,
  keepingSettings,
  logFolder,
  prepareLogFolder,
  type Recovery,
  readSystemId,
  recoverySettings,
} from '#embedded/archive.ts';
import { type Binaries, findBinaries } from '#embedded/files/binaries.ts';
import { ensureCluster, SUPERUSER } from '#embedded/server/cluster.ts';
import type { HostTool } from '#embedded/processes/command.ts';
import { explainFileFault } from '#embedded/files/embedded-postgres-error.ts';
import { findFreePort } from '#embedded/server/free-port.ts';
import { type Layout, layOut, removeTemporaries } from '#embedded/files/layout.ts';
import { clearLeftovers } from '#embedded/processes/leftovers.ts';
import { takeOwnerLock } from '#embedded/processes/owner-lock.ts';
import { LaunchFailure, type LaunchOptions, launchPostmaster, type Postmaster } from '#embedded/server/postmaster.ts';
import { choosePrivileges, type Privileges } from '#embedded/processes/privileges.ts';
import { rotateServerLog } from '#embedded/server/log.ts';
import { supervise } from '#embedded/server/supervisor.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { Log } from '#kernel/log.ts';

export { EmbeddedPostgresError } from '#embedded/files/embedded-postgres-error.ts';

export interface EmbeddedPostgres {
  /** The superuser's URL for database `postgres` on 127.0.0.1. Contains the password. Stays the same until `stop`. */
  readonly url: string;
  /** Stops the server and gives up the directory. Resolves when the process is gone. Calling it twice is fine. */
  readonly stop: () => Promise<void>;
}

interface EmbeddedPostgresOptions {
  /** The data directory. Files beside it whose names begin with its name belong to it. */
  readonly directory: string;
  readonly log: Log;
  /** Receives progress messages for a person. */
  readonly say: (text: string) => void;
  /** Programs to do without even when the machine has them. Tests use it to imitate a machine that lacks them. */
  readonly without?: readonly HostTool[];
  /** Nobody needs the data once the server has stopped, or crashed: nothing is forced to the disk. For tests of other things. */
  readonly isThrowaway?: boolean;
  /** The folder of backups, in which the server keeps its log. */
  readonly backups?: string | undefined;
  /** The directory is an unpacked base backup: the server replays the log before it answers. */
  readonly recovery?: Recovery;
}

const FIRST_LAUNCH_ATTEMPTS_MAX = 20;
const FIRST_LAUNCH_RETRY_MS = 50;
const SLOW_AFTER_MS = 2_000;

/**
 * Starts a real PostgreSQL on `directory`, creates the database there if needed, and returns when it answers queries. From
 * then on a server that dies is restarted on the same port, until `stop`. When this process ends, even by a
 * kill, the server ends too. Throws EmbeddedPostgresError for everything that an operator can fix, such as another Purser that uses the
 * directory; then nothing was touched. Main thread only.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  // The death signal that stops the server with us (see `privileges.ts`) is tied to the thread that starts it.
  assert(isMainThread, 'PostgreSQL is started from the main thread');
  try {
    const layout = await layOut(options.directory);
    const binaries = await findBinaries({ links: layout.libraries, isChecked: options.isThrowaway !== true });
    const lock = await takeOwnerLock(layout, options.without ?? []);
    try {
      const server = await startOwned(options, binaries, layout);
      const { stop } = supervise({ ...server, log: options.log });
      let stopped: Promise<void> | undefined;
      return { url: server.url, stop: () => (stopped ??= stop().then(lock.release)) };
    } catch (fault) {
      await lock.release();
      throw fault;
    }
  } catch (fault) {
    throw explainFileFault(fault, options.directory);
  }
}

interface Started {
  readonly url: string;
  readonly postmaster: Postmaster;
  readonly relaunch: (ending: AbortSignal) => Promise<Postmaster>;
}

async function startOwned(options: EmbeddedPostgresOptions, binaries: Binaries, layout: Layout): Promise<Started> {
  const privileges = await choosePrivileges(binaries, layout, options.without ?? []);
  await removeTemporaries(layout);
  await clearLeftovers(layout, options.log);
  const password = await ensureCluster({ binaries, privileges, layout, say: options.say });
  await rotateServerLog(layout);
  const settings = {
    ...(options.backups === undefined ? {} : await keepLog(options.backups, { layout, privileges, ...options })),
    ...(options.recovery === undefined ? {} : recoverySettings(options.recovery)),
  };
  const slow = setTimeout(() => {
    options.say('PostgreSQL is still starting. After a crash or a power cut it first replays its log.');
  }, SLOW_AFTER_MS);
  try {
    const { postmaster, launch } = await launchFirst((port) => {
      const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
      return { binaries, privileges, layout, port, url, settings, isThrowaway: options.isThrowaway ?? false };
    });
    options.say(`PostgreSQL ${binaries.majorVersion} is ready on 127.0.0.1:${launch.port}.`);
    const relaunch = async (ending: AbortSignal): Promise<Postmaster> => {
      await clearLeftovers(layout, options.log);
      return await launchPostmaster(launch, ending);
    };
    return { url: launch.url, postmaster, relaunch };
  } finally {
    clearTimeout(slow);
  }
}

/**
 * A folder that cannot be written to now, such as a disk that is not mounted, does not stop the service: the server keeps its log
 * itself until it can.
 */
async function keepLog(
  backups: string,
  {
    layout,
    privileges,
    log,
    say,
  }: {
    readonly layout: Layout;
    readonly privileges: Privileges;
    readonly log: Log;
    readonly say: (text: string) => void;
  },
) {
  if (await isCopy(layout.directory)) return HOLDING_SETTINGS;
  const systemId = await readSystemId(layout);
  const fault = await prepareLogFolder(logFolder(backups, systemId), privileges);
  if (fault !== undefined) {
    log.error({ fault }, 'the log of the database cannot be kept in PURSER_BACKUP_DIR, and fills its own disk');
    say(`The log of the database cannot be kept in PURSER_BACKUP_DIR: ${fault}`);
  }
  return keepingSettings(backups, systemId);
}

// Another process may take the free port before PostgreSQL does. Then the next port is tried. A restart has no such choice,
// because clients already use the port.
async function launchFirst(
  launchOn: (port: number) => LaunchOptions,
): Promise<{ readonly postmaster: Postmaster; readonly launch: LaunchOptions }> {
  const never = new AbortController().signal;
  for (let attempt = 1; ; attempt += 1) {
    const launch = launchOn(await findFreePort());
    try {
      return { postmaster: await launchPostmaster(launch, never), launch };
    } catch (fault) {
      const isFinal = !(fault instanceof LaunchFailure) || !fault.mayPass || attempt === FIRST_LAUNCH_ATTEMPTS_MAX;
      if (isFinal) throw fault;
      await sleep(FIRST_LAUNCH_RETRY_MS);
    }
  }
}
