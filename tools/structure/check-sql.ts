import { basename } from 'node:path';
import { functionTexts } from '../../packages/service/src/db/schema/both-moneys.ts';
import { AREAS, SCHEMAS } from './areas.ts';
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';
import { ROOMS } from './rooms.ts';
import { migrationPaths, serviceFiles } from './service-files.ts';
import { qualifiedNames, type Statement, splitStatements } from './sql.ts';

/** A function longer than this, with what is said before it, is taken apart into steps that have names. */
const FUNCTION_LINES_MAX = 120;

/** The last migration of version 0.1. Those after it say what they take away from older builds. */
const EXPANDS_AFTER = 20;

/** What functions and views of a schema may mention of another, beyond what its folder may import. */
const MENTIONS: Readonly<Record<string, readonly string[]>> = {
  ledger: ['usage', 'traces', 'idempotency', 'webhooks', 'cells'],
  sandbox: ['idempotency'],
  idempotency: ['usage'],
  usage: ['ledger', 'catalogue'],
  stats: ['ledger', 'usage', 'traces', 'catalogue'],
};

const IF = '(?:if\\s+(?:not\\s+)?exists\\s+)?(?:only\\s+)?';
const NAME = '([\\w."]+)';
const OBJECT = new RegExp(
  '^(?:create|alter|drop)\\s+(?:(?:or\\s+replace|unlogged|recursive|materialized|global|local|temp|temporary)\\s+)*' +
    `(table|function|procedure|view|type|domain|sequence|aggregate)\\s+${IF}${NAME}`,
  'i',
);
const ON_TABLE = new RegExp(
  `^create\\s+(?:(?:or\\s+replace|unique|constraint)\\s+)*(index|trigger)\\s[\\s\\S]*?\\bon\\s+${IF}${NAME}`,
  'i',
);
const SCHEMA = new RegExp(`^create\\s+(schema)\\s+${IF}${NAME}`, 'i');
/** What runs later, and so keeps to the directions of the folders. */
const HOLDS_CODE = /^create\s[\s\w]*?\b(?:function|procedure|view|aggregate|trigger)\s/i;
const FUNCTION = /^create\s+(or\s+replace\s+)?(?:function|procedure|aggregate)\s+([\w."]+)/i;
const TRIGGER = /^create\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\s/i;
/** The file of a function may also say who may call it, and attach it to a table in a way that can be repeated. */
const BESIDE = /^(?:grant|revoke|do|create\s+or\s+replace\s+trigger)\s/i;

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

interface SqlFile {
  readonly path: string;
  readonly text: string;
  readonly statements: readonly Statement[];
  /** `ledger.reserve` if the file is to hold one function, undefined if it is a migration. */
  readonly function: string | undefined;
}

/** Checks migrations and the files of functions: names, owners, directions, and what an upgrade takes away. */
export function checkSql(tree: Tree): readonly Finding[] {
  const files = readSql(tree);
  const objects = objectsOf(files);
  return files.flatMap((file) => [
    ...file.statements.flatMap((statement) => checkNames(file, statement, objects)),
    ...(file.function === undefined ? [...checkMigration(file), ...checkContracts(file)] : checkFunctionFile(file)),
  ]);
}

/** `schema.object` of each table, function, view and type that migrations and functions make. */
export function databaseObjects(tree: Tree): ReadonlySet<string> {
  return objectsOf(readSql(tree));
}

function readSql(tree: Tree): readonly SqlFile[] {
  const migrations = migrationPaths(tree).map((path) => readFile(path, tree.get(path) ?? ''));
  const functions = serviceFiles(tree, '.sql').flatMap(({ path, schema, text: file }) => {
    const [one = '', two] = functionTexts(file);
    if (two === undefined) return readFile(path, one, schema);
    return [readFile(path, one, 'ledger'), readFile(path, two, 'sandbox')];
  });
  return [...migrations, ...functions];
}

function readFile(path: string, text: string, schema?: string): SqlFile {
  const name = schema === undefined ? undefined : `${schema}.${basename(path, '.sql')}`;
  return { path, text, statements: splitStatements(text), function: name };
}

function objectsOf(files: readonly SqlFile[]): ReadonlySet<string> {
  const created = files.flatMap(({ statements }) => statements.filter(({ bare }) => /^create\s/i.test(bare)));
  return new Set(created.map(({ bare }) => nameIn(OBJECT, bare) ?? '').filter((name) => name.includes('.')));
}

function nameIn(pattern: RegExp, bare: string): string | undefined {
  return pattern.exec(bare)?.[2]?.replaceAll('"', '').toLowerCase();
}

function checkNames({ path }: SqlFile, statement: Statement, objects: ReadonlySet<string>): readonly Finding[] {
  const { bare, text, line } = statement;
  const schemaName = nameIn(SCHEMA, bare);
  const name = nameIn(OBJECT, bare) ?? nameIn(ON_TABLE, bare);
  const [schema = '', object] = schemaName === undefined ? (name ?? '').split('.') : [schemaName, ''];
  if (schema === '') return [];
  const at = (rule: string, offset: number, message: string): Finding => {
    return { rule, file: path, line: line + text.slice(0, offset).split('\n').length - 1, message };
  };
  if (object === undefined)
    return [at('migration-names', 0, `\`${schema}\` stands without a schema. Write that of its folder.`)];
  const known = schemasKnownTo(schema);
  if (known === undefined)
    return [at('migration-names', 0, `The schema \`${schema}\` has no owner: no folder has its name.`)];
  if (!HOLDS_CODE.test(bare)) return [];
  const allowed = [schema, ...known, ...(MENTIONS[schema] ?? [])];
  const foreign = qualifiedNames(text).filter(({ name: other }) => {
    return objects.has(other) && !allowed.includes(other.slice(0, other.indexOf('.')));
  });
  return foreign.map(({ name: other, start }) => {
    const instead = 'Hand the values in, or add the direction to `MENTIONS` with its reason.';
    return at(
      'migration-mentions',
      start,
      `\`${name}\` mentions \`${other}\`, which \`${schema}\` may not know. ${instead}`,
    );
  });
}

/** The schemas of the places that the owners of a schema may import. Undefined if nobody owns it. */
function schemasKnownTo(schema: string): readonly string[] | undefined {
  const listed = Object.keys(SCHEMAS).filter((place) => SCHEMAS[place] === schema);
  const owners = listed.length > 0 ? listed : [schema];
  if (owners.some((owner) => AREAS[areaOf(owner)] === undefined)) return undefined;
  return owners.flatMap((owner) => {
    const [area = '', room = ''] = owner.split('/');
    const rooms = ROOMS[area]?.[room] ?? [];
    return [...(AREAS[area] ?? []), ...rooms.map((name) => `${area}/${name}`)].flatMap(schemasOf);
  });
}

function areaOf(place: string): string {
  return place.split('/')[0] ?? '';
}

/** The schemas that a place owns. */
function schemasOf(place: string): readonly string[] {
  const own = Object.keys(SCHEMAS).filter((name) => name === place || name.startsWith(`${place}/`));
  return own.length === 0 ? [place] : own.map((name) => SCHEMAS[name] ?? '');
}

/** Functions and triggers have files of their own, so that a start can apply them again. */
function checkMigration({ path, statements }: SqlFile): readonly Finding[] {
  const message = 'A migration holds tables and data. Write the function in a file beside the TypeScript that owns it.';
  return statements
    .filter(({ bare }) => FUNCTION.test(bare) || TRIGGER.test(bare))
    .map(({ line }) => ({ rule: 'function-files', file: path, line, message }));
}

/** A body is a string: PostgreSQL reads it when it is first called, so files need no order. */
function checkFunctionFile({ path, text, statements, function: name = '' }: SqlFile): readonly Finding[] {
  const at = (line: number, message: string): Finding => ({ rule: 'function-files', file: path, line, message });
  if (text.split('\n').length - 1 > FUNCTION_LINES_MAX)
    return [
      at(
        FUNCTION_LINES_MAX + 1,
        `${name} is longer than ${FUNCTION_LINES_MAX} lines. Give its steps functions of their own.`,
      ),
    ];
  const [first, ...others] = statements;
  const [, isReplacing, made] = FUNCTION.exec(first?.bare ?? '') ?? [];
  if (first === undefined || made?.toLowerCase() !== name || isReplacing === undefined)
    return [at(first?.line ?? 1, `This file begins with \`create or replace function ${name}\`.`)];
  const wrong = others.filter(({ bare }) => !BESIDE.test(bare)).map(({ line }) => line);
  return [
    ...wrong.map((line) => at(line, `This file holds ${name}, its grants and what hangs on it.`)),
    ...(/\$\w*\$/.test(first.bare) ? [] : [at(first.line, `The body of ${name} is a string: \`as $$ ... $$\`.`)]),
  ];
}

/**
 * A migration that takes something away from older builds says so in `db.compatibility`, or they would run beside it and fail
 * (decision 80). What the same file has created is nothing that they know.
 */
function checkContracts({ path, text, statements }: SqlFile): readonly Finding[] {
  if (Number(/(\d{4})_[^/]*$/.exec(path)?.[1]) <= EXPANDS_AFTER || SAYS_SO.test(text)) return [];
  const own = statements.flatMap(({ bare }) => CREATED.exec(bare)?.[1]?.toLowerCase() ?? []);
  return statements.flatMap(({ bare, line }) => {
    const name = CONTRACTING.map((pattern) => pattern.exec(bare)?.[1]).find((found) => found !== undefined);
    if (name === undefined || own.includes(name.toLowerCase())) return [];
    const message =
      `Older builds may miss \`${name}\` as it was. Only add things now and take them away one version later, ` +
      'or write `update db.compatibility set oldest_schema` with the number of this migration: then they can neither run ' +
      'beside it nor be gone back to, which `CHANGELOG.md` must say.';
    return [{ rule: 'migration-contracts', file: path, line, message }];
  });
}
