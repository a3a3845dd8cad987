/** Rows of names, each with the names that it may import. */
export type Table = Readonly<Record<string, readonly string[]>>;

/**
 * Says what breaks the direction of a table: a row that names itself, a row below it, or a row that is not there. A table
 * in which each row names only rows above it cannot allow a cycle.
 */
export function breaksOfDirection(table: Table): readonly string[] {
  const above = new Set<string>();
  return Object.entries(table).flatMap(([row, targets]) => {
    const breaks = targets.filter((target) => !above.has(target));
    above.add(row);
    return breaks.map(
      (target) => `the row \`${row}\` names \`${target}\`, which is not a row above it. Reorder the rows.`,
    );
  });
}
