import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';
import { readLock, type Shipped, shippedPackages } from './lock.ts';
import { packageManifest, shrinkwrap } from './manifest.ts';
import { writeJson, writeOwnFiles } from './own-files.ts';
import { copyPackage } from './prune.ts';

export interface Staged {
  readonly version: string;
  readonly shipped: readonly Shipped[];
}

/** Puts together in `target` what the package contains. */
export function stagePackage(target: string): Staged {
  const lock = readLock();
  const { version } = lock;
  const shipped = shippedPackages(lock, 'packages/service');
  const manifest = packageManifest(version);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  writeOwnFiles(target);
  for (const { path } of shipped) copyPackage(join(ROOT, path), join(target, path));
  writeJson(join(target, 'package.json'), manifest);
  writeJson(join(target, 'npm-shrinkwrap.json'), shrinkwrap(lock, shipped, manifest));
  return { version, shipped };
}
