/** The address of a page for operators. `page` is empty for the overview. Fields that are undefined or empty are left out. */
export function opsPath(page: string, query: Readonly<Record<string, string | undefined>> = {}): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== '');
  const text = new URLSearchParams(set).toString();
  return `/ops${page === '' ? '' : `/${page}`}${text === '' ? '' : `?${text}`}`;
}
