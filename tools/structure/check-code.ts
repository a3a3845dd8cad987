import { databaseObjects } from './check-sql.ts';
import type { Finding } from './finding.ts';
import type { Tree } from './read-tree.ts';
import { type ServiceFile, serviceFiles } from './service-files.ts';
import { isSql, qualifiedNames } from './sql.ts';
import { type Code, codeIn, lineAt } from './typescript.ts';

/** Where SQL is written: in files of these names, in the folder `db`, and in this file. */
const SQL_HOME = /(?:^|[/-])queries\.ts$|^db\/|^embedded\/server\/postmaster\.ts$/;

/** Spending starts at zero in a month without holds; the month must be the one that holds use. */
const SHARED = { files: /^ledger\/(?:wallet|overview|budgets)\/queries\.ts$/, name: 'db.current_month' };

/** Checks the TypeScript of the service: where SQL is, whose tables it names, and who makes a brand. */
export function checkCode(tree: Tree): readonly Finding[] {
  const objects = databaseObjects(tree);
  const schemas = new Set([...objects].map((name) => name.slice(0, name.indexOf('.'))));
  const files = serviceFiles(tree, '.ts');
  const brands = new Map(files.flatMap((file) => brandsOf(file).map((brand) => [brand, file.name] as const)));
  return files.flatMap((file) => {
    const code = codeIn(file.path, file.text);
    return [...checkSqlIn(file, code, { objects, schemas }), ...checkCasts(file, code, brands)];
  });
}

interface Database {
  readonly objects: ReadonlySet<string>;
  readonly schemas: ReadonlySet<string>;
}

function checkSqlIn(file: ServiceFile, { literals }: Code, { objects, schemas }: Database): readonly Finding[] {
  return literals.flatMap(({ text, start, isContinued }) => {
    const at = (rule: string, offset: number, message: string): Finding => {
      return { rule, file: file.path, line: lineAt(file.text, start) + lineAt(text, offset) - 1, message };
    };
    const readsAsSql = !isContinued && isSql(text);
    // Outside of SQL, `usage.total` may be anything: there only names of the database count.
    const foreign = qualifiedNames(text).filter(({ name }) => {
      const schema = name.slice(0, name.indexOf('.'));
      const isShared = SHARED.files.test(file.name) && name === SHARED.name;
      return schema !== file.schema && !isShared && (objects.has(name) || (readsAsSql && schemas.has(schema)));
    });
    return [
      ...(readsAsSql && !SQL_HOME.test(file.name)
        ? [at('sql-home', 0, `SQL is written in \`queries.ts\`. Make it a function of ${file.folder}/queries.ts.`)]
        : []),
      ...foreign.map(({ name, start: offset }) => {
        const owner = name.slice(0, name.indexOf('.'));
        return at(
          'sql-owner',
          offset,
          `\`${name}\` belongs to the folder of the schema \`${owner}\`. Call a function that it exports.`,
        );
      }),
    ];
  });
}

/** The names in `type AppId = Brand<...>`. */
function brandsOf({ text }: ServiceFile): readonly string[] {
  return Array.from(text.matchAll(/\btype (\w+) = Brand</g), ([, brand = '']) => brand);
}

/**
 * A brand says that a value was parsed. So only the file that declares the brand may cast to it: others call its functions,
 * take the value from a schema, or name the brand in the type of a database row.
 */
function checkCasts(file: ServiceFile, { casts }: Code, brands: ReadonlyMap<string, string>): readonly Finding[] {
  return casts.flatMap(({ text, start }) => {
    const brand = /^\w+/.exec(text)?.[0] ?? '';
    const home = brands.get(brand) ?? file.name;
    if (home === file.name) return [];
    const instead = `Call a function of ${home}, or let a schema or a row type make it.`;
    const message = `\`as ${brand}\` skips the check that the brand stands for. ${instead}`;
    return [{ rule: 'brand-casts', file: file.path, line: lineAt(file.text, start), message }];
  });
}
