/**
 * PostgreSQL literals of arrays, for batched statements: of single values, and of records. The driver could build arrays, item
 * by item through its type rules; a join is several times faster, and this is the hot path. A record is a composite type in the
 * database and a table of columns here, in the same order; a test compares the two. One such parameter costs the server about
 * half of what an array for each column costs.
 */

/** For items that hold no character with a meaning in a literal: numbers, booleans, UUIDs. Undefined becomes null. */
export function plainArray(items: readonly (number | bigint | boolean | string | undefined)[]): string {
  return `{${items.map((item) => item ?? 'null').join(',')}}`;
}

/** For text: every item is quoted. Undefined becomes null. */
export function textArray(items: readonly (string | undefined)[]): string {
  return `{${items.map((item) => (item === undefined ? 'null' : quoteItem(item))).join(',')}}`;
}

const SPECIAL = /["\\]/;

function quoteItem(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`; // Names and ids, nearly always: nothing is searched for what to replace.
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

type Value = number | bigint | boolean | string | Buffer | undefined;

/** What each attribute of a composite type is made of, in their order. */
type RecordColumns<Item> = Readonly<Record<string, (item: Item) => Value>>;

/** Writes arrays of one record type. */
interface RecordWriter<Item> {
  (items: readonly Item[]): string;
  readonly attributes: readonly string[];
}

/** Makes the writer of one record type. Undefined becomes null. */
export function recordArrayOf<Item>(columns: RecordColumns<Item>): RecordWriter<Item> {
  const values = Object.values(columns);
  const write = (items: readonly Item[]): string => `{${items.map((item) => recordOf(values, item)).join(',')}}`;
  return Object.assign(write, { attributes: Object.keys(columns) });
}

function recordOf<Item>(values: readonly ((item: Item) => Value)[], item: Item): string {
  let fields = '';
  for (const value of values) fields += `,${fieldOf(value(item))}`;
  return `"(${fields.slice(1)})"`;
}

/** Names and ids, nearly always: nothing in them has a meaning in a literal. */
const PLAIN = /^[\w.:@/+-]+$/;

function fieldOf(value: Value): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return PLAIN.test(value) ? value : quoteField(value);
  if (typeof value === 'object') return `\\"\\\\\\\\x${value.toString('hex')}\\"`; // As `quoteField` would write it.
  return String(value);
}

/** Quoted twice: as a field of a record, which is an item of an array. */
function quoteField(text: string): string {
  return escape(`"${escape(text)}"`);
}

function escape(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
