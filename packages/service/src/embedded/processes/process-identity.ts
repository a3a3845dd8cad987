import { readdir, readFile, readlink } from 'node:fs/promises';
import { runCommand } from '#embedded/processes/command.ts';
import { isErrno, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';

/** A process, distinguishable from a later process with the same number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the machine's own format. Empty when the machine does not say. */
  readonly startedAt: string;
}

const IS_LINUX = process.platform === 'linux';
const PS_TIMEOUT_MS = 2_000;
const ENDED = 'ended';

export async function ownIdentity(): Promise<ProcessIdentity> {
  return { pid: process.pid, startedAt: (await startedAt(process.pid)) ?? '' };
}

/**
 * Returns true while this very process runs. In doubt it returns true, because a lock must not be taken from a process
 * that may be alive.
 */
export async function isRunning({ pid, startedAt: recorded }: ProcessIdentity): Promise<boolean> {
  if (!exists(pid)) return false;
  const found = await startedAt(pid);
  if (found === ENDED) return false;
  return found === undefined || recorded === '' || found === recorded;
}

/**
 * Returns true when the process has ended, even if it still has its number because its parent has not reaped it. Works
 * on Linux only.
 */
export async function hasEnded(pid: number): Promise<boolean> {
  return !exists(pid) || (IS_LINUX && (await startedAt(pid)) === ENDED);
}

/** Returns true when any process has this number, including processes of other users. */
export function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (fault) {
    return isErrno(fault) && fault.code === 'EPERM';
  }
}

/** Sends a signal to a process. Does nothing when the process has already ended. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (fault) {
    if (!isErrno(fault) || fault.code !== 'ESRCH') throw fault;
  }
}

// Linux gives the start time in ticks since boot, so the same value may come again after a reboot. The boot id makes it
// unique. A zombie still has a number but counts as ended.
async function startedAt(pid: number): Promise<string | undefined> {
  if (!IS_LINUX) {
    const { code, output } = await runPs(pid, 'lstart=');
    return code === 0 ? output : undefined;
  }
  const stat = await unlessMissing(readFile(`/proc/${pid}/stat`, 'utf8'));
  if (stat === undefined) return undefined;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' '); // Field 3 onwards: field 2, the name, may hold anything.
  if (fields[0] === 'Z' || fields[0] === 'X') return ENDED;
  const boot = await unlessMissing(readFile('/proc/sys/kernel/random/boot_id', 'utf8'));
  return `${boot?.trim() ?? ''}/${fields[19] ?? ''}`; // Field 22.
}

/** Returns true when `pid` is a postmaster as we start them, on this data directory. */
export async function isPostmasterOf(pid: number, directory: string): Promise<boolean> {
  if (!IS_LINUX) return (await runPs(pid, 'command=')).output.includes(`/postgres -D ${directory} -p `);
  if ((await nameOf(pid)) !== 'postgres') return false;
  const command = (await unlessMissing(readFile(`/proc/${pid}/cmdline`, 'utf8'))) ?? '';
  return command.includes(`\0-D\0${directory}\0-p\0`);
}

/**
 * Returns true if `pid` is a PostgreSQL process that works in this data directory, no matter what started it. Works on
 * Linux only.
 */
export async function isPostgresIn(pid: number, directory: string): Promise<boolean> {
  return (await nameOf(pid)) === 'postgres' && (await workingDirectoryOf(pid)) === directory;
}

/**
 * Returns true for a process that was killed and is being taken down: it still has its name and its directory, but no
 * command line. Works on Linux only.
 */
export async function isGoingDown(pid: number): Promise<boolean> {
  return (await unlessMissing(readFile(`/proc/${pid}/cmdline`, 'utf8'))) === '';
}

/**
 * Finds all PostgreSQL processes that work in this data directory without a postmaster, as a `kill -9` of it may leave them.
 * Linux only; elsewhere it finds none.
 */
export async function findOrphanedBackends(directory: string): Promise<readonly number[]> {
  if (!IS_LINUX) return [];
  const orphans: number[] = [];
  for (const name of await readdir('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || !(await isPostgresIn(pid, directory))) continue;
    const parent = await parentOf(pid);
    if (parent !== undefined && (await nameOf(parent)) !== 'postgres') orphans.push(pid);
  }
  return orphans;
}

/** The working directory of a process. Undefined when it has ended or may not be inspected. */
export async function workingDirectoryOf(pid: number): Promise<string | undefined> {
  try {
    return await readlink(`/proc/${pid}/cwd`);
  } catch {
    return undefined;
  }
}

async function nameOf(pid: number): Promise<string | undefined> {
  return (await unlessMissing(readFile(`/proc/${pid}/comm`, 'utf8')))?.trim();
}

async function parentOf(pid: number): Promise<number | undefined> {
  const status = await unlessMissing(readFile(`/proc/${pid}/status`, 'utf8'));
  const parent = /^PPid:\s+(\d+)$/m.exec(status ?? '')?.[1];
  return parent === undefined ? undefined : Number(parent);
}

async function runPs(pid: number, column: string): ReturnType<typeof runCommand> {
  return await runCommand(['ps', '-o', column, '-p', String(pid)], { identity: {}, timeoutMs: PS_TIMEOUT_MS });
}
