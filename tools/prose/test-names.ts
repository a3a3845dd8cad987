import { type Piece, lineAt } from '../structure/typescript.ts';
import type { Tree } from '../structure/read-tree.ts';

/** The name of a test, or of a scenario: that one begins with a clause id. */
const NAME =
  /(?:\btest\(\s*|\bname: (?=.[A-Z]+-\d{2}\b))(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|`((?:[^`\\]|\\.)*)`)/g;
const CLAUSE_IDS = /^(?:[A-Z]+-\d{2}[\s,:]+)+/;
/** A name that a template begins may get its clause id from that. */
const BEGINS_WITH_CLAUSE = /^(?:[A-Z]+-\d{2}\s|\$\{)/;

export interface TestName {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** The words after the clause ids. What a template inserts is one word. */
  readonly words: number;
  /** Whether it begins with the id of a clause. */
  readonly hasClause: boolean;
}

/** Returns the names of the tests in the text of a file, as they are written there. */
export function testNamesIn(text: string): readonly string[] {
  return namesIn(text).map(({ text: name }) => name);
}

/** Returns the name of each test in a tree of files. */
export function testNamesOf(tree: Tree): readonly TestName[] {
  const files = [...tree].filter(([file]) => file.endsWith('.test.ts'));
  return files.flatMap(([file, text]) =>
    namesIn(text).map(({ text: name, start }) => ({
      name,
      file,
      line: lineAt(text, start),
      words: wordsOf(name),
      hasClause: BEGINS_WITH_CLAUSE.test(name),
    })),
  );
}

function namesIn(text: string): readonly Piece[] {
  return Array.from(text.matchAll(NAME), ({ 1: single, 2: double, 3: template, index }) => {
    return { text: single ?? double ?? template ?? '', start: index };
  });
}

function wordsOf(name: string): number {
  return name
    .replace(CLAUSE_IDS, '')
    .replaceAll(/\$\{[^}]*\}/g, 'x')
    .trim()
    .split(/\s+/).length;
}
