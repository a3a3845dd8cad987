import { checkBrandCasts } from './brand-casts.ts';
import { checkCompatibleMigrations } from './compatible-migrations.ts';
import { applyExceptions, type Finding } from './finding.ts';
import { checkHygiene } from './hygiene.ts';
import { checkFunctionFiles, functionFiles } from './function-files.ts';
import { checkMigrations, databaseObjects, migrationFiles } from './migrations.ts';
import { checkNaming } from './naming.ts';
import { type Project, readProject, type Tree } from './project.ts';
import type { Counted, RuleSet } from './rule-set.ts';
import { checkSqlOwnership, countSqlTexts } from './sql-ownership.ts';
import { checkUnused } from './unused.ts';

export type Counts = Readonly<Record<Counted, number>>;

export interface Inspection {
  readonly findings: readonly Finding[];
  /** What was read, so that a run that saw nothing can't pass for one that found nothing. */
  readonly counts: Counts;
}

const RULES_FILE = 'tools/structure/rules.ts';
const CHECKS: readonly ((project: Project) => readonly Finding[])[] = [
  ({ unreadable }) => unreadable,
  checkBrandCasts,
  checkSqlOwnership,
  checkMigrations,
  checkCompatibleMigrations,
  checkFunctionFiles,
  checkUnused,
  checkNaming,
  checkHygiene,
];

/** Holds a tree of files against the rules. Findings come in order of file and line. */
export function inspect(tree: Tree, rules: RuleSet): Inspection {
  const project = readProject(tree, rules);
  const found = CHECKS.flatMap((check) => check(project));
  const counts = count(project);
  const findings = [...applyExceptions(found, rules.exceptions, RULES_FILE), ...tooFew(counts, rules)];
  return { findings: findings.toSorted(byPlace), counts };
}

function byPlace(left: Finding, right: Finding): number {
  if (left.file !== right.file) return left.file < right.file ? -1 : 1;
  return left.line - right.line;
}

function count(project: Project): Counts {
  const files = [...project.files.values()];
  const service = files.filter(({ isService }) => isService);
  return {
    'repository files': project.tree.size,
    'TypeScript files': files.length,
    'service files': service.length,
    imports: files.flatMap(({ imports }) => imports).length,
    'exported names': service.flatMap(({ exports }) => exports).length,
    'SQL texts': countSqlTexts(project),
    migrations: migrationFiles(project).length,
    'function files': functionFiles(project).length,
    'database objects': databaseObjects(project).size,
  };
}

function tooFew(counts: Counts, { minimums }: RuleSet): readonly Finding[] {
  return (Object.keys(counts) as Counted[])
    .filter((what) => counts[what] < (minimums[what] ?? 0))
    .map((what) => ({
      rule: 'minimums',
      file: RULES_FILE,
      line: 1,
      message:
        `Only ${counts[what]} ${what} were read, and ${minimums[what]} are the least. ` +
        'Find out why the checker does not see them; lower the number only when they are gone.',
      name: what,
    }));
}
