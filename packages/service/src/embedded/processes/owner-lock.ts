import { closeSync, openSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { type HostTool, runCommand } from '#embedded/processes/command.ts';
import { EmbeddedPostgresError, isErrno, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import { type Layout, temporaryPath } from '#embedded/files/layout.ts';
import { isRunning, ownIdentity, type ProcessIdentity } from '#embedded/processes/process-identity.ts';
import { waitUntil } from '#embedded/processes/wait.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

interface OwnerLock {
  readonly release: () => Promise<void>;
}

const FLOCK_TIMEOUT_MS = 2_000;
const RIVAL_NAME_WAIT_MS = 300; // A rival that has just got the lock may not have written its name yet.
const PLACE_ATTEMPTS_MAX = 50;
const PLACE_RETRY_MS = 10;
const TAKEOVER_DEPTH_MAX = 3; // Each level takes one more start that was killed within the few milliseconds of a takeover.

/**
 * Makes this process the only owner of the data directory, or throws EmbeddedPostgresError at once when another process owns
 * it. Two servers on one directory would destroy the data.
 *
 * There are two locks, taken in this order. First the kernel's lock on the guard file. It disappears with its holder, however
 * that ends, and works across containers that share the disk, but it needs the `flock` program. Then the owner file, which
 * names the holder. On machines without `flock` it is the only lock.
 */
export async function takeOwnerLock(layout: Layout, without: readonly HostTool[]): Promise<OwnerLock> {
  const guard = await takeGuard(layout.guard, without);
  if (guard === 'busy') throw await refuseSecond(layout);
  const closeGuard = (): void => {
    if (guard !== 'unavailable') closeSync(guard);
  };
  try {
    const record = JSON.stringify({ ...(await ownIdentity()), token: randomBase62(22) });
    const rival = await placeRecord({ layout, path: layout.owner, record, depth: 0 });
    if (rival !== undefined) throw inUse(layout, rival);
    return {
      release: async () => {
        await removeRecord(layout.owner, record);
        closeGuard();
      },
    };
  } catch (fault) {
    closeGuard();
    throw fault;
  }
}

// The lock belongs to the open file description, which the `flock` program shares with us. So it stays ours after that
// program has ended, until we close the file or end ourselves. This is a bare descriptor because the garbage collector may
// close a FileHandle.
async function takeGuard(path: string, without: readonly HostTool[]): Promise<number | 'busy' | 'unavailable'> {
  if (without.includes('flock')) return 'unavailable';
  const fd = openSync(path, 'a', 0o600);
  const { code } = await runCommand(['flock', '-x', '-n', '3'], { identity: {}, timeoutMs: FLOCK_TIMEOUT_MS, fd });
  if (code === 0) return fd;
  closeSync(fd);
  return code === 1 ? 'busy' : 'unavailable';
}

/** Names the other process in the message if it can be found. The refusal itself does not depend on that. */
async function refuseSecond(layout: Layout): Promise<EmbeddedPostgresError> {
  let rival: ProcessIdentity | undefined;
  await waitUntil(async () => {
    const found = parseRecord(await readRecord(layout.owner));
    if (found !== undefined && (await isRunning(found))) rival = found;
    return rival !== undefined;
  }, RIVAL_NAME_WAIT_MS);
  return inUse(layout, rival);
}

function inUse({ directory }: Layout, rival: ProcessIdentity | undefined): EmbeddedPostgresError {
  const who = rival === undefined ? 'Another Purser' : `Another Purser (process ${rival.pid})`;
  return new EmbeddedPostgresError(
    `${who} is using ${directory}. Stop it first, or set PURSER_DATA_DIR to another directory.`,
  );
}

interface Placing {
  readonly layout: Layout;
  readonly path: string;
  readonly record: string;
  readonly depth: number;
}

/** Puts `record` at `path`. If a running process already holds the path, returns that process instead. */
async function placeRecord(placing: Placing): Promise<ProcessIdentity | undefined> {
  for (let attempt = 0; attempt < PLACE_ATTEMPTS_MAX; attempt += 1) {
    if (await createRecord(placing)) return undefined;
    const seen = await readRecord(placing.path);
    if (seen === undefined) continue; // It was released between the two lines above.
    const holder = parseRecord(seen);
    if (holder !== undefined && (await isRunning(holder))) return holder;
    if (await replaceStale(placing, seen)) return undefined;
    await sleep(PLACE_RETRY_MS);
  }
  throw new EmbeddedPostgresError(
    `The lock ${placing.path} changes hands too fast. Several starts of Purser compete for it. Start it only once.`,
  );
}

// Creating a hard link is atomic and fails if the path exists, so no reader ever sees half a record.
async function createRecord({ layout, path, record }: Placing): Promise<boolean> {
  const draft = temporaryPath(layout);
  await writeFile(draft, record, { mode: 0o644, flag: 'wx' });
  try {
    await link(draft, path);
    return true;
  } catch (fault) {
    // ENOENT: the process that has just become the owner has removed our draft with its other leftovers.
    if (isErrno(fault) && (fault.code === 'EEXIST' || fault.code === 'ENOENT')) return false;
    throw fault;
  } finally {
    await rm(draft, { force: true });
  }
}

// Two starts may find the same stale record. If each removed what it saw, the slower one could remove the fresh record of the
// faster one. So a stale record is replaced only under a lock of its own and after reading it again: its holder is dead, so
// nobody else changes it meanwhile. That lock is a record of the same kind and may be stale itself, hence the depth.
async function replaceStale({ layout, path, record, depth }: Placing, seen: string): Promise<boolean> {
  const takeover = `${path}.takeover`;
  if (depth === TAKEOVER_DEPTH_MAX) {
    throw new EmbeddedPostgresError(
      `The lock files ${layout.owner}* were left behind by starts that were killed. Remove them.`,
    );
  }
  if ((await placeRecord({ layout, path: takeover, record, depth: depth + 1 })) !== undefined) return false;
  try {
    if ((await readRecord(path)) !== seen) return false;
    const draft = temporaryPath(layout);
    await writeFile(draft, record, { mode: 0o644, flag: 'wx' });
    await rename(draft, path);
    return true;
  } finally {
    await removeRecord(takeover, record);
  }
}

/** Removes a record only if it is still ours. The token in it makes every record unique. */
async function removeRecord(path: string, record: string): Promise<void> {
  if ((await readRecord(path)) === record) await rm(path, { force: true });
}

async function readRecord(path: string): Promise<string | undefined> {
  return await unlessMissing(readFile(path, 'utf8'));
}

// A record that cannot be parsed counts as stale. A power cut may leave an empty file, but then the owner is gone too.
function parseRecord(text: string | undefined): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '');
    if (typeof value !== 'object' || value === null || !('pid' in value) || !('startedAt' in value)) return undefined;
    const { pid, startedAt } = value;
    if (!Number.isSafeInteger(pid) || Number(pid) < 1 || typeof startedAt !== 'string') return undefined;
    return { pid: Number(pid), startedAt };
  } catch {
    return undefined;
  }
}
