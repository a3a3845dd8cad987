/**
 * PostgreSQL array literals for batched statements: arrays of single values, and arrays of records. The driver could build
 * arrays, but it takes each item through its type rules. A join is several times faster, and this is the hot path.
 *
 * A record is a composite type in the database and a table of columns here, in the same order. A test compares the two. One
 * such parameter costs the server about half as much as one array for each column.
 */

/**
 * Writes an array of items that need no quotes: numbers, booleans, UUIDs. Undefined becomes null. Use `textArray` for
 * anything that a caller sent.
 */
export function plainArray(items: readonly (number | bigint | boolean | string | undefined)[]): string {
  return `{${items.map((item) => item ?? 'null').join(',')}}`;
}

/** Writes an array of texts and quotes each. Undefined becomes null. */
export function textArray(items: readonly (string | undefined)[]): string {
  return `{${items.map((item) => (item === undefined ? 'null' : quoteItem(item))).join(',')}}`;
}

const SPECIAL = /["\\]/;

function quoteItem(text: string): string {
  if (!SPECIAL.test(text)) return `"${text}"`; // Nearly every text is a name or an id, with nothing to escape.
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

type Value = number | bigint | boolean | string | Buffer | undefined;

/** The fields of an item that have a value of a column. */
type FieldsOf<Item> = { [Field in keyof Item]-?: Item[Field] extends Value ? Field : never }[keyof Item];

/** The field with the value of each attribute of a composite type, or how to get it. The order is that of the attributes. */
type RecordColumns<Item> = Readonly<Record<string, FieldsOf<Item> | ((item: Item) => Value)>>;

/** Writes arrays of one record type. `attributes` is for the test that compares it with the database. */
interface RecordWriter<Item> {
  (items: readonly Item[]): string;
  readonly attributes: readonly string[];
}

/** Makes the writer for one record type. Undefined becomes null. */
export function recordArrayOf<Item>(columns: RecordColumns<Item>): RecordWriter<Item> {
  const values = Object.values(columns);
  const write = (items: readonly Item[]): string => `{${items.map((item) => recordOf(values, item)).join(',')}}`;
  return Object.assign(write, { attributes: Object.keys(columns) });
}

function recordOf<Item>(values: readonly RecordColumns<Item>[string][], item: Item): string {
  // Concatenated without an array in between, and by index: this runs for every call, and an iterator is an object for each value.
  let fields = '"(';
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at] as RecordColumns<Item>[string];
    const text = fieldOf(typeof value === 'function' ? value(item) : (item[value] as Value));
    fields += at === 0 ? text : `,${text}`;
  }
  return `${fields})"`;
}

/** Text that needs no quotes in a literal. Nearly all values are names and ids, which match. */
const PLAIN = /^[\w.:@/+-]+$/;

function fieldOf(value: Value): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return PLAIN.test(value) ? value : quoteField(value);
  if (typeof value === 'object') return `\\"\\\\\\\\x${value.toString('hex')}\\"`; // As `quoteField` would write it, without its searches.
  return String(value);
}

/** Quotes twice, because the text is a field of a record and the record is an item of an array. */
function quoteField(text: string): string {
  return escape(`"${escape(text)}"`);
}

function escape(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
