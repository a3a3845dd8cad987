import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Staged, stagePackage } from './stage.ts';

export interface Packed extends Staged {
  /** The tarball that `npm install` takes. */
  readonly tarball: string;
  /** What is in it, as a folder. */
  readonly folder: string;
}

/** Makes `purser-<version>.tgz` in `target`, from this checkout and the packages that it has installed. */
export function pack(target: string): Packed {
  mkdirSync(target, { recursive: true });
  const folder = join(target, 'package');
  const staged = stagePackage(folder);
  const tarball = join(target, `purser-${staged.version}.tgz`);
  rmSync(tarball, { force: true });
  runNpm(['pack', '--ignore-scripts', '--loglevel=error', '--pack-destination', target], folder);
  return { ...staged, tarball, folder };
}

function runNpm(args: readonly string[], cwd: string): void {
  const { status, error, stdout, stderr } = spawnSync('npm', args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`\`npm ${args[0]}\` failed:\n${stdout}${stderr}`, { cause: error });
}
