/**
 * PostgreSQL literals of arrays of records, for batched statements. A record is a composite type in the database and a table
 * of columns here, in the same order; a test compares the two. One such parameter costs the server about half of what an
 * array for each column costs.
 */

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
  if (typeof value === 'string') return PLAIN.test(value) ? value : quote(value);
  if (typeof value === 'object') return `\\"\\\\\\\\x${value.toString('hex')}\\"`; // As `quote` would write it.
  return String(value);
}

/** Quoted twice: as a field of a record, which is an item of an array. */
function quote(text: string): string {
  return escape(`"${escape(text)}"`);
}

function escape(text: string): string {
  return text.replace(/["\\]/g, '\\$&');
}
