import type { Lexed, Token } from './lexer.ts';

/** One `import`, `export ... from` or `import(...)`. */
export interface ImportStatement {
  readonly specifier: string;
  readonly line: number;
  /** Whether the import is erased before it runs. It counts for direction and cycles all the same. */
  readonly isTypeOnly: boolean;
  /** The names taken, as the other module calls them; `all` for a namespace. */
  readonly names: readonly string[] | 'all';
  /** Whether the statement is `export * from`. */
  readonly isStarExport: boolean;
}

export interface ExportedName {
  readonly name: string;
  readonly line: number;
}

export interface ModuleStatements {
  readonly imports: readonly ImportStatement[];
  readonly exports: readonly ExportedName[];
  /** Indexes of the tokens that are module specifiers, which are no text of the program. */
  readonly specifierTokens: ReadonlySet<number>;
}

interface Reader extends Lexed {
  readonly imports: ImportStatement[];
  readonly exports: ExportedName[];
  readonly specifierTokens: Set<number>;
}

/** What a file imports and exports, in any of the forms of the language except `import x = require(...)`. */
export function readModuleStatements(lexed: Lexed): ModuleStatements {
  const reader: Reader = { ...lexed, imports: [], exports: [], specifierTokens: new Set() };
  for (let index = 0; index < lexed.tokens.length; index += 1) {
    const word = wordAt(reader, index);
    if (textAt(reader, index - 1) === '.') continue;
    if (word === 'import' && textAt(reader, index + 1) === '(') readDynamicImport(reader, index);
    else if (word === 'import' && isStatement(reader, index)) readFrom(reader, index, false);
    else if (word === 'export' && isStatement(reader, index)) readExport(reader, index);
  }
  return reader;
}

function wordAt({ tokens }: Reader, index: number): string | undefined {
  return tokens[index]?.kind === 'word' ? tokens[index].text : undefined;
}

function textAt({ tokens }: Reader, index: number): string | undefined {
  const found = tokens[index];
  return found === undefined || found.kind === 'string' ? undefined : found.text;
}

/** `import` and `export` are words that a property may have too: `{ import: 1 }`, `interface X { export: boolean }`. */
function isStatement(reader: Reader, index: number): boolean {
  const next = reader.tokens[index + 1];
  return next !== undefined && (next.kind !== 'punctuation' || next.text === '{' || next.text === '*');
}

/** `import('./x.ts')` takes everything: what is read of it later is not followed. */
function readDynamicImport(reader: Reader, index: number): void {
  const target = reader.tokens[index + 2];
  if (target?.kind !== 'string') return;
  reader.specifierTokens.add(index + 2);
  const { line, text: specifier } = target;
  reader.imports.push({ specifier, line, isTypeOnly: false, names: 'all', isStarExport: false });
}

function readExport(reader: Reader, index: number): void {
  const next = textAt(reader, index + 1);
  const afterType = next === 'type' ? textAt(reader, index + 2) : next;
  if (afterType === '*') return readFrom(reader, index, true);
  if (afterType !== '{') return readDeclaration(reader, index + 1);
  const opener = index + (next === 'type' ? 2 : 1);
  const closer = reader.partner.get(opener) ?? opener;
  if (textAt(reader, closer + 1) === 'from') return readFrom(reader, index, false);
  for (const part of listParts(reader, opener)) addExport(reader, part.at(-1));
}

/** Reads from `import` or `export` to the specifier. */
function readFrom(reader: Reader, index: number, isStarExport: boolean): void {
  const names: string[] = [];
  let isNamespace = false;
  let typeNames = 0;
  const isTypeStatement = textAt(reader, index + 1) === 'type' && textAt(reader, index + 2) !== 'from';
  let at = index + (isTypeStatement ? 2 : 1);
  for (; reader.tokens[at] !== undefined && reader.tokens[at]?.kind !== 'string'; at += 1) {
    const text = textAt(reader, at);
    if (text === '*') isNamespace = true;
    if (text === '{') {
      for (const part of listParts(reader, at)) {
        const isType = part.length > 1 && part[0]?.text === 'type' && part[1]?.text !== 'as';
        if (isType) typeNames += 1;
        names.push(part[isType ? 1 : 0]?.text ?? '');
      }
      at = reader.partner.get(at) ?? at;
    } else if (wordAt(reader, at) !== undefined && text !== 'from' && !isNamespace) names.push('default');
  }
  const target = reader.tokens[at];
  if (target === undefined) return;
  reader.specifierTokens.add(at);
  const isTypeOnly = isTypeStatement || (names.length > 0 && typeNames === names.length);
  reader.imports.push({
    specifier: target.text,
    line: target.line,
    isTypeOnly,
    names: isNamespace ? 'all' : names,
    isStarExport,
  });
}

/** The comma-separated parts between the brace at `opener` and its partner, each as its words and strings. */
function listParts(reader: Reader, opener: number): readonly (readonly Token[])[] {
  const inside = reader.tokens.slice(opener + 1, reader.partner.get(opener));
  const parts: Token[][] = [[]];
  for (const piece of inside) {
    if (piece.text === ',' && piece.kind === 'punctuation') parts.push([]);
    else if (piece.kind === 'word' || piece.kind === 'string') parts.at(-1)?.push(piece);
  }
  return parts.filter((part) => part.length > 0);
}

const MODIFIERS = new Set([
  'declare',
  'abstract',
  'async',
  'const',
  'let',
  'var',
  'function',
  'class',
  'interface',
  '*',
]);
const MODIFIERS_BEFORE_NAME = new Set(['type', 'enum', 'namespace', 'module']);

function readDeclaration(reader: Reader, from: number): void {
  let at = from;
  const isModifier = (): boolean => {
    const text = textAt(reader, at) ?? '';
    const isNamed = wordAt(reader, at + 1) !== undefined;
    return MODIFIERS.has(text) || (MODIFIERS_BEFORE_NAME.has(text) && isNamed);
  };
  while (isModifier()) at += 1;
  if (textAt(reader, at) !== '{' && textAt(reader, at) !== '[') return addExport(reader, reader.tokens[at]);
  // `export const { a, b: c } = ...`: the last word of a part is the name, a default value aside.
  for (const part of listParts(reader, at)) addExport(reader, part.at(-1));
}

function addExport(reader: Reader, name: Token | undefined): void {
  if (name === undefined) return;
  if (reader.exports.some((known) => known.name === name.text)) return; // An overload, or a type beside a value.
  reader.exports.push({ name: name.text, line: name.line });
}
