/** The tables named by a parameter, and the parts of those that have some: their rows are counted there. */
export const partsOf = (tables: string): string =>
  `(select t from unnest(${tables}::regclass[]) t union select p.relid from unnest(${tables}::regclass[]) t, pg_partition_tree(t) p)`;

/** The same for receipts. */
export const PARTS_OF_CALLS = partsOf(`'{usage.calls}'`);
