import { readFile, rm } from 'node:fs/promises';
import { EmbeddedPostgresError, unlessMissing } from '#embedded/embedded-postgres-error.ts';
import type { Layout } from '#embedded/layout.ts';
import {
  exists,
  findOrphanedBackends,
  hasEnded,
  isGoingDown,
  isPostgresIn,
  isPostmasterOf,
  sendSignal,
  workingDirectoryOf,
} from '#embedded/process-identity.ts';
import { stopInSteps, waitUntil } from '#embedded/wait.ts';
import type { Log } from '#kernel/log.ts';

const ORPHANS_END_WAIT_MS = 5_000;
const RECOGNISE_WAIT_MS = 1_000;
/** On a busy machine it takes a while to give back the memory of a killed server. */
const GOING_DOWN_WAIT_MS = 10_000;

/**
 * Ends whatever a killed Purser or a killed postmaster left running on the data directory. Only for the owner of the
 * directory, and only while no postmaster of its own runs. Signals no process that it has not recognised.
 */
export async function clearLeftovers(layout: Layout, log: Log): Promise<void> {
  const left = await readPostmasterFile(layout);
  if (left === undefined) return; // Removed by PostgreSQL itself in every orderly end.
  if (left.directory === layout.directory) await stopLeftPostmaster(left.pid, layout, log);
  await endOrphanedBackends(layout, log);
  await removeMisleadingFile(left.pid, layout);
}

async function stopLeftPostmaster(pid: number, layout: Layout, log: Log): Promise<void> {
  if (!(await isPostmasterOf(pid, layout.directory))) {
    await waitUntil(async () => !(await isGoingDown(pid)), GOING_DOWN_WAIT_MS);
    if (!(await isPostgresIn(pid, layout.directory))) return;
    throw new EmbeddedPostgresError(
      `A PostgreSQL server that Purser did not start (process ${pid}) is using ${layout.directory}. Stop it first.`,
    );
  }
  log.warn({ pid }, 'stopping the PostgreSQL that an earlier Purser left running');
  const stopped = await stopInSteps({
    isRunning: () => isPostmasterOf(pid, layout.directory),
    send: (signal) => sendSignal(pid, signal),
  });
  if (!stopped) throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not stop. End it, then start again.`);
}

// Backends notice the death of their postmaster when they next wait for something; one that only computes never does, and
// keeps the shared memory from the next postmaster. To kill it is safe: that memory is lost already, and the next
// postmaster starts from the log on disk.
async function endOrphanedBackends(layout: Layout, log: Log): Promise<void> {
  const ended = await waitUntil(async () => {
    const orphans = await findOrphanedBackends(layout.directory);
    for (const pid of orphans) sendSignal(pid, 'SIGKILL');
    if (orphans.length > 0) log.warn({ pids: orphans }, 'ending PostgreSQL backends that lost their postmaster');
    return orphans.length === 0;
  }, ORPHANS_END_WAIT_MS);
  if (!ended) throw new EmbeddedPostgresError(`Processes of a killed PostgreSQL still use ${layout.directory}.`);
}

// PostgreSQL asks only whether the number in the file is taken by any process, and refuses to start if so. After a restart
// of the machine or the container it often is, by something else; and in a container where nobody asks after orphans, a
// killed postmaster keeps its number for ever.
async function removeMisleadingFile(pid: number, layout: Layout): Promise<void> {
  if (!exists(pid)) return;
  const isMisleading = await waitUntil(async () => {
    const workingDirectory = await workingDirectoryOf(pid); // Unknown for one that is just being killed.
    return (await hasEnded(pid)) || (workingDirectory !== undefined && workingDirectory !== layout.directory);
  }, RECOGNISE_WAIT_MS);
  if (isMisleading) await rm(layout.postmasterPid, { force: true });
}

interface PostmasterFile {
  readonly pid: number;
  readonly directory: string;
  readonly port: number;
  readonly isReady: boolean;
}

/** What PostgreSQL writes about itself into `postmaster.pid`; undefined when there is none, or none complete. */
export async function readPostmasterFile(layout: Layout): Promise<PostmasterFile | undefined> {
  const text = await unlessMissing(readFile(layout.postmasterPid, 'utf8'));
  const lines = text?.split('\n') ?? [];
  const pid = Math.abs(Number(lines[0])); // Negative for a server in single-user mode.
  if (lines[1] === undefined || !Number.isSafeInteger(pid) || pid === 0) return undefined;
  return { pid, directory: lines[1], port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}
