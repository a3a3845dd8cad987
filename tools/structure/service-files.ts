import { SCHEMAS } from './areas.ts';
import type { Tree } from './read-tree.ts';

export const SERVICE = 'packages/service/src/';
const MIGRATIONS = 'packages/service/migrations/';

/** A file of the service: its path from the root, its folder (`ledger`), and its path in the source (`ledger/holds.ts`). */
export interface ServiceFile {
  readonly path: string;
  readonly folder: string;
  /** The schema of the database that it may name. */
  readonly schema: string;
  readonly name: string;
  readonly text: string;
}

/** The files of the service with an extension, without tests. */
export function serviceFiles(tree: Tree, extension: '.ts' | '.sql'): readonly ServiceFile[] {
  return [...tree]
    .filter(([path]) => path.startsWith(SERVICE) && path.endsWith(extension) && !path.endsWith('.test.ts'))
    .map(([path, text]) => {
      const name = path.slice(SERVICE.length);
      const folder = name.slice(0, Math.max(0, name.indexOf('/')));
      return { path, folder, schema: schemaAt(name) ?? folder, name, text };
    });
}

function schemaAt(name: string): string | undefined {
  return Object.entries(SCHEMAS).find(([place]) => name.startsWith(`${place}/`))?.[1];
}

export function migrationPaths(tree: Tree): readonly string[] {
  return [...tree.keys()].filter((path) => path.startsWith(MIGRATIONS) && path.endsWith('.sql'));
}
