import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { type Binaries, findBinaries } from '#embedded/binaries.ts';
import { ensureCluster, SUPERUSER } from '#embedded/cluster.ts';
import type { HostTool } from '#embedded/command.ts';
import { explainFileFault } from '#embedded/embedded-postgres-error.ts';
import { findFreePort } from '#embedded/free-port.ts';
import { type Layout, layOut, removeTemporaries } from '#embedded/layout.ts';
import { clearLeftovers } from '#embedded/leftovers.ts';
import { takeOwnerLock } from '#embedded/owner-lock.ts';
import { LaunchFailure, type LaunchOptions, launchPostmaster, type Postmaster } from '#embedded/postmaster.ts';
import { choosePrivileges } from '#embedded/privileges.ts';
import { rotateServerLog } from '#embedded/server-log.ts';
import { supervise } from '#embedded/supervisor.ts';
import { assert } from '#kernel/assert.ts';
import type { Log } from '#kernel/log.ts';

export { EmbeddedPostgresError } from '#embedded/embedded-postgres-error.ts';

export interface EmbeddedPostgres {
  /** Of the superuser, to database `postgres` on 127.0.0.1. Holds the password. The same until `stop`. */
  readonly url: string;
  /** Stops the server and gives up the directory; resolves when its process is gone. Twice is the same as once. */
  readonly stop: () => Promise<void>;
}

interface EmbeddedPostgresOptions {
  /** Where the data is or will be. The files beside it that are named after it belong to it. */
  readonly directory: string;
  readonly log: Log;
  /** Told of progress, in lines for a human. */
  readonly say: (text: string) => void;
  /** Programs to do without even where the machine has them: how tests play a poorer machine. */
  readonly without?: readonly HostTool[];
  /** Nobody needs the data once the server has stopped, or crashed: nothing is forced to the disk. For tests of other things. */
  readonly isThrowaway?: boolean;
}

const FIRST_LAUNCH_ATTEMPTS_MAX = 20;
const FIRST_LAUNCH_RETRY_MS = 50;
const SLOW_AFTER_MS = 2_000;

/**
 * Starts a real PostgreSQL on `directory`, creating the database there first if need be, and returns when it answers
 * queries. From then on a server that dies is started again on the same port, until `stop`. When this process ends, in
 * whatever way, the server ends too. Throws EmbeddedPostgresError for all that an operator can mend, in particular when
 * another Purser uses the directory; nothing is touched then. Main thread only.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  assert(isMainThread, 'the kernel would stop PostgreSQL when the thread ends, not the process');
  try {
    const binaries = await findBinaries();
    const layout = await layOut(options.directory);
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
  const slow = setTimeout(() => {
    options.say(
      'PostgreSQL is still starting; after a crash or a power cut it first repeats what was not written down.',
    );
  }, SLOW_AFTER_MS);
  try {
    const { postmaster, launch } = await launchFirst((port) => {
      const url = `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/postgres`;
      return { binaries, privileges, layout, port, url, isThrowaway: options.isThrowaway ?? false };
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

// Between the search for a free port and its use, someone else may take it: another is tried. A restart has no such
// choice, because the clients keep the port.
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
