/** A statement of an SQL file, with its comments blanked. */
export interface Statement {
  readonly text: string;
  /** The same text with strings blanked too: what is left is structure. */
  readonly bare: string;
  readonly line: number;
}

/** English sentences begin like statements ("with ...", "update ..."), so each verb must go on as SQL does. */
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
].join('|');
const UPPER = STATEMENT.replaceAll(/(?<!\\)[a-z]+/g, (word) => word.toUpperCase()); // `\s` and `\w` stay.
const LEADING_COMMENTS = '^(?:\\s|--[^\\n]*(?:\\n|$)|\\/\\*[\\s\\S]*?\\*\\/)*';
const SQL = new RegExp(`${LEADING_COMMENTS}(?:${STATEMENT}|${UPPER})`);

/** Whether the text of a literal reads as an SQL statement, in lower or in upper case. */
export function isSql(text: string): boolean {
  return SQL.test(text);
}

/** Every `schema.object` in the text, and where it is. */
export function qualifiedNames(text: string): readonly { readonly name: string; readonly start: number }[] {
  const found = text.matchAll(/(?<![\w.#/])[a-z_]\w*\.[a-z_]\w*/gi);
  return [...found].map(({ 0: name, index }) => ({ name: name.toLowerCase(), start: index }));
}

const PIECES = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|\$(\w*)\$[\s\S]*?\$\1\$|;|[\s\S]/g;
const COMMENTS = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g;

/** The statements of an SQL file. The body of a function between `$$` belongs to its statement. */
export function splitStatements(sql: string): readonly Statement[] {
  const statements: Statement[] = [];
  let [text, bare, line] = ['', '', 1];
  for (const [piece = ';'] of [...sql.matchAll(PIECES), [';']]) {
    text += piece.replaceAll(COMMENTS, (found) => (found.startsWith("'") ? found : blank(found)));
    bare += piece.replaceAll(COMMENTS, blank);
    if (piece !== ';') continue;
    const start = bare.search(/\S/);
    const begins = line + linesIn(bare.slice(0, start));
    if (bare.trim() !== ';') statements.push({ text: text.slice(start), bare: bare.slice(start), line: begins });
    line += linesIn(text);
    [text, bare] = ['', ''];
  }
  return statements;
}

function blank(piece: string): string {
  return piece.replaceAll(/[^\n]/g, ' ');
}

function linesIn(text: string): number {
  return text.split('\n').length - 1;
}
