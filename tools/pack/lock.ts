import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';

/** An entry of `package-lock.json`. */
export interface LockEntry {
  readonly version: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly link?: boolean;
  readonly resolved?: string;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly hasInstallScript?: boolean;
  readonly engines?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

export interface Lock {
  readonly version: string;
  readonly packages: Readonly<Record<string, LockEntry>>;
}

/** A package that the program needs, with its place in `node_modules`. */
export interface Shipped {
  /** The path is `node_modules/pino`, or deeper for a second version. */
  readonly path: string;
  readonly name: string;
  readonly entry: LockEntry;
}

const FOLDER = 'node_modules/';

export function readLock(): Lock {
  return JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as Lock;
}

/**
 * The packages that the workspace `from` loads, directly or through others, without those of this repository. Each is pinned by
 * the lock file, with the digest that npm checked when it installed it.
 */
export function shippedPackages({ packages }: Lock, from: string): readonly Shipped[] {
  const found = new Map<string, LockEntry>();
  const queue = [from];
  for (const path of queue) {
    const entry = packages[path];
    if (entry === undefined || found.has(path)) continue;
    found.set(path, entry);
    if (entry.link === true) queue.push(entry.resolved ?? '');
    else queue.push(...neededBy(packages, path, entry));
  }
  return [...found]
    .filter(([path]) => !isOurs(path))
    .map(([path, entry]) => ({ path, name: nameOf(path), entry }))
    .toSorted((left, right) => (left.path < right.path ? -1 : 1));
}

function isOurs(path: string): boolean {
  return !path.startsWith(FOLDER) || path.startsWith(`${FOLDER}@purser/`);
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf(FOLDER) + FOLDER.length);
}

/** An optional package that the lock file lacks is left out. A missing needed one is a fault. */
function neededBy(packages: Lock['packages'], path: string, entry: LockEntry): readonly string[] {
  const optionalPeer = (name: string): boolean => entry.peerDependenciesMeta?.[name]?.optional === true;
  const needed = [
    ...Object.keys(entry.dependencies ?? {}),
    ...Object.keys(entry.peerDependencies ?? {}).filter((name) => !optionalPeer(name)),
  ];
  const optional = Object.keys(entry.optionalDependencies ?? {});
  return [...needed, ...optional].flatMap((name) => {
    const at = placeOf(packages, path, name);
    if (at === undefined && !optional.includes(name))
      throw new Error(`The lock file has no ${name}, which ${path} needs.`);
    return at === undefined ? [] : [at];
  });
}

/** Looks where Node would look: in the package's own `node_modules`, then in those of the folders above. */
function placeOf(packages: Lock['packages'], from: string, name: string): string | undefined {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${FOLDER}`)))) {
    const path = `${folder === '' ? '' : `${folder}/`}${FOLDER}${name}`;
    if (packages[path] !== undefined) return path;
    if (folder === '') return undefined;
  }
}
