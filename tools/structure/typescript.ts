import { type ParseResult, parseSync, Visitor } from 'oxc-parser';

/** A piece of a file as it is written there. */
export interface Piece {
  readonly text: string;
  /** The place in the file where it begins. */
  readonly start: number;
}

export interface Code {
  /** What stands between the quotes of each string, and each text of a template. */
  readonly literals: readonly (Piece & { readonly isContinued: boolean })[];
  /** The types of casts, such as `AppId` of `x as AppId`. */
  readonly casts: readonly Piece[];
}

/** Returns the comments of a file of TypeScript, with their marks. */
export function commentsIn(path: string, text: string): readonly Piece[] {
  return parse(path, text).comments.map(({ start, end }) => ({ text: text.slice(start, end), start }));
}

/** Returns what is read of the code itself. It takes ten times as long as the comments do. */
export function codeIn(path: string, text: string): Code {
  const literals: Code['literals'][number][] = [];
  const casts: Piece[] = [];
  const visitor = new Visitor({
    Literal: ({ value, start, end }) => {
      if (typeof value === 'string') literals.push({ text: text.slice(start + 1, end - 1), start, isContinued: false });
    },
    TemplateLiteral: ({ quasis }) => {
      for (const [index, { value, start }] of quasis.entries())
        literals.push({ text: value.raw, start, isContinued: index > 0 });
    },
    TSAsExpression: ({ typeAnnotation: { start, end } }) => {
      casts.push({ text: text.slice(start, end), start });
    },
  });
  visitor.visit(parse(path, text).program);
  return { literals, casts };
}

/** Returns the line of a place in a text, counted from 1. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function parse(path: string, text: string): ParseResult {
  const result = parseSync(path, text);
  if (result.errors[0] !== undefined) throw new Error(`${path} is no TypeScript: ${result.errors[0].message}`);
  return result;
}
