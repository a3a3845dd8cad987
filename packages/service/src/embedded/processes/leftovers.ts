import { readFile, rm } from 'node:fs/promises';
import { EmbeddedPostgresError, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import type { Layout } from '#embedded/files/layout.ts';
import {
  exists,
  findOrphanedBackends,
  hasEnded,
  isGoingDown,
  isPostgresIn,
  isPostmasterOf,
  sendSignal,
  workingDirectoryOf,
} from '#embedded/processes/process-identity.ts';
import { stopInSteps, waitUntil } from '#embedded/processes/wait.ts';
import type { Log } from '#kernel/log.ts';

const ORPHANS_END_WAIT_MS = 5_000;
const RECOGNISE_WAIT_MS = 1_000;
/** On a busy machine it takes a while to give back the memory of a killed server. */
const GOING_DOWN_WAIT_MS = 10_000;

/**
 * Ends the processes that a killed Purser or a killed postmaster left running on the data directory. Only the owner of the
 * directory may call it, while its own postmaster does not run. Never signals a process that it has not recognised.
 */
export async function clearLeftovers(layout: Layout, log: Log): Promise<void> {
  const left = await readPostmasterFile(layout);
  if (left === undefined) return; // PostgreSQL removes the file in every orderly shutdown.
  if (left.directory === layout.directory) await stopLeftPostmaster(left.pid, layout, log);
  await endOrphanedBackends(layout, log);
  await removeMisleadingFile(left.pid, layout);
}

/** A postmaster that we started is stopped. One that somebody else started on our data is reported, never killed. */
async function stopLeftPostmaster(pid: number, layout: Layout, log: Log): Promise<void> {
  if (!(await isPostmasterOf(pid, layout.directory))) {
    await waitUntil(async () => !(await isGoingDown(pid)), GOING_DOWN_WAIT_MS);
    if (!(await isPostgresIn(pid, layout.directory))) return;
    throw new EmbeddedPostgresError(
      `A PostgreSQL server that Purser did not start (process ${pid}) is using ${layout.directory}. Stop it first.`,
    );
  }
  log.warn({ pid }, 'stopping a PostgreSQL server that an earlier Purser left running');
  const stopped = await stopInSteps({
    isRunning: () => isPostmasterOf(pid, layout.directory),
    send: (signal) => sendSignal(pid, signal),
  });
  if (!stopped)
    throw new EmbeddedPostgresError(`PostgreSQL (process ${pid}) does not stop. Kill it, then start Purser again.`);
}

// A backend notices that its postmaster has died when it next waits for something. A backend that only computes never does,
// and its hold on the shared memory keeps the next postmaster from starting. Killing it is safe: the memory is lost anyway,
// and the next postmaster recovers from the log on disk.
async function endOrphanedBackends(layout: Layout, log: Log): Promise<void> {
  const ended = await waitUntil(async () => {
    const orphans = await findOrphanedBackends(layout.directory);
    for (const pid of orphans) sendSignal(pid, 'SIGKILL');
    if (orphans.length > 0) log.warn({ pids: orphans }, 'ending PostgreSQL backends that lost their postmaster');
    return orphans.length === 0;
  }, ORPHANS_END_WAIT_MS);
  if (!ended)
    throw new EmbeddedPostgresError(
      `Processes of a killed PostgreSQL server still use ${layout.directory}. End them, then start Purser again.`,
    );
}

// PostgreSQL only checks whether any process has the number in the file, and refuses to start if one does. After a restart
// of the machine or the container, some other process often has it. And in a container without an init process that reaps
// orphans, a killed postmaster keeps its number for ever.
async function removeMisleadingFile(pid: number, layout: Layout): Promise<void> {
  if (!exists(pid)) return;
  const isMisleading = await waitUntil(async () => {
    const workingDirectory = await workingDirectoryOf(pid); // Unknown while the process is being killed.
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

/** Reads what PostgreSQL writes about itself into `postmaster.pid`. Undefined when the file is missing or incomplete. */
export async function readPostmasterFile(layout: Layout): Promise<PostmasterFile | undefined> {
  const text = await unlessMissing(readFile(layout.postmasterPid, 'utf8'));
  const lines = text?.split('\n') ?? [];
  const pid = Math.abs(Number(lines[0])); // Negative for a server in single-user mode.
  if (lines[1] === undefined || !Number.isSafeInteger(pid) || pid === 0) return undefined;
  return { pid, directory: lines[1], port: Number(lines[3]), isReady: lines[7]?.trim() === 'ready' };
}
