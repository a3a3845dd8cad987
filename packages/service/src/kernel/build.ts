import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The commit that a build was made of. Two builds of one version differ by it. */
export interface Build {
  readonly commit: string;
  /** The day of the commit, such as 2026-11-28. */
  readonly date: string;
}

/** `npm run pack` writes it: an installation has no history. */
const FILE = new URL('../../build.json', import.meta.url);
const ROOT = new URL('../../../../', import.meta.url);
const BUILD = /^([0-9a-f]{12}) (\d{4}-\d{2}-\d{2})$/;
const GIT_MS_MAX = 2000;

let known: { readonly build: Build | undefined } | undefined;

/** Returns the commit of this build, or nothing where nobody knows it. It is looked up once, when somebody first asks. */
export function readBuild(): Build | undefined {
  known ??= { build: buildOf(existsSync(FILE) ? readFileSync(FILE, 'utf8') : askGit(fileURLToPath(ROOT))) };
  return known.build;
}

/** Names a version with its build, as `purser --version` does. */
export function namedVersion(version: string, build: Build | undefined): string {
  return build === undefined ? version : `${version} (${build.commit}, ${build.date})`;
}

/** Reads what `build.json` has, or what git says: `0123456789ab 2026-11-28`. */
export function buildOf(text: string): Build | undefined {
  if (text.startsWith('{')) return JSON.parse(text) as Build;
  const [, commit, date] = BUILD.exec(text.trim()) ?? [];
  return commit === undefined || date === undefined ? undefined : { commit, date };
}

/** Only a clone is asked, never a repository of others in which the program is installed. */
function askGit(root: string): string {
  if (!existsSync(`${root}.git`)) return '';
  try {
    const words = ['-C', root, 'log', '-1', '--abbrev=12', '--format=%h %cs'];
    return execFileSync('git', words, { encoding: 'utf8', stdio: 'pipe', timeout: GIT_MS_MAX });
  } catch {
    return ''; // There is no git on this machine, or the clone belongs to somebody else.
  }
}
