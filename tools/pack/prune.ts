import { copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * These files are never loaded at run time: types, source maps, what other programs link or bundle, and texts for
 * readers.
 */
const UNUSED_FILE =
  /\.(?:map|a|pc|[mc]?ts|flow|tsbuildinfo|md|mdx|markdown|html|ya?ml|tgz)$|^(?:\.|tsconfig.*\.json$|Makefile$)/i;
/** Folders at the top of a package that no library loads anything from. Beside `dist-es`, Node takes `dist-cjs`. */
const UNUSED_FOLDER = /^(?:tests?|__tests__|docs?|examples?|benchmarks?|coverage|integration|dist-es|\..+)$/i;
/** These files are kept with any ending: the licences say that their texts must go along. */
export const LICENCE_FILE = /^(?:licen[cs]e|copying|notice|copyright|unlicense)/i;

/**
 * Copies an installed package without the files that a running program never reads, without links, and without its own
 * dependencies. `whole`: with them, and with all files.
 */
export function copyPackage(from: string, to: string, { whole = false } = {}): void {
  copyFolder(from, to, { whole, isTop: true });
}

interface How {
  readonly whole: boolean;
  readonly isTop: boolean;
}

function copyFolder(from: string, to: string, { whole, isTop }: How): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const { name } = entry;
    if (entry.isDirectory()) {
      if (!whole && (name === 'node_modules' || (isTop && UNUSED_FOLDER.test(name)))) continue;
      copyFolder(join(from, name), join(to, name), { whole, isTop: false });
    } else if (entry.isFile() && (whole || LICENCE_FILE.test(name) || !UNUSED_FILE.test(name)))
      copyFile(join(from, name), join(to, name));
  }
}

/** A link where the file system allows it: nothing is changed later, and thousands of copies take seconds. */
function copyFile(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true });
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
