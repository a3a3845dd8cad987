import type { Lexed } from './lexer.ts';

const TYPE_OPERATORS = new Set('keyof typeof readonly unique infer asserts is extends new abstract'.split(' '));
const STATEMENTS = new Set(
  'return throw const let var if for while do switch case default break continue try'.split(' '),
);

interface TypeReader {
  readonly lexed: Lexed;
  index: number;
  /** True where a type may start, so that a brace opens the type of an object and not a body. */
  isOperandNext: boolean;
  angles: number;
}

/**
 * The index of what follows the `: type` at `at`, or `at` when there is none: the `{` of a body, `=>`, or anything that
 * shows that there is neither, as after `yes ? call(x) : other;`.
 */
export function endOfReturnType(lexed: Lexed, at: number): number {
  if (lexed.tokens[at]?.kind !== 'punctuation' || lexed.tokens[at]?.text !== ':') return at;
  const reader: TypeReader = { lexed, index: at + 1, isOperandNext: true, angles: 0 };
  while (reader.index < lexed.tokens.length && mayBeType(reader)) step(reader);
  return reader.index;
}

function mayBeType({ lexed, index, isOperandNext, angles }: TypeReader): boolean {
  const { kind, text } = lexed.tokens[index] ?? { kind: 'punctuation', text: ';' };
  if (kind === 'word' && STATEMENTS.has(text)) return false;
  if (kind === 'word' && TYPE_OPERATORS.has(text)) return true;
  if (kind !== 'punctuation') return isOperandNext || kind === 'template-rest';
  switch (text) {
    case '{':
      return isOperandNext;
    case ',':
    case '>':
      return angles > 0;
    case '=>':
      return angles > 0 || isOperandNext;
    default:
      return ['(', '[', '|', '&', '<', '.', '?', ':', '-', '${'].includes(text);
  }
}

function step(reader: TypeReader): void {
  const { kind, text } = reader.lexed.tokens[reader.index] ?? { kind: 'punctuation', text: ';' };
  if (kind !== 'punctuation') {
    reader.isOperandNext = TYPE_OPERATORS.has(text);
    reader.index += 1;
    return;
  }
  if (text === '<') reader.angles += 1;
  if (text === '>') reader.angles -= 1;
  const closer = ['(', '[', '{', '${'].includes(text) ? reader.lexed.partner.get(reader.index) : undefined;
  reader.index = (closer ?? reader.index) + 1;
  reader.isOperandNext = closer === undefined && text !== '>';
  // The type of a function: `(): (value: number) => string {`.
  const next = reader.lexed.tokens[reader.index];
  if (text === '(' && next?.kind === 'punctuation' && next.text === '=>') {
    reader.isOperandNext = true;
    reader.index += 1;
  }
}
