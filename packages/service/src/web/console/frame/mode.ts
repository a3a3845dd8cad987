import type { Mode } from '#kernel/values/ids.ts';

/** The mode that a page shows, by the `mode` of its address. Live, unless the address says otherwise. */
export function modeOf(query: URLSearchParams): Mode {
  return query.get('mode') === 'sandbox' ? 'sandbox' : 'live';
}

/** The address of a page of an app. `page` is empty for its home. Fields that are undefined or empty are left out. */
export function appPath(
  appId: string,
  page: string,
  mode: Mode,
  query: Readonly<Record<string, string | undefined>> = {},
): string {
  const all: Readonly<Record<string, string | undefined>> = { mode: mode === 'live' ? undefined : mode, ...query };
  const set = Object.entries(all).flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [[name, value]],
  );
  const text = new URLSearchParams(set).toString();
  return `/console/${appId}${page === '' ? '' : `/${page}`}${text === '' ? '' : `?${text}`}`;
}
