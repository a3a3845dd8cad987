import type { SignedIn } from '#accounts/session.ts';
import type { PageHandlers, PageRoutes } from '#http/page-routes.ts';
import type { AccountServices } from '#web/account/account-services.ts';
import { accountPage, changePasswordPage, endSessionPage } from '#web/account/account-page.ts';
import { checkoutPages } from '#web/topup/checkout-pages.ts';
import { connectPages } from '#web/connect/connect-pages.ts';
import { createCookies } from '#web/frame/cookies.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { passkeyPages } from '#web/sign-in/passkeys.ts';
import { emailCodePages } from '#web/sign-in/email-code.ts';
import { askResetPage, useResetPage } from '#web/account/password-reset.ts';
import { signInPage, signOutPage } from '#web/account/owner-sign-in.ts';
import { startPage } from '#web/start/start-page.ts';
import { testProcessorPages } from '#web/test-processor/test-processor-pages.ts';
import { topupLinkPages } from '#web/connect/topup-link-pages.ts';
import { REFUSAL_TEXTS } from '#web/frame/texts.ts';
import { type PageMethods, pageHandlers, type Audience, type PageHandlerOptions } from '#web/frame/page-handlers.ts';
import { walletPages } from '#web/wallet/wallet-pages.ts';
import type { Person } from '#identities/session.ts';
import { deriveKey } from '#kernel/crypto.ts';
import type { Log } from '#kernel/log.ts';

interface PagesOptions extends Omit<AccountServices, 'cookies' | 'frame'> {
  readonly people: Omit<WalletOwnerServices, 'cookies'>;
  readonly secret: Buffer;
  readonly publicUrl: string;
  readonly log: Log;
}

const PART = ':part';

/** The pages of people with accounts, and of those who own wallets. They work without scripts. */
export function createPages({ secret, publicUrl, log, people, ...shared }: PagesOptions): PageRoutes {
  const { origin, protocol } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  const cookies = createCookies(isSecure);
  const { operatorName, supportEmail } = people;
  const frame = { operatorName, supportEmail };
  const pages = { ...shared, cookies, frame };
  const visits = {
    cookies,
    key: deriveKey(secret, 'page-form'),
    // Without TLS this machine has several names, and none of them is another's.
    isOwnOrigin: (shown: string, host: string | undefined) =>
      shown === origin || (!isSecure && shown === `http://${host}`),
    log,
  };
  const owners: Audience<SignedIn> = {
    cookie: 'session',
    find: shared.sessions.find,
    home: { path: '/account', name: REFUSAL_TEXTS.toAccount },
    frame,
  };
  const ofAccounts: Readonly<Record<string, PageMethods>> = {
    '/': startPage(frame),
    '/sign-in': signInPage(pages),
    '/sign-out': signOutPage(pages),
    '/account': accountPage(pages),
    '/account/sessions': endSessionPage(pages),
    '/account/password': changePasswordPage(pages),
    '/password-reset': askResetPage(pages),
    '/password-reset/use': useResetPage(pages),
  };
  const walletOwners: Audience<Person> = {
    cookie: 'person',
    find: people.sessions.find,
    home: { path: '/wallet', name: REFUSAL_TEXTS.toWallet },
    frame: { ...frame, isTestMoney: people.isTestMoney },
  };
  const forPeople: WalletOwnerServices = { ...people, cookies };
  const ofPeople: Readonly<Record<string, PageMethods<Person>>> = {
    ...walletPages(forPeople),
    ...emailCodePages(forPeople),
    ...passkeyPages(forPeople),
    ...connectPages(forPeople),
    ...topupLinkPages(forPeople),
    ...checkoutPages(forPeople),
    ...(people.testBank === undefined ? {} : testProcessorPages(forPeople, people.testBank)),
  };
  return routesOf(new Map([...handlersOf(visits, owners, ofAccounts), ...handlersOf(visits, walletOwners, ofPeople)]));
}

function handlersOf<Who>(
  visits: PageHandlerOptions,
  audience: Audience<Who>,
  all: Readonly<Record<string, PageMethods<Who>>>,
): readonly (readonly [string, PageHandlers])[] {
  return Object.entries(all).map(([path, methods]) => [path, pageHandlers(visits, audience, path, methods)]);
}

/** A page's path may name one of its parts `:part`: `/connect/:part/consent`. */
function routesOf(pages: ReadonlyMap<string, PageHandlers>): PageRoutes {
  return (path) => {
    if (path.includes(PART)) return undefined; // As declared, not as asked for.
    const whole = pages.get(path);
    if (whole !== undefined) return { handlers: whole, part: '' };
    const [, first, part, ...rest] = path.split('/');
    if (part === undefined || part === '') return undefined;
    const handlers = pages.get(['', first, PART, ...rest].join('/'));
    return handlers && { handlers, part };
  };
}
