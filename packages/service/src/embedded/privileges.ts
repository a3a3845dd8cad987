import { lchown, lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Binaries } from '#embedded/binaries.ts';
import { type HostTool, type Identity, runCommand } from '#embedded/command.ts';
import { EmbeddedPostgresError, USE_DATABASE_URL, unlessMissing } from '#embedded/embedded-postgres-error.ts';
import type { Layout } from '#embedded/layout.ts';

/** How to run PostgreSQL, which refuses to run as root, with the rights it needs and no more. */
export interface Privileges {
  /** Words before the command itself. */
  readonly prefix: readonly string[];
  readonly identity: Identity;
  /** The user id on disk that the data directory must belong to. */
  readonly diskOwner: number;
}

type Way = Privileges & { readonly tools: readonly HostTool[] };

const ROOT = 0;
const NOBODY = 65534; // Belongs to no account; the same number that user namespaces show for ids they do not know.
const PROBE_TIMEOUT_MS = 5_000;
const TRIAL = 'cd -- "$1" && id -un && exec "$2" --version'; // Reaches the data, has a name, runs the server.

// Inside a namespace of its own the server sees itself as nobody, while to everyone else it stays us: files are ours, and
// our private directories are open to it. Of root's capabilities it holds none.
const AS_NOBODY_IN_NAMESPACE = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] as const;

const WAYS_OF_ROOT: readonly Way[] = [
  { tools: ['unshare'], prefix: AS_NOBODY_IN_NAMESPACE, identity: {}, diskOwner: ROOT },
  // Plain nobody: needs no help from the machine, but reaches only what everyone may reach.
  { tools: [], prefix: [], identity: { uid: NOBODY, gid: NOBODY }, diskOwner: NOBODY },
  // Nobody with one capability, to pass through directories closed to it. It could read more than it needs, as in the
  // namespace; hence the last choice.
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
  // For a user without a name, as containers run them: `initdb` insists on one, and nobody has it.
  { tools: ['unshare'], prefix: AS_NOBODY_IN_NAMESPACE, identity: {}, diskOwner: uid },
];

/**
 * The first way in which PostgreSQL really runs and reaches the data directory, found out by trying.
 * Throws EmbeddedPostgresError when there is none.
 */
export async function choosePrivileges(
  binaries: Binaries,
  layout: Layout,
  without: readonly HostTool[],
): Promise<Privileges> {
  const uid = process.getuid?.() ?? ROOT;
  const present = await unlessMissing(lstat(layout.directory));
  const ways = (uid === ROOT ? WAYS_OF_ROOT : waysOfOthers(uid)).toSorted(
    // Data stays with the user it belongs to where that works.
    (left, right) => Number(right.diskOwner === present?.uid) - Number(left.diskOwner === present?.uid),
  );
  const dieWithUs = await findDeathSignal(without);
  for (const way of ways) {
    if (way.tools.some((tool) => without.includes(tool))) continue;
    const prefix = [...way.prefix, ...dieWithUs];
    const trial = [...prefix, 'sh', '-c', TRIAL, 'sh', layout.parent, binaries.postgres];
    const { code } = await runCommand(trial, { identity: way.identity, timeoutMs: PROBE_TIMEOUT_MS });
    if (code === 0) return { prefix, identity: way.identity, diskOwner: way.diskOwner };
  }
  throw await explainNoWay(uid, binaries, layout);
}

// Asks the kernel to stop the server when our process ends, however it ends. Where that is not to be had (macOS), the
// next start stops what is left.
async function findDeathSignal(without: readonly HostTool[]): Promise<readonly string[]> {
  const prefix = ['setpriv', '--pdeathsig', 'INT'];
  if (without.includes('setpriv')) return [];
  const { code } = await runCommand([...prefix, 'true'], { identity: {}, timeoutMs: PROBE_TIMEOUT_MS });
  return code === 0 ? prefix : [];
}

async function explainNoWay(uid: number, binaries: Binaries, layout: Layout): Promise<EmbeddedPostgresError> {
  const trial = await runCommand([binaries.postgres, '--version'], { identity: {}, timeoutMs: PROBE_TIMEOUT_MS });
  if (trial.code !== 0) {
    return new EmbeddedPostgresError(
      `The PostgreSQL that npm installed does not run on this machine (${trial.output}). Please ${USE_DATABASE_URL}.`,
    );
  }
  if (uid !== ROOT) {
    return new EmbeddedPostgresError(
      `PostgreSQL needs a user with a name, and user ${uid} has none on this machine (or may not enter ${layout.parent}). Add the user to /etc/passwd, or ${USE_DATABASE_URL}.`,
    );
  }
  return new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root, and here neither a user namespace nor user ${NOBODY} gives it a way to ${layout.parent} and ${binaries.postgres}. Start Purser as an ordinary user, move both to where every user may pass, or ${USE_DATABASE_URL}.`,
  );
}

/**
 * Makes the data directory belong to the user the server runs as, when an earlier start of root's ran it another way.
 * Throws EmbeddedPostgresError when it is someone else's. Interrupted, it is done again by the next start.
 */
export async function adoptDirectory(directory: string, privileges: Privileges): Promise<void> {
  const { uid } = await lstat(directory);
  if (uid === privileges.diskOwner) return;
  if (process.getuid?.() !== ROOT || (uid !== ROOT && uid !== NOBODY)) {
    throw new EmbeddedPostgresError(
      `The database directory ${directory} belongs to user ${uid}, and Purser runs as user ${process.getuid?.()}. Start Purser as the user it belongs to, or give it the directory and the files beside it.`,
    );
  }
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await giveAway(join(entry.parentPath, entry.name), privileges.diskOwner);
  }
  await lchown(directory, privileges.diskOwner, privileges.diskOwner); // Last: it is what says that all is done.
}

async function giveAway(path: string, owner: number): Promise<void> {
  const found = await lstat(path);
  // A second name for a file elsewhere, planted by another process of the server's user, must not be handed over.
  if (found.isFile() && found.nlink > 1) throw new EmbeddedPostgresError(`${path} has a second name. Remove one.`);
  await lchown(path, owner, owner);
}
