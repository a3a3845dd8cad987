import { ICON, ICON_PATHS } from '#web/assets/icon.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** The icon, at its addresses. It is the same for everybody, so browsers may keep it for a day. */
export function iconPages(): Readonly<Record<string, PageMethods>> {
  const headers = { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' };
  const page: PageMethods = { isForAll: true, GET: () => ({ status: 200, file: { headers, text: ICON } }) };
  return Object.fromEntries(ICON_PATHS.map((path) => [path, page]));
}
