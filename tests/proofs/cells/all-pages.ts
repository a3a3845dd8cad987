import type { Person } from '../../support/control.ts';

/** All rows of a list of operators, page by page. `path` has a query, and `cursor` is the name of the parameter for the next page. */
export async function allPages<Row>(
  operator: Person,
  path: string,
  list: string,
  cursor: string,
): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let next: string | null = ''; next !== null; ) {
    const page: Record<string, unknown> = await operator.get(200, 'GET', `${path}${next}`);
    rows.push(...(page[list] as Row[]));
    next = page['next'] === null ? null : `&${cursor}=${page['next'] as string}`;
  }
  return rows;
}
