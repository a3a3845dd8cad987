import type { Lexed, Token } from './lexer.ts';
import { endOfReturnType } from './return-type.ts';

export interface FunctionSpan {
  readonly name: string;
  readonly line: number;
  readonly lines: number;
  /** The function that it is handed to, as `test` in `test('...', () => {})`. */
  readonly callee: string | undefined;
}

const STATEMENTS_WITH_PARENS = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await']);

/**
 * Every function with a body: declarations, methods, accessors, arrows. Overloads have none; the type of a function
 * counts as an arrow, which is short.
 */
export function findFunctions(lexed: Lexed): readonly FunctionSpan[] {
  const spans: FunctionSpan[] = [];
  const arrowsSeen = new Set<number>();
  for (const [index, { kind, text }] of lexed.tokens.entries()) {
    if (kind !== 'punctuation') continue;
    if (text === '(') {
      const arrow = arrowAfter(lexed, index);
      if (arrow !== undefined) arrowsSeen.add(arrow);
      const end = arrow === undefined ? endOfBody(lexed, index) : endOfArrowBody(lexed, arrow + 1);
      const start = arrow === undefined ? headOf(lexed, index) : beforeTypeParameters(lexed, index - 1) + 1;
      if (end !== undefined && start !== undefined) spans.push(spanOf(lexed, start, end));
    } else if (text === '=>' && !arrowsSeen.has(index)) {
      spans.push(spanOf(lexed, index - 1, endOfArrowBody(lexed, index + 1))); // `value => ...`
    }
  }
  return spans;
}

/** The index of the `=>` when the parameters of an arrow open at `paren`. */
function arrowAfter(lexed: Lexed, paren: number): number | undefined {
  const after = afterParameters(lexed, paren);
  return textAt(lexed, after) === '=>' ? after : undefined;
}

/** The index of the closing brace when the parameters of a function with a body open at `paren`. */
function endOfBody(lexed: Lexed, paren: number): number | undefined {
  const after = afterParameters(lexed, paren);
  return textAt(lexed, after) === '{' ? lexed.partner.get(after) : undefined;
}

function afterParameters(lexed: Lexed, paren: number): number {
  return endOfReturnType(lexed, (lexed.partner.get(paren) ?? paren) + 1);
}

/** The text of a sign or word at `index`: never that of a string. */
function textAt({ tokens }: Lexed, index: number): string | undefined {
  const found = tokens[index];
  return found?.kind === 'word' || found?.kind === 'punctuation' ? found.text : undefined;
}

/** The index of the name before the parameters at `paren`; undefined where the brace is a block's, as after `if (...)`. */
function headOf(lexed: Lexed, paren: number): number | undefined {
  const at = beforeTypeParameters(lexed, paren - 1);
  const name = lexed.tokens[at];
  if (name === undefined || textAt(lexed, at - 1) === 'extends') return undefined; // `class A extends mixin(B) {`
  if (name.kind !== 'punctuation') return STATEMENTS_WITH_PARENS.has(name.text) ? undefined : at;
  if (name.text === ']') return lexed.partner.get(at); // `[Symbol.dispose]() {`
  return name.text === '*' ? at : undefined; // `function* () {`
}

/** The index before `<...>` when a list of type parameters ends at `at`. */
function beforeTypeParameters(lexed: Lexed, at: number): number {
  if (textAt(lexed, at) !== '>') return at;
  let depth = 0;
  for (let index = at; index >= 0; index -= 1) {
    const text = textAt(lexed, index);
    if (text === '>') depth += 1;
    if (text === '<') depth -= 1;
    if (depth === 0) return index - 1;
    if (text === ';') return at;
  }
  return at;
}

/**
 * The last token of what follows `=>`. An expression ends at a comma, a semicolon, a bracket that closes one outside,
 * the colon of a `?` outside, or, for the type of a function, where the type arguments outside of it end.
 */
function endOfArrowBody(lexed: Lexed, at: number): number {
  if (textAt(lexed, at) === '{') return lexed.partner.get(at) ?? at;
  let questions = 0;
  let angles = 0;
  for (let index = at; index < lexed.tokens.length; index += 1) {
    const { kind, text, start } = lexed.tokens[index] as Token;
    if (kind !== 'punctuation') continue;
    if (ENDS_EXPRESSION.has(text)) return index - 1;
    if (text === '{' && endsOperand(lexed, index - 1)) return index - 1; // This was a return type: `(): () => void {`.
    if (text === '?') questions += 1;
    if (text === ':' && questions === 0) return index - 1;
    if (text === ':') questions -= 1;
    if (text === '<' && lexed.tokens[index - 1]?.end === start) angles += 1; // Comparisons have spaces.
    if (text === '>' && angles === 0 && endsTypeArguments(lexed, index)) return index - 1;
    if (text === '>' && angles > 0) angles -= 1;
    if (OPENERS.has(text)) index = lexed.partner.get(index) ?? index;
  }
  return lexed.tokens.length - 1;
}

const ENDS_EXPRESSION = new Set([',', ';', ')', ']', '}']);
const OPENERS = new Set(['(', '{', '[', '${']);

/** `new Map<string, () => void>(` and `const close: Array<() => void> =`. */
function endsTypeArguments({ tokens }: Lexed, index: number): boolean {
  const next = tokens[index + 1];
  const isAdjacent = next?.start === tokens[index]?.end;
  return (next?.text === '(' && isAdjacent) || (next?.text === '=' && !isAdjacent);
}

const BEFORE_TYPE = new Set(['as', 'satisfies', 'extends', 'is', 'keyof']);

function endsOperand({ tokens }: Lexed, index: number): boolean {
  const { kind, text } = tokens[index] ?? { kind: 'punctuation', text: '' };
  return kind === 'punctuation' ? ['>', ')', ']', '}'].includes(text) : !BEFORE_TYPE.has(text);
}

function spanOf(lexed: Lexed, start: number, end: number): FunctionSpan {
  const line = lexed.tokens[start]?.line ?? 1;
  const lines = (lexed.tokens[end]?.line ?? line) - line + 1;
  const callee = calleeOf(lexed, start);
  const name = nameOf(lexed, start) ?? (callee === undefined ? 'anonymous function' : `callback of ${callee}`);
  return { name, line, lines, callee };
}

/** `placeHold` of a declaration, a method, or an arrow that is assigned: `const placeHold = async (`, `placeHold: (`. */
function nameOf(lexed: Lexed, start: number): string | undefined {
  const first = lexed.tokens[start];
  if (first?.text === '[') return `[${textAt(lexed, (lexed.partner.get(start) ?? start) - 1)}]`;
  const isArrow = first?.kind === 'punctuation' || textAt(lexed, start + 1) === '=>';
  if (!isArrow && first?.text !== 'function') return first?.text;
  const sign = textAt(lexed, start - 1) === 'async' ? start - 2 : start - 1;
  const name = lexed.tokens[sign - 1];
  const isAssigned = ['=', ':'].includes(textAt(lexed, sign) ?? '');
  return isAssigned && name?.kind === 'word' ? name.text : undefined;
}

/** The function in whose parentheses the token at `start` stands directly. */
function calleeOf(lexed: Lexed, start: number): string | undefined {
  for (let index = start - 1; index >= 0; index -= 1) {
    const text = textAt(lexed, index);
    if (text === '(') {
      const name = lexed.tokens[beforeTypeParameters(lexed, index - 1)];
      return name?.kind === 'word' ? name.text : undefined;
    }
    if (text === ';' || text === '{' || text === '[' || text === '${') return undefined;
    if (text === ')' || text === ']' || text === '}') index = lexed.partner.get(index) ?? index;
  }
  return undefined;
}
