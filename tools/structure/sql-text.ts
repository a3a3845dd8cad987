/** A statement of a migration, with its strings as they are and its comments blanked. */
export interface Statement {
  readonly text: string;
  /** The same text with strings blanked too: what is left is structure. */
  readonly bare: string;
  readonly line: number;
}

export interface ObjectName {
  readonly schema: string;
  readonly object: string;
  readonly offset: number;
}

const LEADING_COMMENTS = /^(?:\s|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

// English sentences start like statements ("with ...", "update ..."), so each verb must go on as SQL does.
const STATEMENT = [
  'select\\s',
  'insert\\s+into\\s',
  'update\\s+[^;]+?\\sset\\s',
  'delete\\s+from\\s',
  'merge\\s+into\\s',
  'truncate\\s+(?:table\\s|\\w+\\.)',
  'with\\s+(?:recursive\\s+)?\\w+\\s*(?:\\([^)]*\\)\\s*)?as\\s',
  'call\\s+[\\w.]+\\s*\\(',
  '(?:create|alter|drop)\\s+(?:or\\s+replace\\s+)?(?:unique\\s+)?' +
    '(?:table|schema|index|function|procedure|role|user|database|type|view|extension|sequence|trigger)\\s',
  '(?:grant|revoke)\\s+[^;]+?\\s(?:to|from)\\s',
  'lock\\s+table\\s',
  'copy\\s+[^;]+?\\s(?:to|from)\\s',
];
const LOWER = new RegExp(`^(?:${STATEMENT.join('|')})`);
const UPPER = new RegExp(`^(?:${STATEMENT.map(toUpperCase).join('|')})`);

/** Upper-cases the words of a pattern and leaves its escapes (`\s`, `\w`) alone. */
function toUpperCase(pattern: string): string {
  return pattern.replaceAll(/(?<!\\)[a-z]+/g, (word) => word.toUpperCase());
}

/** Whether the text of a literal reads as an SQL statement, in lower or in upper case. */
export function isSql(text: string): boolean {
  const start = text.replace(LEADING_COMMENTS, '');
  return LOWER.test(start) || UPPER.test(start);
}

/** Every `schema.object` in the text. */
export function qualifiedNames(text: string): readonly ObjectName[] {
  return [...text.matchAll(/(?<![\w.#/])([a-z_]\w*)\.([a-z_]\w*)/gi)].map((match) => ({
    schema: (match[1] ?? '').toLowerCase(),
    object: (match[2] ?? '').toLowerCase(),
    offset: match.index,
  }));
}

const PIECES = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$\w*\$|;|[\s\S]/g;

/** The statements of a migration. The body of a function between `$$` belongs to its statement. */
export function splitStatements(sql: string): readonly Statement[] {
  const statements: Statement[] = [];
  let text = '';
  let bare = '';
  let line = 1;
  let quote: string | undefined;
  const end = (): void => {
    const start = bare.length - bare.trimStart().length;
    const skipped = bare.slice(0, start).split('\n').length - 1;
    if (bare.trim() !== '') statements.push({ text: text.slice(start), bare: bare.slice(start), line: line + skipped });
    line += text.split('\n').length - 1;
    text = '';
    bare = '';
  };
  for (const [piece] of sql.matchAll(PIECES)) {
    const isComment = piece.startsWith('--') || piece.startsWith('/*');
    const isString = piece.startsWith("'");
    if (/^\$\w*\$$/.test(piece)) quote = quote === undefined ? piece : quote === piece ? undefined : quote;
    text += isComment ? blank(piece) : piece;
    bare += isComment || isString ? blank(piece) : piece;
    if (piece === ';' && quote === undefined) end();
  }
  end();
  return statements;
}

function blank(piece: string): string {
  return piece.replaceAll(/[^\n]/g, ' ');
}
