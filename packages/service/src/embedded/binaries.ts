import { constants } from 'node:fs';
import { access, lstat, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, isErrno, USE_DATABASE_URL, unlessMissing } from '#embedded/embedded-postgres-error.ts';

export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** `18`: the version that a data directory is tied to. */
  readonly majorVersion: string;
}

/**
 * Finds the PostgreSQL server that npm installed for this machine and makes its library links whole.
 * Throws EmbeddedPostgresError when there is none, or when links are missing and cannot be made.
 */
export async function findBinaries(): Promise<Binaries> {
  const root = findPackage(`@embedded-postgres/${process.platform}-${process.arch}`);
  await restoreLinks(root);
  const bin = join(root, 'native', 'bin');
  const binaries = { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres') };
  await Promise.all(Object.values(binaries).map((file) => access(file, constants.X_OK)));
  const manifest: unknown = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  return { ...binaries, majorVersion: majorVersionOf(manifest) };
}

/** The directory of an installed package. Throws EmbeddedPostgresError, pointing to DATABASE_URL, when it is not there. */
export function findPackage(name: string): string {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve(name)));
  } catch (fault) {
    const machine = `${process.platform}-${process.arch}`;
    throw new EmbeddedPostgresError(
      `PostgreSQL for ${machine} (npm package ${name}) is not installed. Run \`npm ci\` again if npm has it for this machine; otherwise ${USE_DATABASE_URL}.`,
      { cause: fault },
    );
  }
}

function majorVersionOf(manifest: unknown): string {
  const version = typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : '';
  const major = typeof version === 'string' ? /^\d+/.exec(version)?.[0] : undefined;
  if (major === undefined)
    throw new EmbeddedPostgresError('The installed PostgreSQL package does not tell its version.');
  return major;
}

/**
 * Makes the links between library files that are listed in the package below `root` and missing. An npm package cannot
 * carry links, so its install script makes them; npm 12 and `--ignore-scripts` leave that out, and the server then does
 * not find its own libraries. Several starts may do this at once.
 */
export async function restoreLinks(root: string): Promise<void> {
  const listed: unknown = JSON.parse(await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8'));
  if (!Array.isArray(listed)) return;
  for (const { source, target } of listed as readonly { readonly source: string; readonly target: string }[]) {
    const link = join(root, target);
    if ((await unlessMissing(lstat(link))) === undefined) await makeLink(relative(dirname(target), source), link);
  }
}

async function makeLink(source: string, link: string): Promise<void> {
  try {
    await symlink(source, link);
  } catch (fault) {
    if (isErrno(fault) && fault.code === 'EEXIST') return; // Another start made it meanwhile; it makes the same one.
    throw new EmbeddedPostgresError(
      `PostgreSQL's library link ${link} is missing and cannot be made here. Run Purser once as the user who installed it (npm skipped the package's install script), or ${USE_DATABASE_URL}.`,
      { cause: fault },
    );
  }
}
