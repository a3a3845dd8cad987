import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import type { Project, Tree } from './project.ts';
import type { RuleName } from './rule-set.ts';

// Written in parts, so that this file does not match itself. A path in a URL has a host or a word before it.
const MACHINE_FOLDERS = ['work', 'farm', 'root', 'home/[a-z][\\w.-]*', 'Users/[A-Za-z][\\w.-]*'];
const MACHINE_PATH = new RegExp(`(?<![\\w.:/}*~-])/(?:${MACHINE_FOLDERS.join('|')})(?![\\w.-])`);
const LOCK_FILES = ['package-lock.json', 'npm-shrinkwrap.json'];
const RESOLVED_URL = /"resolved"\s*:\s*"https?:/;
const FENCE = /^\s*(?:```|~~~)/;
const LINK = /\]\(\s*<?([^)>\s]+)>?(?:\s+["'][^)]*)?\)/g;

/** What would tie the repository to one machine, one registry, or a file that is not there. */
export function checkHygiene({ tree }: Project): readonly Finding[] {
  return [...tree].flatMap(([path, text]) => [
    ...linesMatching(path, text, MACHINE_PATH, 'machine-paths', (found) => {
      return `\`${found}\` is a path of one machine. Write it relative to the repository.`;
    }),
    ...(LOCK_FILES.includes(posix.basename(path)) ? registryLinks(path, text) : []),
    ...(path.endsWith('.md') ? deadLinks(tree, path, text) : []),
  ]);
}

function linesMatching(
  file: string,
  text: string,
  pattern: RegExp,
  rule: RuleName,
  say: (found: string) => string,
): readonly Finding[] {
  return text.split('\n').flatMap((content, index) => {
    const found = pattern.exec(content)?.[0];
    return found === undefined ? [] : [{ rule, file, line: index + 1, message: say(found), name: found }];
  });
}

function registryLinks(path: string, text: string): readonly Finding[] {
  const instead = 'Write the lock file with `omit-lockfile-registry-resolved=true`, as .npmrc says.';
  return linesMatching(path, text, RESOLVED_URL, 'lock-files', () => `The lock file names a registry. ${instead}`);
}

function deadLinks(tree: Tree, path: string, text: string): readonly Finding[] {
  const findings: Finding[] = [];
  let isCode = false;
  for (const [index, content] of text.split('\n').entries()) {
    if (FENCE.test(content)) isCode = !isCode;
    if (isCode) continue;
    for (const [, link = ''] of content.replaceAll(/`[^`]*`/g, '').matchAll(LINK)) {
      if (resolves(tree, path, link)) continue;
      const message = `The link to \`${link}\` leads to no file of the repository. Correct it.`;
      findings.push({ rule: 'dead-links', file: path, line: index + 1, message, name: link });
    }
  }
  return findings;
}

function resolves(tree: Tree, path: string, link: string): boolean {
  if (/^[a-z][a-z\d+.-]*:/i.test(link) || link.startsWith('#')) return true;
  const target = decodeURI(link.replace(/[#?].*$/, ''));
  const from = target.startsWith('/') ? '.' : posix.dirname(path);
  const file = posix.join(from, target).replace(/\/$/, '');
  if (file === '.' || tree.has(file)) return true;
  return [...tree.keys()].some((known) => known.startsWith(`${file}/`));
}
