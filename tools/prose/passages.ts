import { type Comment, lex, type Token } from '../structure/lexer.ts';

/** Text that people read, with the line that it begins on. Line breaks are those of the file. */
export interface Passage {
  readonly text: string;
  readonly line: number;
}

const FENCE = /^\s*(?:```|~~~)/;
const ALONE = /^\s*(?:#|\||<)/; // A heading, a row of a table, a tag of HTML.
const ITEM = /^\s*(?:[-*+]|\d+\.)\s/;
const QUOTE = /^\s*>\s?/;
const COMMENT_MARKS = /^[ \t]*(?:\/\/+|\/\*+|\*+\/|\*(?!\*)|--+)?[ \t]?/gm;
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

/** Comments, those of consecutive lines together, and strings with enough words to be a sentence or a part of one. */
export function passagesOfTypeScript(text: string): readonly Passage[] {
  const { tokens, comments } = lex(text);
  return [...joined(comments), ...tokens.filter(isMessage)].map(({ text: said, line }) => ({
    text: withoutMarkup(said.replaceAll(COMMENT_MARKS, '')),
    line,
  }));
}

/** Comments of SQL. */
export function passagesOfSql(text: string): readonly Passage[] {
  const comments = text.split('\n').flatMap((content, index) => {
    const found = /--.*$/.exec(content)?.[0];
    return found === undefined ? [] : [{ text: found, line: index + 1 }];
  });
  return joined(comments).map(({ text: said, line }) => ({
    text: withoutMarkup(said.replaceAll(COMMENT_MARKS, '')),
    line,
  }));
}

function joined(comments: readonly Comment[]): readonly Passage[] {
  const passages: { text: string; line: number; end: number }[] = [];
  for (const { text, line } of comments) {
    const last = passages.at(-1);
    const end = line + text.split('\n').length - 1;
    if (last !== undefined && last.end === line - 1) {
      last.text += `\n${text}`;
      last.end = end;
    } else passages.push({ text, line, end });
  }
  return passages;
}

function isMessage({ kind, text }: Token): boolean {
  if (kind !== 'string' && !kind.startsWith('template')) return false;
  return text.split(/\s+/).filter((word) => /^[\p{L}’'-]+[.,:;!?]?$/u.test(word)).length >= MESSAGE_WORDS_MIN;
}

/** Makes code in backticks one word that no rule looks into, and a link its text. */
function withoutMarkup(text: string): string {
  return text
    .replaceAll(/`[^`]*`/g, (code) => `x${code.replaceAll(/[^\n]/g, '')}`)
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll(/[*_[\]]/g, '');
}
