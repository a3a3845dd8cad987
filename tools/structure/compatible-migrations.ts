import type { Finding } from './finding.ts';
import { migrationFiles } from './migrations.ts';
import type { Project } from './project.ts';
import { splitStatements } from './sql-text.ts';

/** What older builds miss, or what refuses the rows that they write, with the object that it is about. */
const CONTRACTING: readonly RegExp[] = [
  /^drop\s+(?:table|column|type|schema|view|sequence|function)\s+(?:if\s+exists\s+)?([\w.]+)/i,
  /^alter\s+table\s+(?:only\s+)?([\w.]+)[\s\S]*?\b(?:drop\s+column|rename|type\s|set\s+not\s+null|(?:check|foreign\s+key|unique|exclude)\s*[(u])/i,
  /^alter\s+table\s+(?:only\s+)?([\w.]+)[\s\S]*?\badd\s+column\s(?=[^,;]*\bnot\s+null)(?![^,;]*\b(?:default|generated)\b)/i,
  /^alter\s+(?:type|view|sequence|schema)\s+([\w.]+)\s+(?!add\s+value)/i,
  /^create\s+unique\s+index[\s\S]*?\son\s+(?:only\s+)?([\w.]+)/i,
  /^revoke\s[\s\S]*?\son\s+(?:table\s+|function\s+)?([\w.]+)/i,
];
const CREATED = /^create\s+(?:unlogged\s+)?(?:table|type|view|sequence)\s+(?:if\s+not\s+exists\s+)?([\w.]+)/i;
const SAYS_SO = /update\s+db\.compatibility\s+set\s+oldest_schema/i;

/**
 * A migration that takes something away from older builds says so in `db.compatibility`, or they would run beside it and fail
 * (decision 80). What the same file has created is nothing that they know.
 */
export function checkCompatibleMigrations(project: Project): readonly Finding[] {
  const { tree, rules } = project;
  return migrationFiles(project).flatMap((file) => {
    const text = tree.get(file) ?? '';
    const number = Number(/(\d{4})_[^/]*$/.exec(file)?.[1]);
    if (number <= rules.sql.expandsAfter || SAYS_SO.test(text)) return [];
    const statements = splitStatements(text);
    const own = new Set(statements.flatMap(({ bare }) => CREATED.exec(bare)?.[1]?.toLowerCase() ?? []));
    return statements.flatMap(({ bare, line }) => {
      const name = CONTRACTING.map((pattern) => pattern.exec(bare)?.[1]).find((found) => found !== undefined);
      if (name === undefined || own.has(name.toLowerCase())) return [];
      const message =
        `Older builds may miss \`${name}\` as it was. Only add things now and take them away one version later, ` +
        'or write `update db.compatibility set oldest_schema` with the number of this migration: then they can neither run ' +
        'beside it nor be gone back to, which `CHANGELOG.md` must say.';
      return [{ rule: 'migration-contracts', file, line, message, name } as const];
    });
  });
}
