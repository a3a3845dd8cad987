import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The text files of a repository by their path from its root, with `/`. */
export type Tree = ReadonlyMap<string, string>;

const FILE_BYTES_MAX = 2_000_000; // Larger is data, not text that somebody wrote.
const LISTING_BYTES_MAX = 64_000_000;
const NEVER_TRACKED = ['node_modules', '.git', '.purser', 'dist', 'coverage'];

/** The text files of the repository at `root`: those that git tracks, and new ones that it does not ignore. */
export function readTree(root: string): Tree {
  const tree = new Map<string, string>();
  for (const path of listFiles(root).toSorted()) {
    const file = join(root, path);
    const stats = statSync(file, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > FILE_BYTES_MAX) continue;
    const text = readFileSync(file, 'utf8');
    if (!text.includes('\0')) tree.set(path, text);
  }
  return tree;
}

function listFiles(root: string): readonly string[] {
  const tracked = existsSync(join(root, '.git')) ? listByGit(root) : undefined;
  // Without git or its history, as in a copy from an archive: everything but what the project itself makes.
  return (
    tracked ??
    globSync(['**', '**/.*', '**/.*/**'], { cwd: root, exclude: isLeftOut }).filter((path) => !isLeftOut(path))
  );
}

function listByGit(cwd: string): readonly string[] | undefined {
  const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout } = spawnSync('git', args, { cwd, encoding: 'utf8', maxBuffer: LISTING_BYTES_MAX });
  return status === 0 ? stdout.split('\0').filter((path) => path !== '') : undefined;
}

function isLeftOut(path: string): boolean {
  return path.endsWith('.log') || path.split('/').some((part) => NEVER_TRACKED.includes(part));
}
