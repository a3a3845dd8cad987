import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from '../../packages/service/src/kernel/build.ts';
import { ROOT } from '../toolchain.ts';
import { thirdPartyLicences } from './licences.ts';
import { readLock, type Shipped, shippedPackages } from './lock.ts';
import { packageManifest, shrinkwrap } from './manifest.ts';
import { manifestOf, writeJson, writeOwnFiles } from './own-files.ts';
import { type Platform, platformOf } from './platform.ts';
import { copyPackage } from './prune.ts';
import { billOfMaterials } from './sbom.ts';

export interface Staged {
  readonly version: string;
  /** The packages of others that it contains. */
  readonly shipped: readonly Shipped[];
  /** The platform of this machine. It is undefined where there is no Node or PostgreSQL on npm. */
  readonly platform: Platform | undefined;
}

/** Puts together in `target` what the package contains. */
export function stagePackage(target: string, build: Build | undefined): Staged {
  const lock = readLock();
  const { version } = lock;
  const shipped = shippedPackages(lock, 'packages/service');
  const manifest = packageManifest(version);
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target, { recursive: true });
  writeOwnFiles(target, build);
  for (const one of shipped) copyShipped(one, target);
  writeJson(join(target, 'package.json'), manifest);
  writeJson(join(target, 'npm-shrinkwrap.json'), shrinkwrap(lock, shipped, manifest));
  const platform = platformOf(lock);
  const beside = platform === undefined ? [] : Object.values(platform);
  writeFileSync(join(target, 'THIRD-PARTY-LICENSES'), thirdPartyLicences(shipped, beside));
  writeJson(join(target, 'sbom.cdx.json'), billOfMaterials(target, beside));
  return { version, shipped, platform };
}

/**
 * Copies a package, and throws if somebody installed another version by hand: the digest in the lock file then says
 * nothing about these files.
 */
function copyShipped({ path, name, entry }: Shipped, target: string): void {
  const { version } = manifestOf(join(ROOT, path));
  if (version !== entry.version) {
    throw new Error(
      `${name} is installed in version ${String(version)}, but locked in ${entry.version}. Run \`npm ci\`.`,
    );
  }
  copyPackage(join(ROOT, path), join(target, path));
}
