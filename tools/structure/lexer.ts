/** A piece of TypeScript that means something. The text parts of a template literal are tokens of their own. */
export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'template' | 'template-rest' | 'regex' | 'punctuation';
  /** The text as written. Of strings and templates, it is what stands between the quotes. */
  readonly text: string;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

export interface Comment {
  readonly text: string;
  readonly line: number;
}

export interface Lexed {
  readonly tokens: readonly Token[];
  readonly comments: readonly Comment[];
  /** The index of the other half of a bracket, by the bracket's index. `${` and `}` of a template are a pair too. */
  readonly partner: ReadonlyMap<number, number>;
}

interface State {
  readonly text: string;
  readonly tokens: Token[];
  readonly comments: Comment[];
  readonly partner: Map<number, number>;
  /** Indexes of the brackets that are open. */
  readonly open: number[];
  at: number;
  line: number;
}

const SPACE = /\s+/y;
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|(?<![\s\S])#![^\n]*/y;
const STRING = /'(?:[^'\\\n]|\\[\s\S])*'|"(?:[^"\\\n]|\\[\s\S])*"/y;
const NUMBER = /(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?|\.\d)[\d_]*(?:[eE][+-]?\d+)?)n?/y;
const WORD = /[#@]?[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy;
const REGEX = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y;
const TEMPLATE_TEXT = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*/y;
const PUNCTUATION = /=>|\?\.(?!\d)|\.\.\.|\+\+|--|[^\s\w]/y;

const CLOSER_OF: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '${': '}' };
const CLOSERS = new Set(Object.values(CLOSER_OF));

/** Words after which a value is still to come, so that a slash starts a regular expression. */
const EXPECTS_VALUE = new Set(
  'return typeof case in of delete void throw new instanceof yield await do else extends default'.split(' '),
);
const BEFORE_PAREN_STATEMENT = new Set(['if', 'while', 'for', 'with']);

/**
 * Splits TypeScript into tokens, knowing strings, templates, regular expressions and comments. It does not parse: text
 * that is not TypeScript gives senseless tokens. Throws where brackets or quotes do not match.
 */
export function lex(text: string): Lexed {
  const state: State = { text, tokens: [], comments: [], partner: new Map(), open: [], at: 0, line: 1 };
  while (state.at < text.length) step(state);
  const unclosed = state.tokens[state.open.at(-1) ?? -1];
  if (unclosed !== undefined) throw new Error(`line ${unclosed.line}: \`${unclosed.text}\` is never closed`);
  return state;
}

function step(state: State): void {
  if (take(state, SPACE) !== undefined) return;
  const { line } = state;
  const comment = take(state, COMMENT);
  if (comment !== undefined) {
    state.comments.push({ text: comment, line });
    return;
  }
  if (state.text[state.at] === '`') {
    state.at += 1;
    templateText(state, 'template');
    return;
  }
  const found =
    token(state, 'string', STRING) ||
    token(state, 'number', NUMBER) ||
    token(state, 'word', WORD) ||
    (regexMayStart(state) && token(state, 'regex', REGEX)) ||
    token(state, 'punctuation', PUNCTUATION);
  if (!found) throw new Error(`line ${line}: unreadable text`);
  matchBracket(state);
}

/** The text that the sticky `pattern` finds here, taken. */
function take(state: State, pattern: RegExp): string | undefined {
  pattern.lastIndex = state.at;
  const text = pattern.exec(state.text)?.[0];
  if (text === undefined || text === '') return undefined;
  state.at += text.length;
  for (const char of text) if (char === '\n') state.line += 1;
  return text;
}

function token(state: State, kind: Token['kind'], pattern: RegExp): boolean {
  const { at: start, line } = state;
  const text = take(state, pattern);
  if (text === undefined) return false;
  state.tokens.push({ kind, text: kind === 'string' ? text.slice(1, -1) : text, line, start, end: state.at });
  return true;
}

/** The text of a template up to its end or to its next `${`, which is then an open bracket. */
function templateText(state: State, kind: 'template' | 'template-rest'): void {
  const { at: start, line } = state;
  const text = take(state, TEMPLATE_TEXT) ?? '';
  state.tokens.push({ kind, text, line, start, end: state.at });
  if (state.text[state.at] === '`') {
    state.at += 1;
    return;
  }
  if (!state.text.startsWith('${', state.at)) throw new Error(`line ${line}: a template is never closed`);
  state.at += 2;
  const opener: Token = { kind: 'punctuation', text: '${', line: state.line, start: state.at - 2, end: state.at };
  state.open.push(state.tokens.push(opener) - 1);
}

function matchBracket(state: State): void {
  const index = state.tokens.length - 1;
  const last = state.tokens[index];
  if (last?.kind !== 'punctuation') return;
  if (last.text in CLOSER_OF) state.open.push(index);
  if (!CLOSERS.has(last.text)) return;
  const openIndex = state.open.pop();
  const opener = state.tokens[openIndex ?? -1]?.text ?? '';
  if (openIndex === undefined || CLOSER_OF[opener] !== last.text) {
    throw new Error(`line ${last.line}: \`${last.text}\` closes nothing`);
  }
  state.partner.set(openIndex, index).set(index, openIndex);
  if (opener === '${') templateText(state, 'template-rest');
}

/** Whether a slash at this place starts a regular expression rather than a division. */
function regexMayStart(state: State): boolean {
  if (state.text[state.at] !== '/') return false;
  const index = state.tokens.length - 1;
  const last = state.tokens[index];
  if (last === undefined) return true;
  if (last.kind === 'word') return EXPECTS_VALUE.has(last.text) && state.tokens[index - 1]?.text !== '.';
  if (last.kind !== 'punctuation') return false;
  switch (last.text) {
    case ')': {
      const opener = state.partner.get(index) ?? 0;
      return BEFORE_PAREN_STATEMENT.has(state.tokens[opener - 1]?.text ?? '');
    }
    case '!':
      return state.tokens[index - 1]?.end !== last.start || state.tokens[index - 1]?.kind === 'punctuation';
    case ']':
    case '}':
    case '++':
    case '--':
      return false;
    default:
      return true;
  }
}
