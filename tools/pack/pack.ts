import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readBuild } from '../../packages/service/src/kernel/build.ts';
import { type Staged, stagePackage } from './stage.ts';
import { packFolder } from './tar.ts';

export interface Packed extends Staged {
  /** The tarball that `npm install` takes. */
  readonly tarball: string;
  /** What is in it, as a folder. */
  readonly folder: string;
}

/** Makes `purser-<version>.tgz` in `target`, from this checkout and the packages that it has installed. */
export function pack(target: string, build = readBuild()): Packed {
  mkdirSync(target, { recursive: true });
  const folder = join(target, 'package');
  const staged = stagePackage(folder, build);
  const tarball = join(target, `purser-${staged.version}.tgz`);
  packFolder(tarball, target, 'package'); // The name that npm expects.
  return { ...staged, tarball, folder };
}
