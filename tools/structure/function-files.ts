import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import type { Project } from './project.ts';
import { type Statement, splitStatements } from './sql-text.ts';

const FUNCTION = /^create\s+(or\s+replace\s+)?(?:function|procedure|aggregate)\s+([\w."]+)/i;
const TRIGGER = /^create\s+(?:or\s+replace\s+)?(?:constraint\s+)?trigger\s/i;
/** Beside its function a file may say who may call it, and hang it on a table, in a way that can be repeated. */
const BESIDE = /^(?:grant|revoke|do|create\s+or\s+replace\s+trigger)\s/i;

/** The files that each hold one function of the database, beside the TypeScript that owns it. */
export function functionFiles({ tree, rules }: Project): readonly string[] {
  return [...tree.keys()].filter((path) => path.startsWith(rules.sql.functions) && path.endsWith('.sql'));
}

/**
 * Functions and what hangs on them stand in files of their own, named like them, so that a start can apply them again;
 * migrations hold tables and data. Bodies are strings: PostgreSQL reads those when they are first called, so that files
 * need no order, and lets go of a function that another one calls.
 */
export function checkFunctionFiles(project: Project): readonly Finding[] {
  return [
    ...functionFiles(project).flatMap((file) => wrongFile(project, file)),
    ...[...project.tree.keys()]
      .filter((path) => path.startsWith(project.rules.sql.migrations) && path.endsWith('.sql'))
      .flatMap((file) => functionsIn(file, statementsOf(project, file))),
  ];
}

function wrongFile(project: Project, file: string): readonly Finding[] {
  const { functions } = project.rules.sql;
  const path = file.slice(functions.length);
  const name = `${path.split('/')[0]}.${posix.basename(path, '.sql')}`;
  const [first, ...others] = statementsOf(project, file);
  const found = FUNCTION.exec(first?.bare ?? '');
  if (first === undefined || found?.[2]?.toLowerCase() !== name || found[1] === undefined) {
    return [finding(file, first?.line ?? 1, `This file begins with \`create or replace function ${name}\`.`, name)];
  }
  const wrong = others.filter(({ bare }) => !BESIDE.test(bare));
  return [
    ...wrong.map(({ line }) => finding(file, line, `This file holds ${name}, its grants and what hangs on it.`, name)),
    ...(/\$\w*\$/.test(first.bare)
      ? []
      : [finding(file, first.line, `The body of ${name} is a string: \`as $$ ... $$\`.`, name)]),
  ];
}

function functionsIn(file: string, statements: readonly Statement[]): readonly Finding[] {
  return statements
    .filter(({ bare }) => FUNCTION.test(bare) || TRIGGER.test(bare))
    .map(({ line }) =>
      finding(
        file,
        line,
        'A migration holds tables and data. Write the function in a file beside the TypeScript that owns it.',
        undefined,
      ),
    );
}

function finding(file: string, line: number, message: string, name: string | undefined): Finding {
  return { rule: 'function-files', file, line, message, ...(name === undefined ? {} : { name }) };
}

function statementsOf(project: Project, file: string): readonly Statement[] {
  return splitStatements(project.tree.get(file) ?? '');
}
