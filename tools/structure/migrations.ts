import type { Finding } from './finding.ts';
import { functionFiles } from './function-files.ts';
import type { Project } from './project.ts';
import { qualifiedNames, type Statement, splitStatements } from './sql-text.ts';

const NAME = '([\\w."]+)';
const MODIFIERS = '(?:(?:or\\s+replace|unlogged|recursive|materialized|global|local|temp|temporary|constraint)\\s+)*';
const IF = '(?:if\\s+(?:not\\s+)?exists\\s+)?';
const pattern = (source: string): RegExp => new RegExp(`^${source}`, 'i');

const CREATE = pattern(
  `create\\s+${MODIFIERS}(table|function|procedure|view|type|domain|sequence|aggregate)\\s+${IF}${NAME}`,
);
const CHANGE = pattern(
  `(?:alter|drop)\\s+(table|function|procedure|view|type|domain|sequence)\\s+${IF}(?:only\\s+)?${NAME}`,
);
const INDEX = pattern(
  `create\\s+(?:unique\\s+)?(index)\\s+(?:concurrently\\s+)?${IF}(?:[\\w"]+\\s+)?on\\s+(?:only\\s+)?${NAME}`,
);
const TRIGGER = pattern(`create\\s+${MODIFIERS}(trigger)\\s+[\\w"]+[\\s\\S]*?\\son\\s+${NAME}`);
const SCHEMA = pattern(`create\\s+(schema)\\s+${IF}${NAME}`);

/** The kinds of statement whose text runs later, and so follows the directions of the folders. */
const HOLDS_CODE = new Set(['function', 'procedure', 'view', 'aggregate', 'trigger']);

interface Named {
  readonly file: string;
  readonly statement: Statement;
  readonly kind: string;
  readonly isCreated: boolean;
  /** The schema that the name gives. It is undefined when the name is not qualified. */
  readonly schema: string | undefined;
  readonly object: string;
}

/** Names in migrations and function files are qualified, schemas are owned, and functions keep to the directions of the folders. */
export function checkMigrations(project: Project): readonly Finding[] {
  const objects = databaseObjects(project);
  return namedStatements(project).flatMap((named) => [
    ...badName(project, named),
    ...(HOLDS_CODE.has(named.kind) ? badMentions(project, named, objects) : []),
  ]);
}

/** Returns `schema.object` for each table, function, view and type that these files make. */
export function databaseObjects(project: Project): ReadonlySet<string> {
  const created = namedStatements(project).filter(({ isCreated, schema }) => isCreated && schema !== undefined);
  return new Set(created.map(({ schema, object }) => `${schema}.${object}`));
}

export function migrationFiles({ tree, rules }: Project): readonly string[] {
  return [...tree.keys()].filter((path) => path.startsWith(rules.sql.migrations) && path.endsWith('.sql'));
}

function namedStatements(project: Project): readonly Named[] {
  return [...migrationFiles(project), ...functionFiles(project)].flatMap((file) =>
    splitStatements(project.tree.get(file) ?? '').flatMap((statement) => {
      const created = CREATE.exec(statement.bare);
      const found = [created, CHANGE.exec(statement.bare), INDEX.exec(statement.bare), TRIGGER.exec(statement.bare)];
      const [, kind = '', name = ''] = found.find((match) => match !== null) ?? SCHEMA.exec(statement.bare) ?? [];
      if (kind === '') return [];
      const parts = name.replaceAll('"', '').toLowerCase().split('.');
      const [schema, object = ''] = kind === 'schema' ? [parts[0]] : parts.length > 1 ? parts : [undefined, parts[0]];
      return [{ file, statement, kind: kind.toLowerCase(), isCreated: created !== null, schema, object }];
    }),
  );
}

function badName({ rules }: Project, { file, statement, kind, schema, object }: Named): readonly Finding[] {
  const at = { file, line: statement.line };
  if (schema === undefined) {
    const message = `The ${kind} statement names \`${object}\` without a schema. Write the schema of the folder that owns it.`;
    return [{ rule: 'migration-names', ...at, message, name: object }];
  }
  if (rules.sql.schemas.includes(schema)) return [];
  const message = `The schema \`${schema}\` has no owner. Use one of ${rules.sql.schemas.join(', ')}, or add it to tools/structure/rules.ts.`;
  return [{ rule: 'migration-names', ...at, message, name: schema }];
}

function badMentions(
  { rules }: Project,
  { file, statement, kind, schema = '', object }: Named,
  objects: ReadonlySet<string>,
): readonly Finding[] {
  const allowed = [schema, ...(rules.areas[schema] ?? []), ...(rules.sql.mentions[schema] ?? [])];
  const foreign = qualifiedNames(statement.text).filter((mention) => {
    return objects.has(`${mention.schema}.${mention.object}`) && !allowed.includes(mention.schema);
  });
  return foreign.map((mention) => ({
    rule: 'migration-mentions',
    file,
    line: statement.line + statement.text.slice(0, mention.offset).split('\n').length - 1,
    message:
      `The ${kind} \`${schema}.${object}\` mentions \`${mention.schema}.${mention.object}\`, which \`${schema}\` may ` +
      'not know. Hand the values in, or add the direction to `mentions` in tools/structure/rules.ts with its reason.',
    name: `${mention.schema}.${mention.object}`,
  }));
}
