/** A page that somebody asks for: what comes after the place `before`, or the newest, and at most so much. */
export interface AskedPage {
  readonly before: string | undefined;
  readonly most: number;
}

/** A page of what was found. Pass `next` to get the page after it; undefined on the last one. */
interface FoundPage<Row> {
  readonly rows: readonly Row[];
  readonly next: string | undefined;
}

/** Reads a page of rows that are in the order of their numbers, the newest first. */
export async function readPage<Row>(
  { before, most }: AskedPage,
  read: (page: { readonly before: bigint | undefined; readonly most: number }) => Promise<readonly Row[]>,
  numberOf: (last: Row) => bigint,
): Promise<FoundPage<Row>> {
  const found = await read({ before: before === undefined ? undefined : BigInt(before), most: most + 1 });
  return cutPage(found, most, (last) => String(numberOf(last)));
}

/** Cuts what was found to a page. One more than it holds was read: only its presence shows that there is a next page. */
export function cutPage<Row>(found: readonly Row[], most: number, placeOf: (last: Row) => string): FoundPage<Row> {
  const rows = found.slice(0, most);
  const last = found.length > most ? rows.at(-1) : undefined;
  return { rows, next: last && placeOf(last) };
}
