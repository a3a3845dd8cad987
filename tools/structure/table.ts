/** Rows of names, each with the names that it may import. */
export type Table = Readonly<Record<string, readonly string[]>>;

/** Reads rows such as `audit: 'kernel db'`. A row may name only rows above it, so no table can allow a cycle. */
export function tableOf(rows: Readonly<Record<string, string>>): Table {
  const table: Record<string, readonly string[]> = {};
  for (const [row, text] of Object.entries(rows)) {
    const names = text.split(/\s+/).filter((name) => name !== '');
    const below = names.find((name) => !Object.hasOwn(table, name));
    if (below !== undefined) throw new Error(`The row "${row}" names "${below}", which is not a row above it.`);
    table[row] = names;
  }
  return table;
}
