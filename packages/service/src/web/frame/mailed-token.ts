import type { CookieName, Cookies } from '#web/frame/cookies.ts';
import { type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';

/** The form of a token. Anything else in the address is dropped, and the page says that the link is not complete. */
const TOKEN = /^[0-9A-Za-z]{1,256}$/;

/**
 * Moves the token of a mailed link from the address of `path` into a cookie at once, so that it stands in no history and no referrer.
 * Undefined if the address has none.
 */
export function keptToken(
  { services, query }: PageRequest & { readonly services: { readonly cookies: Cookies } },
  name: CookieName,
  path: string,
): PageResponse | undefined {
  const token = query.get('token');
  if (token === null) return undefined;
  return redirectTo(path, [services.cookies.write(name, TOKEN.test(token) ? token : undefined)]);
}
