import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from '#embedded/files/binaries.ts';
import { type HostTool, type Identity, runCommand } from '#embedded/processes/command.ts';
import { EmbeddedPostgresError, USE_DATABASE_URL, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import type { Layout } from '#embedded/files/layout.ts';

/** How to run PostgreSQL with the rights it needs and no more. PostgreSQL refuses to run as root. */
export interface Privileges {
  /** Words to put before the command itself. */
  readonly prefix: readonly string[];
  readonly identity: Identity;
  /** The user id that must own the data directory on disk. */
  readonly diskOwner: number;
}

type Way = Privileges & { readonly tools: readonly HostTool[] };

const ROOT = 0;
const NOBODY = 65534; // Belongs to no account. User namespaces also show this number for ids that they do not map.
const PROBE_TIMEOUT_MS = 5_000;
const TRIAL = 'cd -- "$1" && id -un && exec "$2" --version'; // Can it reach the data, has it a name, does the server run?

// Inside a user namespace the server sees itself as nobody, while to everyone else it still is us: its files belong to us,
// and it can enter our private directories. It has none of root's capabilities.
const AS_NOBODY_IN_NAMESPACE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] as const;

const WAYS_OF_ROOT: readonly Way[] = [
  { tools: ['unshare'], prefix: AS_NOBODY_IN_NAMESPACE, identity: {}, diskOwner: ROOT },
  // Plain nobody. Needs no tools, but can reach only what every user can reach.
  { tools: [], prefix: [], identity: { uid: NOBODY, gid: NOBODY }, diskOwner: NOBODY },
  // Nobody with one capability, which lets it pass through directories that are closed to it. It could then read more than
  // it needs, so this is the last choice.
  {
    tools: ['setpriv'],
    prefix: [
      'setpriv',
      `--reuid=${NOBODY}`,
      `--regid=${NOBODY}`,
      '--clear-groups',
      '--bounding-set=-all,+dac_read_search',
      '--inh-caps=-all,+dac_read_search',
      '--ambient-caps=-all,+dac_read_search',
    ],
    identity: {},
    diskOwner: NOBODY,
  },
];

const waysOfOthers = (uid: number): readonly Way[] => [
  { tools: [], prefix: [], identity: {}, diskOwner: uid },
  // For a user id without a name, as in many containers. `initdb` insists on a name, and the user nobody has one.
  { tools: ['unshare'], prefix: AS_NOBODY_IN_NAMESPACE, identity: {}, diskOwner: uid },
];

/**
 * Tries the ways to run PostgreSQL and returns the first in which it starts and reaches the data directory. Trying is the
 * only reliable test: containers forbid any of this in their own ways. Throws EmbeddedPostgresError when none works.
 */
export async function choosePrivileges(
  binaries: Binaries,
  layout: Layout,
  without: readonly HostTool[],
): Promise<Privileges> {
  const uid = process.getuid?.() ?? ROOT;
  const present = await unlessMissing(lstat(layout.directory));
  const ways = (uid === ROOT ? WAYS_OF_ROOT : waysOfOthers(uid)).toSorted(
    // Prefer the way that leaves existing data with its present owner.
    (left, right) => Number(right.diskOwner === present?.uid) - Number(left.diskOwner === present?.uid),
  );
  const dieWithUs = await findDeathSignal(without);
  for (const way of ways) {
    if (way.tools.some((tool) => without.includes(tool))) continue;
    const prefix = [...way.prefix, ...dieWithUs, ...binaries.prefix];
    const trial = [...prefix, 'sh', '-c', TRIAL, 'sh', layout.parent, binaries.postgres];
    const { code } = await runCommand(trial, { identity: way.identity, timeoutMs: PROBE_TIMEOUT_MS });
    if (code === 0) return { prefix, identity: way.identity, diskOwner: way.diskOwner };
  }
  throw await explainNoWay(uid, binaries, layout);
}

// Makes the kernel stop the server when our process ends, however it ends. Where that is not available (macOS), the next
// start stops what is left.
async function findDeathSignal(without: readonly HostTool[]): Promise<readonly string[]> {
  const prefix = ['setpriv', '--pdeathsig', 'INT'];
  if (without.includes('setpriv')) return [];
  const { code } = await runCommand([...prefix, 'true'], { identity: {}, timeoutMs: PROBE_TIMEOUT_MS });
  return code === 0 ? prefix : [];
}

/** Finds out which of the three usual causes it is, because each needs another remedy. */
async function explainNoWay(uid: number, binaries: Binaries, layout: Layout): Promise<EmbeddedPostgresError> {
  const trial = await runCommand([...binaries.prefix, binaries.postgres, '--version'], {
    identity: {},
    timeoutMs: PROBE_TIMEOUT_MS,
  });
  if (trial.code !== 0) {
    return new EmbeddedPostgresError(
      `The PostgreSQL that npm installed does not run on this machine (${trial.output}). Instead, ${USE_DATABASE_URL}.`,
    );
  }
  if (uid !== ROOT) {
    return new EmbeddedPostgresError(
      `PostgreSQL needs a user with a name, but user ${uid} has none on this machine (or may not enter ${layout.parent}). Add the user to /etc/passwd, or ${USE_DATABASE_URL}.`,
    );
  }
  return new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root, and neither a user namespace nor user ${NOBODY} can reach ${layout.parent} and ${binaries.postgres} on this machine. Start Purser as an ordinary user, move both to a place that every user can reach, or ${USE_DATABASE_URL}.`,
  );
}

/**
 * Gives the data directory to the user that the server runs as, in case an earlier start under root ran it another way.
 * Throws EmbeddedPostgresError when the directory is somebody else's. If interrupted, the next start does it again.
 */
export async function adoptDirectory(directory: string, privileges: Privileges): Promise<void> {
  const { uid } = await lstat(directory);
  if (uid === privileges.diskOwner) return;
  if (process.getuid?.() !== ROOT || (uid !== ROOT && uid !== NOBODY)) {
    throw new EmbeddedPostgresError(
      `The database directory ${directory} belongs to user ${uid}, but Purser runs as user ${process.getuid?.()}. Start Purser as the directory's owner, or change the owner of the directory and of the files beside it.`,
    );
  }
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await giveAway(join(entry.parentPath, entry.name), privileges.diskOwner);
  }
  await lchown(directory, privileges.diskOwner, privileges.diskOwner); // Last, because the directory's owner marks the work as done.
}

async function giveAway(path: string, owner: number): Promise<void> {
  const found = await lstat(path);
  // Another process of the server's user could have planted a hard link to a file elsewhere. Changing its owner would give
  // that file away.
  if (found.isFile() && found.nlink > 1) {
    throw new EmbeddedPostgresError(`${path} has a second hard link. Remove one of the two.`);
  }
  await lchown(path, owner, owner);
}
