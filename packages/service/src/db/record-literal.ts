/**
 * PostgreSQL literals of arrays of records, for batched statements. A record is a composite type in the database and a table
 * of columns here, in the same order. A test compares the two. One such parameter costs the server about half as much as
 * one array for each column.
 */

type Value = number | bigint | boolean | string | Buffer | undefined;

/** How to get the value of each attribute of a composite type from an item. The order is that of the attributes. */
type RecordColumns<Item> = Readonly<Record<string, (item: Item) => Value>>;

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

function recordOf<Item>(values: readonly ((item: Item) => Value)[], item: Item): string {
  // Concatenated without an array in between: this runs for every call.
  let fields = '';
  for (const value of values) fields += `,${fieldOf(value(item))}`;
  return `"(${fields.slice(1)})"`;
}

/** Text that needs no quotes in a literal. Nearly all values are names and ids, which match. */
const PLAIN = /^[\w.:@/+-]+$/;

function fieldOf(value: Value): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return PLAIN.test(value) ? value : quote(value);
  if (typeof value === 'object') return quote(`\\x${value.toString('hex')}`);
  return String(value);
}

/** Quotes twice, because the text is a field of a record and the record is an item of an array. */
function quote(text: string): string {
  return escape(`"${escape(text)}"`);
}

function escape(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
