import { type Finding, formatFinding } from '../../tools/structure/finding.ts';
import { inspect } from '../../tools/structure/inspect.ts';
import type { RuleSet } from '../../tools/structure/rule-set.ts';
import { RULES } from '../../tools/structure/rules.ts';

/** Files by path. A name without `packages/` or another root is in the source of the service. */
export type Files = Readonly<Record<string, string>>;

const ROOTS = ['packages/', 'tests/', 'tools/', 'docs/', 'package', 'README.md'];

/** The rules of the repository, without its exceptions and without the minimum counts of a whole repository. */
export const SMALL: RuleSet = { ...RULES, exceptions: [], minimums: {} };

/** A service of one file with nothing wrong in it. */
const CLEAN: Files = { 'cli/main.ts': '', 'cli/README.md': '# cli' };

/** The findings in a small service with these files and a README in each folder. */
export function findingsIn(files: Files, rules: RuleSet = SMALL): readonly Finding[] {
  const tree = new Map<string, string>();
  for (const [name, text] of Object.entries({ ...CLEAN, ...files })) {
    const path = ROOTS.some((root) => name.startsWith(root)) ? name : `packages/service/src/${name}`;
    tree.set(path, text);
    const folder = /^packages\/service\/src\/[^/]+\//.exec(path)?.[0];
    if (folder !== undefined && !('without' in files)) tree.set(`${folder}README.md`, '# A folder');
  }
  return inspect(tree, rules).findings;
}

/** The same without the unavoidable findings of such a small service, in which nothing imports anything. */
export function relevantFindingsIn(files: Files, rules: RuleSet = SMALL): readonly Finding[] {
  const byTheWay = ['unused-files', 'unused-exports'];
  return findingsIn(files, rules).filter(({ rule }) => !byTheWay.includes(rule));
}

/** Returns `rule file:line` of each finding, with paths relative to the source of the service. */
export function placesOf(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ rule, file, line }) => `${rule} ${file.replace('packages/service/src/', '')}:${line}`);
}

/** All findings as the command prints them. */
export function listingOf(findings: readonly Finding[]): string {
  return findings.map(formatFinding).join('\n');
}
