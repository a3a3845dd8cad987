import type { Tree } from '../structure/read-tree.ts';
import {
  commentsOfTypeScript,
  messagesOfTypeScript,
  MARKS,
  type Passage,
  passagesOfMarkdown,
  passagesOfSql,
} from './passages.ts';
import type { ProseRules } from './rules.ts';
import { testNamesOf } from './test-names.ts';

export interface ProseFinding {
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Holds the prose of a tree of files against the rules. Findings come in the order of the tree, then of lines. */
export function checkProse(tree: Tree, rules: ProseRules): readonly ProseFinding[] {
  return [...tree]
    .filter(([file]) => !rules.skipped.some((start) => file.startsWith(start)))
    .flatMap(([file, text]) => findingsIn(file, text, rules).toSorted((left, right) => left.line - right.line));
}

/** Returns the names of tests that are too long to be read at a glance, or that do not say which clause they keep. */
export function checkTestNames(tree: Tree, { testNameWordsMax, clauseless }: ProseRules): readonly ProseFinding[] {
  return testNamesOf(tree).flatMap(({ file, line, words, hasClause }) => {
    const isFree = hasClause || clauseless.some((start) => file.startsWith(start));
    const messages = [
      ...(words > testNameWordsMax
        ? [
            `The name of a test has ${words} words; ${testNameWordsMax} are the most. Say the one promise that it keeps.`,
          ]
        : []),
      ...(isFree ? [] : ['The name of a test begins with the id of the clause that it keeps (docs/CLAUSES.md).']),
    ];
    return messages.map((message) => ({ file, line, message }));
  });
}

function findingsIn(file: string, text: string, rules: ProseRules): readonly ProseFinding[] {
  if (file.endsWith('.md')) {
    const passages = passagesOfMarkdown(text);
    return [...bannedIn(file, passages, rules), ...longIn(file, passages, rules)];
  }
  if (file.endsWith('.ts')) {
    // Strings are taken out of the few files only in which a banned word occurs at all.
    const isSuspect = bannedIn(file, [{ text: text.replaceAll(MARKS, ''), line: 1 }], rules).length > 0;
    const messages = isSuspect ? messagesOfTypeScript(file, text) : [];
    const comments = commentsOfTypeScript(file, text);
    return [...bannedIn(file, [...comments, ...messages], rules), ...incompleteIn(file, comments)];
  }
  return file.endsWith('.sql') ? bannedIn(file, passagesOfSql(text), rules) : [];
}

function bannedIn(file: string, passages: readonly Passage[], { banned }: ProseRules): readonly ProseFinding[] {
  return passages.flatMap(({ text, line }) =>
    banned.flatMap(({ pattern, instead }) =>
      [...text.matchAll(new RegExp(pattern.source.replaceAll(' ', '\\s+'), pattern.flags))].map(
        ({ 0: said, index }) => ({
          file,
          line: line + linesIn(text.slice(0, index)),
          message: `"${said}": ${instead}`,
        }),
      ),
    ),
  );
}

/** A sentence ends at a full stop, a question mark or an exclamation mark before a space, and with its paragraph. */
function longIn(file: string, passages: readonly Passage[], { sentenceWordsMax }: ProseRules): readonly ProseFinding[] {
  return passages.flatMap(({ text, line }) =>
    [...text.matchAll(/[^\s](?:[^.!?]|[.!?](?!["”’)]*\s))*[.!?]*["”’)]*/g)].flatMap(({ 0: sentence, index }) => {
      const words = sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
      if (words <= sentenceWordsMax) return [];
      const message = `A sentence of ${words} words; ${sentenceWordsMax} are the most. Make it two.`;
      return [{ file, line: line + linesIn(text.slice(0, index)), message }];
    }),
  );
}

/** A doc comment is a sentence or more, and no comment only points elsewhere. Examples and tags do not count. */
function incompleteIn(file: string, comments: readonly Passage[]): readonly ProseFinding[] {
  return comments.flatMap(({ text, line, isDoc = false }) => {
    const said = text.replaceAll(/^(?: {4}.*|@\w+.*)$/gm, '').trim();
    if (/^see (?:\S*[^\s.] ){0,2}\S+$/i.test(said))
      return [{ file, line, message: `"${said}": Say what the reader finds there.` }];
    if (!isDoc || /^[\p{Lu}\d"“(][\s\S]*\.["”)]?$/u.test(said)) return [];
    return [{ file, line, message: 'A doc comment begins with a capital letter and ends with a full stop.' }];
  });
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}
