import { copyFileSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { restoreLinks } from '../../packages/service/src/embedded/files/binaries.ts';
import { type Build, readBuild } from '../../packages/service/src/kernel/build.ts';
import { ROOT } from '../toolchain.ts';
import { binaryDigests } from './binary-digests.ts';
import type { Packed } from './pack.ts';
import type { Platform } from './platform.ts';
import { copyPackage } from './prune.ts';
import { packFolder } from './tar.ts';

/**
 * Makes `purser-<version>-<day>-<commit>-<platform>.tar.gz` beside the package: the same files with Node and PostgreSQL, for this machine's
 * kind of system. Somebody unpacks it and runs `bin/purser`; nothing else has to be installed.
 */
export async function packArchive(
  { folder, version }: Packed,
  { node, database }: Platform,
  target: string,
): Promise<string> {
  const name = archiveName(version, readBuild());
  const staged = join(target, name);
  rmSync(staged, { recursive: true, force: true });
  copyPackage(folder, staged, { whole: true });
  for (const file of ['bin/node', 'LICENSE']) {
    mkdirSync(dirname(join(staged, 'runtime', file)), { recursive: true });
    copyFileSync(join(ROOT, node.path, file), join(staged, 'runtime', file));
  }
  checkNode(join(staged, 'runtime'));
  copyPackage(join(ROOT, database.path), join(staged, database.path));
  await restoreLinks(join(staged, database.path));
  const archive = join(target, `${name}.tar.gz`);
  packFolder(archive, target, name);
  return archive;
}

/** Two builds of one version unpack into two folders, so that one can be installed beside the other. */
export function archiveName(version: string, build: Build | undefined): string {
  const commit = build === undefined ? [] : [build.date.replaceAll('-', ''), build.commit];
  return ['purser', version, ...commit, process.platform, process.arch].join('-');
}

/** The lock file pins the npm package of Node; this, the program that npm made of it on this disk. */
function checkNode(runtime: string): void {
  const platform = `${process.platform}-${process.arch}`;
  const digests = JSON.parse(readFileSync(join(import.meta.dirname, 'node-digests.json'), 'utf8')) as Record<
    string,
    unknown
  >;
  const found = binaryDigests(runtime);
  if (isDeepStrictEqual(found, digests[platform])) return;
  throw new Error(`Node for ${platform} is not the program of its release: ${found['bin/node']}.`);
}
