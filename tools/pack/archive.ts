import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { restoreLinks } from '../../packages/service/src/embedded/binaries.ts';
import { ROOT } from '../toolchain.ts';
import type { Packed } from './pack.ts';
import type { Platform } from './platform.ts';
import { copyPackage } from './prune.ts';

/**
 * Makes `purser-<version>-<platform>.tar.gz` beside the package: the same files with Node and PostgreSQL, for this machine's
 * kind of system. Somebody unpacks it and runs `bin/purser`; nothing else has to be installed.
 */
export async function packArchive(
  { folder, version }: Packed,
  { node, database }: Platform,
  target: string,
): Promise<string> {
  const name = `purser-${version}-${process.platform}-${process.arch}`;
  const staged = join(target, name);
  rmSync(staged, { recursive: true, force: true });
  copyPackage(folder, staged, { whole: true });
  for (const file of ['bin/node', 'LICENSE']) {
    mkdirSync(dirname(join(staged, 'runtime', file)), { recursive: true });
    copyFileSync(join(ROOT, node.path, file), join(staged, 'runtime', file));
  }
  copyPackage(join(ROOT, database.path), join(staged, database.path));
  await restoreLinks(join(staged, database.path));
  const archive = join(target, `${name}.tar.gz`);
  // The same files make the same archive, whoever packs them.
  const fixed = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mtime=2000-01-01 00:00:00Z'];
  const args = ['-czf', archive, ...(process.platform === 'linux' ? fixed : []), '-C', target, basename(staged)];
  const { status, stderr, error } = spawnSync('tar', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`tar\` failed:\n${stderr}`, { cause: error });
  return archive;
}
