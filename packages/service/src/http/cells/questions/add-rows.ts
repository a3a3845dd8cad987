/** Adds up rows of several cells. */

interface Costing {
  readonly name: string;
  readonly charged_micros: bigint;
  readonly calls: bigint;
}

/** The name of a row of a series. */
export const timeOf = ({ at }: { readonly at: Date }) => String(at.getTime());

export function inTime<Row extends { readonly at: Date }>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted((one, other) => one.at.getTime() - other.at.getTime());
}

/** Sorts groups as the database does: what cost most first, then what was called most. */
export function costliest<Row extends Costing>(rows: readonly Row[]): readonly Row[] {
  return rows.toSorted(
    (one, other) =>
      Number(other.charged_micros - one.charged_micros) ||
      Number(other.calls - one.calls) ||
      (one.name < other.name ? -1 : 1),
  );
}

/** The rows of all cells, those of one name as one. */
export function added<Row extends object>(
  cells: readonly (readonly Row[])[],
  nameOf: (row: Row) => string,
): readonly Row[] {
  const byName = Map.groupBy(cells.flat(), nameOf);
  return Array.from(byName.values(), (rows) => sumOf(rows)).filter((row) => row !== undefined);
}

/** Adds what is a number, or counts by bucket. Names and times are those of the first. */
export function sumOf<Row extends object>(rows: readonly Row[]): Row | undefined {
  const [first, ...others] = rows;
  if (first === undefined || others.length === 0) return first;
  const sum = { ...first } as Record<string, unknown>;
  for (const row of others) {
    for (const [field, value] of Object.entries(row)) {
      const before = sum[field];
      if (typeof before === 'bigint' && typeof value === 'bigint') sum[field] = before + value;
      if (Array.isArray(before) && Array.isArray(value)) {
        sum[field] = before.map((count, bucket) => Number(count) + Number(value[bucket] ?? 0));
      }
    }
  }
  return sum as Row;
}
