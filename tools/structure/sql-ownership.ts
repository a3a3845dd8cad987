import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import type { Token } from './lexer.ts';
import { databaseObjects } from './migrations.ts';
import { isIn, type Project, type SourceFile } from './project.ts';
import { isSql, qualifiedNames } from './sql-text.ts';

/** SQL stands in the files made for it, and a table or function of the database is named by the folder that owns it. */
export function checkSqlOwnership(project: Project): readonly Finding[] {
  const objects = databaseObjects(project);
  return [...project.files.values()]
    .filter((file) => file.isService && !file.isTest)
    .flatMap((file) => [...strayStatements(project, file), ...foreignNames(project, file, objects)]);
}

/** The number of literals in the service that read as SQL. */
export function countSqlTexts({ files }: Project): number {
  const service = [...files.values()].filter(({ isService }) => isService);
  return service.flatMap((file) => literalsOf(file).filter(({ text }) => isSql(text))).length;
}

function literalsOf({ tokens, specifierTokens }: SourceFile): readonly Token[] {
  return tokens.filter(({ kind }, index) => {
    return (kind === 'string' || kind.startsWith('template')) && !specifierTokens.has(index);
  });
}

function strayStatements({ rules }: Project, file: SourceFile): readonly Finding[] {
  const { fileNames, places } = rules.sql.homes;
  if (fileNames.includes(posix.basename(file.path)) || places.some((place) => isIn(file, place))) return [];
  return literalsOf(file)
    .filter(({ kind, text }) => kind !== 'template-rest' && isSql(text))
    .map(({ line }) => ({
      rule: 'sql-home',
      file: file.path,
      line,
      message: `SQL is written only in ${[...fileNames, ...places].join(', ')}. Make it a function of ${file.area}/${fileNames[0]}.`,
    }));
}

function foreignNames({ rules }: Project, file: SourceFile, objects: ReadonlySet<string>): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { kind, text, line } of literalsOf(file)) {
    const readsAsSql = kind !== 'template-rest' && isSql(text);
    for (const { schema, object, offset } of qualifiedNames(text)) {
      const name = `${schema}.${object}`;
      // Outside of SQL, `usage.total` may be anything: there only the names that the migrations made count.
      if (!rules.sql.schemas.includes(schema) || !(readsAsSql || objects.has(name)) || schema === file.area) continue;
      const at = line + text.slice(0, offset).split('\n').length - 1;
      const message = `\`${name}\` belongs to the folder \`${schema}\`. Call a function that ${schema}/ exports.`;
      findings.push({ rule: 'sql-owner', file: file.path, line: at, message, name });
    }
  }
  return findings;
}
