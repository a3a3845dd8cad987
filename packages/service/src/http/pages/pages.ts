import type { AccountPages } from '#http/pages/account-pages.ts';
import { accountPage, changePasswordPage, endSessionPage } from '#http/pages/account.ts';
import { createCookies } from '#http/pages/cookies.ts';
import { askResetPage, useResetPage } from '#http/pages/password-reset.ts';
import { signInPage, signOutPage } from '#http/pages/sign-in.ts';
import { type PageMethods, pageHandlers } from '#http/pages/visit.ts';
import { deriveKey } from '#kernel/crypto.ts';
import type { Log } from '#kernel/log.ts';

interface PagesOptions extends Omit<AccountPages, 'cookies'> {
  readonly secret: Buffer;
  readonly publicUrl: string;
  readonly log: Log;
}

/** Each page by its path, with a handler for each method that it takes. */
export type PageRoutes = ReadonlyMap<string, ReturnType<typeof pageHandlers>>;

/** The pages of people with accounts. They work without scripts. */
export function createPages({ secret, publicUrl, log, ...shared }: PagesOptions): PageRoutes {
  const { origin, protocol } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  const cookies = createCookies(isSecure);
  const pages = { ...shared, cookies };
  const visits = {
    cookies,
    findSession: shared.sessions.find,
    key: deriveKey(secret, 'page-form'),
    // Without TLS this machine has several names, and none of them is another's.
    isOwnOrigin: (shown: string, host: string | undefined) =>
      shown === origin || (!isSecure && shown === `http://${host}`),
    log,
  };
  const all: Readonly<Record<string, PageMethods>> = {
    '/sign-in': signInPage(pages),
    '/sign-out': signOutPage(pages),
    '/account': accountPage(pages),
    '/account/sessions': endSessionPage(pages),
    '/account/password': changePasswordPage(pages),
    '/password-reset': askResetPage(pages),
    '/password-reset/use': useResetPage(pages),
  };
  return new Map(Object.entries(all).map(([path, methods]) => [path, pageHandlers(visits, methods)]));
}
