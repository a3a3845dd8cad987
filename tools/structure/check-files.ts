import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';
import { SERVICE, serviceFiles } from './service-files.ts';
import { lineAt } from './typescript.ts';

// Written in parts, so that this file does not match itself. A path in a URL has a host or a word before it.
const MACHINE_FOLDERS = ['work', 'farm', 'root', 'home/[a-z][\\w.-]*', 'Users/[A-Za-z][\\w.-]*'];
const MACHINE_PATH = new RegExp(`(?<![\\w.:/}*~-])/(?:${MACHINE_FOLDERS.join('|')})(?![\\w.-])`, 'g');
const LOCK_FILE = /(?:^|\/)(?:package-lock|npm-shrinkwrap)\.json$/;
const RESOLVED_URL = /"resolved"\s*:\s*"https?:/g;

/** Checks what would tie the repository to one machine or registry, and that each folder of the service has a README. */
export function checkFiles(tree: Tree): readonly Finding[] {
  const folders = new Set(serviceFiles(tree, '.ts').map(({ folder }) => `${SERVICE}${folder}`));
  const message =
    'This folder has no README.md. Write its model, what it owns, what always holds and what it leaves to others.';
  return [
    ...[...tree].flatMap(([path, text]) => [
      ...matches(
        'machine-paths',
        path,
        text,
        MACHINE_PATH,
        'This is a path of one machine. Write it relative to the repository.',
      ),
      ...(LOCK_FILE.test(path)
        ? matches('lock-files', path, text, RESOLVED_URL, 'The lock file names a registry. Write it as .npmrc says.')
        : []),
    ]),
    ...[...folders]
      .filter((folder) => !tree.has(`${folder}/README.md`))
      .map((file) => ({ rule: 'folder-readmes', file, line: 1, message })),
  ];
}

function matches(rule: string, file: string, text: string, pattern: RegExp, message: string): readonly Finding[] {
  return Array.from(text.matchAll(pattern), ({ index }) => ({ rule, file, line: lineAt(text, index), message }));
}
