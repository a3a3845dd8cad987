import { hash } from 'node:crypto';
import { globSync, lstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The SHA-256 of each file, by path within the package. */
export type PlatformDigests = Readonly<Record<string, string>>;

/** What a processor runs of a package: Node, or the programs of the server and the libraries beside them. */
const BINARIES = [
  'bin/node',
  'native/bin/*',
  'native/lib/*.so*',
  'native/lib/*.dylib',
  'native/lib/postgresql/*.{so,dylib}',
];

export function binaryDigests(folder: string): PlatformDigests {
  const files = globSync(BINARIES, { cwd: folder }).filter((file) => lstatSync(join(folder, file)).isFile());
  return Object.fromEntries(files.toSorted().map((file) => [file, hash('sha256', readFileSync(join(folder, file)))]));
}
