import { posix } from 'node:path';
import type { Finding } from './finding.ts';
import { lex, type Token } from './lexer.ts';
import { type ExportedName, type ImportStatement, readModuleStatements } from './module-statements.ts';
import type { RuleSet } from './rule-set.ts';

/** The text files of a repository by their path from its root, with `/`. */
export type Tree = ReadonlyMap<string, string>;

export interface Import extends ImportStatement {
  /**
   * The path of a file of this repository, whether it exists or not. It is undefined for packages and built-in modules.
   */
  readonly target: string | undefined;
  /** The module, such as `pg`, `@scope/name` or `node:fs`. It is undefined for files of this repository. */
  readonly module: string | undefined;
}

/** A TypeScript file, read. */
export interface SourceFile {
  readonly path: string;
  /**
   * The name by which the rules call the file: `ledger/holds.ts` in the service, `contract/errors.ts` in another
   * package, else the path.
   */
  readonly name: string;
  /** The area is a folder of the service, a package, `tests`, `tools` or `benchmarks`. */
  readonly area: string;
  /** Whether the file is a test. It is also true of the tests beside the code. */
  readonly isTest: boolean;
  readonly isService: boolean;
  readonly tokens: readonly Token[];
  readonly imports: readonly Import[];
  readonly exports: readonly ExportedName[];
  readonly specifierTokens: ReadonlySet<number>;
}

export interface Project {
  readonly tree: Tree;
  readonly files: ReadonlyMap<string, SourceFile>;
  readonly rules: RuleSet;
  /** Files that could not be read as TypeScript. */
  readonly unreadable: readonly Finding[];
}

export const SERVICE = 'packages/service/src/';
const SOURCE = /^(?:packages\/[^/]+\/src|tests|tools|examples|benchmarks)\/.*\.ts$/;

export function readProject(tree: Tree, rules: RuleSet): Project {
  const files = new Map<string, SourceFile>();
  const unreadable: Finding[] = [];
  for (const [path, text] of tree) {
    if (!SOURCE.test(path)) continue;
    try {
      files.set(path, readSource(path, text, rules));
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      const message = `This file could not be read (${why}). Mend it, or tools/structure/lexer.ts.`;
      unreadable.push({ rule: 'readable', file: path, line: 1, message });
    }
  }
  return { tree, files, rules, unreadable };
}

function readSource(path: string, text: string, rules: RuleSet): SourceFile {
  const lexed = lex(text);
  const { imports, exports, specifierTokens } = readModuleStatements(lexed);
  const isTest = path.startsWith('tests/') || path.endsWith('.test.ts');
  return {
    path,
    name: nameOf(path),
    area: areaOf(path),
    isTest,
    isService: path.startsWith(SERVICE),
    tokens: lexed.tokens,
    imports: imports.map((statement) => ({ ...statement, ...resolve(path, statement.specifier, rules) })),
    exports,
    specifierTokens,
  };
}

/**
 * Returns `ledger/holds.ts` for a file of the service, `contract/errors.ts` for one of another package, else its path.
 */
export function nameOf(path: string): string {
  if (path.startsWith(SERVICE)) return path.slice(SERVICE.length);
  return path.replace(/^packages\/([^/]+)\/src\//, '$1/');
}

/** The folder of the service, the package, or the folder of the root that `path` lies in. */
export function areaOf(path: string): string {
  const name = nameOf(path);
  return name.includes('/') ? name.slice(0, name.indexOf('/')) : '';
}

function resolve(from: string, specifier: string, { aliases }: RuleSet): Pick<Import, 'target' | 'module'> {
  if (specifier.startsWith('.')) {
    return { target: posix.join(posix.dirname(from), specifier), module: undefined };
  }
  const prefix = Object.keys(aliases).find((alias) => specifier.startsWith(alias));
  if (prefix !== undefined) return { target: `${aliases[prefix]}${specifier.slice(prefix.length)}`, module: undefined };
  const parts = specifier.split('/');
  return { target: undefined, module: parts.slice(0, specifier.startsWith('@') ? 2 : 1).join('/') };
}

/** Whether `place`, an area or a file as the rules name it, is where this file is. Tests belong to `tests`. */
export function isIn(
  file: { readonly name: string; readonly area: string; readonly isTest?: boolean },
  place: string,
): boolean {
  if (place === 'tests' && file.isTest === true) return true;
  return file.name === place || file.area === place;
}
