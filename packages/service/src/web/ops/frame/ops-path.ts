/** Fields of an address. Those that are undefined or empty are left out. */
export type Query = Readonly<Record<string, string | undefined>>;

/** The address of a page for operators. `page` is empty for the overview. */
export function opsPath(page: string, query: Query = {}): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
  const text = new URLSearchParams(set).toString();
  return `/ops${page === '' ? '' : `/${page}`}${text === '' ? '' : `?${text}`}`;
}
