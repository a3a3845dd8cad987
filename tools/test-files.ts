import { globSync } from 'node:fs';

/** What `npm run proofs` runs: tests that kill, start clusters, fill disks, pack, play long histories or drive many pages. */
export const PROOFS = 'tests/proofs';

/** Tests of these folders need no database. */
const WITHOUT_DATABASE = ['packages/', 'tests/deploy/', 'tests/documents/', 'tests/structure/', 'tests/support/'];

/** Tells whether a test file needs the database of the run. `npm run check` runs those that do not, and starts none. */
export function needsDatabase(file: string): boolean {
  return !WITHOUT_DATABASE.some((folder) => file.startsWith(folder));
}

/** The test files of `npm test`, sorted: every promise in its short form. Paths are relative to `root`, as are the globs. */
export function promiseFiles(root = '.'): readonly string[] {
  return found(root).filter((file) => !file.startsWith(`${PROOFS}/`));
}

/** The test files of `npm run proofs` in its short form, sorted. */
export function proofFiles(root = '.'): readonly string[] {
  return found(root).filter((file) => file.startsWith(`${PROOFS}/`));
}

function found(root: string): readonly string[] {
  return globSync(['packages/*/src/**/*.test.ts', 'tests/**/*.test.ts'], { cwd: root }).toSorted();
}
