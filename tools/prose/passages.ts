import { codeIn, commentsIn, lineAt, type Piece } from '../structure/typescript.ts';

/** Text that people read, with the line that it begins on. Line breaks are those of the file. */
export interface Passage {
  readonly text: string;
  readonly line: number;
  /** Whether it is a comment that editors show beside the name that follows. */
  readonly isDoc?: boolean;
}

const FENCE = /^\s*(?:```|~~~)/;
const ALONE = /^\s*(?:#|\||<)/; // A heading, a row of a table, a tag of HTML.
const ITEM = /^\s*(?:[-*+]|\d+\.)\s/;
const QUOTE = /^\s*>\s?/;
const COMMENT_MARKS = /^[ \t]*(?:\/\/+|\/\*+|\*+\/|\*(?!\*)|--+)?[ \t]?/gm;
export const MARKS = /[*_[\]]/g;
const COMMENT_END = /\s*\*+\/$/;
const MESSAGE_WORDS_MIN = 3;

/** Paragraphs and list items. Tables and fenced code are left out. */
export function passagesOfMarkdown(text: string): readonly Passage[] {
  const passages: { text: string; line: number }[] = [];
  let isCode = false;
  let isOpen = false;
  for (const [index, content] of text.split('\n').entries()) {
    if (FENCE.test(content)) isCode = !isCode;
    const isProse = !isCode && !FENCE.test(content) && !ALONE.test(content) && content.trim() !== '';
    const last = passages.at(-1);
    if (isProse && isOpen && last !== undefined && !ITEM.test(content)) last.text += `\n${content.replace(QUOTE, '')}`;
    else if (isProse) passages.push({ text: content.replace(ITEM, '').replace(QUOTE, ''), line: index + 1 });
    isOpen = isProse;
  }
  return passages.map((passage) => ({ ...passage, text: withoutMarkup(passage.text) }));
}

/** Returns the comments of TypeScript, those of consecutive lines together if they are no doc comments. */
export function commentsOfTypeScript(path: string, text: string): readonly Passage[] {
  return passagesOf(text, joined(text, commentsIn(path, text)));
}

/** Returns strings with enough words to be a sentence or a part of one. */
export function messagesOfTypeScript(path: string, text: string): readonly Passage[] {
  return passagesOf(text, codeIn(path, text).literals.filter(isMessage));
}

/** Comments of SQL. */
export function passagesOfSql(text: string): readonly Passage[] {
  const comments = Array.from(text.matchAll(/--.*$/gm), ({ 0: found, index }) => ({ text: found, start: index }));
  return passagesOf(text, joined(text, comments));
}

function passagesOf(text: string, pieces: readonly Piece[]): readonly Passage[] {
  return pieces.map(({ text: said, start }) => ({
    text: withoutMarkup(said.replace(COMMENT_END, '').replaceAll(COMMENT_MARKS, '')),
    line: lineAt(text, start),
    isDoc: isDoc(said),
  }));
}

function joined(text: string, comments: readonly Piece[]): readonly Piece[] {
  const pieces: { text: string; start: number }[] = [];
  for (const { text: said, start } of comments) {
    const last = pieces.at(-1);
    const between = last === undefined ? '' : text.slice(last.start + last.text.length, start);
    const isAlone = isDoc(said) || last === undefined || isDoc(last.text);
    if (!isAlone && /^[ \t]*\n[ \t]*$/.test(between)) last.text += `${between}${said}`;
    else pieces.push({ text: said, start });
  }
  return pieces;
}

function isDoc(comment: string): boolean {
  return comment.startsWith('/**');
}

function isMessage({ text }: Piece): boolean {
  return text.split(/\s+/).filter((word) => /^[\p{L}’'-]+[.,:;!?]?$/u.test(word)).length >= MESSAGE_WORDS_MIN;
}

/** Makes code in backticks one word that no rule looks into, and a link its text. */
function withoutMarkup(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, (code) => `X${code.replaceAll(/[^\n]/g, '')}`)
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(MARKS, '');
}
