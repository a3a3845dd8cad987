import { leastRoleOf } from '@purser/contract/access.ts';
import { operatorAccessOf } from '@purser/contract/operator-access.ts';
import { factorRefusal, type OperatorRules } from '#developers/operators/role.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import type { PlaygroundKeys } from '#developers/keys/playground-keys.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import type { OperatorPlane } from '#http/planes/operator-plane.ts';
import type { OwnCalls } from '#http/listener/own-calls.ts';
import type { PageHandlers, PageRoutes } from '#http/listener/page-routes.ts';
import type { Person } from '#people/session.ts';
import type { ProofKeys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import type { ServiceStatus } from '#status/status.ts';
import { accountPages } from '#web/account/pages.ts';
import { connectPages, topupLinkPages } from '#web/connect/pages.ts';
import { consolePages } from '#web/console/pages.ts';
import { iconPages } from '#web/frame/icon-pages.ts';
import { type Cookies, createCookies } from '#web/frame/cookies.ts';
import { actingOn, type Audience, type PageMethods, type PageRequest, redirectTo } from '#web/frame/page.ts';
import type { Frame } from '#web/frame/page-shell.ts';
import type { PagePace } from '#web/serving/page-pace.ts';
import { type PageHandlerOptions, pageHandlers } from '#web/serving/page-handlers.ts';
import { REFUSAL_TEXTS } from '#web/frame/texts.ts';
import { signInPages } from '#web/sign-in/pages.ts';
import { startPage } from '#web/start/start-page.ts';
import { statusPage } from '#web/status/status-page.ts';
import { testProcessorPages } from '#web/test-processor/pages.ts';
import { guidesPages } from '#web/guides/pages.ts';
import { opsPages } from '#web/ops/pages.ts';
import { checkoutPages } from '#web/topup/pages.ts';
import { dataPages } from '#web/wallet-data/pages.ts';
import { walletPages } from '#web/wallet/pages.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

interface PagesOptions {
  /** What the routes of app owners act on, the pages of accounts and the console act on too. */
  readonly control: ControlPlane;
  readonly operator: OperatorPlane;
  readonly walletOwners: Omit<WalletOwnerServices, 'cookies'>;
  readonly rules: OperatorRules;
  readonly catalogue: Pick<Catalogue, 'find' | 'list'>;
  readonly playgroundKeys: PlaygroundKeys;
  readonly ownCalls: OwnCalls;
  /** The keys that sign the proofs of forms. */
  readonly formKeys: ProofKeys;
  readonly isDevelopment: boolean;
  /** Reads the status of the service. It is undefined if there is no status page. */
  readonly readStatus: (() => Promise<ServiceStatus>) | undefined;
  readonly pace: PagePace;
  readonly log: Log;
}

/** How a path names its variable part. */
const PART = ':part';

/** All pages, for two audiences that sign in apart from each other. */
export function createPages(given: PagesOptions): PageRoutes {
  const { control, walletOwners, rules, formKeys, pace, log } = given;
  const { publicUrl, addressOf } = control;
  const { origin, protocol } = new URL(publicUrl);
  const isSecure = protocol === 'https:';
  const cookies = createCookies(isSecure);
  const { operatorName, supportEmail, statusPage: shown } = walletOwners;
  const frame = { operatorName, supportEmail, statusPage: shown };
  const options = {
    cookies,
    keys: formKeys,
    // Without TLS the service is on a developer's machine, which has several names (localhost, 127.0.0.1). Its pages move to the one in our links.
    isOwnOrigin: (shown: string, host: string | undefined) =>
      shown === origin || (!isSecure && shown === `http://${host}`),
    publicUrl,
    addressOf,
    pace,
    log,
  };
  const forAccounts: Audience<SignedIn> = {
    cookie: 'session',
    find: control.sessions.find,
    nameOf: ({ account }) => account.accountId,
    home: { path: '/account', name: REFUSAL_TEXTS.toAccount },
    frame,
  };
  const forWalletOwners: Audience<Person> = {
    cookie: 'person',
    find: walletOwners.sessions.find,
    nameOf: ({ identity }) => identity.identityId,
    home: { path: '/wallet', name: REFUSAL_TEXTS.toWallet },
    frame: { ...frame, isTestMoney: walletOwners.isTestMoney },
  };
  const ofAccounts = pagesOfAccounts(given, frame, cookies);
  assertRoles(ofAccounts);
  return routesOf(
    new Map([
      ...handlersOf(options, forAccounts, withFactors(ofAccounts, rules)),
      ...handlersOf(options, forWalletOwners, pagesOfWalletOwners({ ...walletOwners, cookies })),
    ]),
  );
}

/** A room's pages are one line here, with what they act on. */
function pagesOfAccounts(given: PagesOptions, frame: Frame, cookies: Cookies): Readonly<Record<string, PageMethods>> {
  const { control, operator, rules, catalogue, playgroundKeys, ownCalls, readStatus, isDevelopment } = given;
  const { accounts, sessions, isRegistrationOpen, stats, currency, clock, addressOf, inBackground } = control;
  return {
    '/': startPage({ frame, isRegistrationOpen, isDevelopment }),
    ...(readStatus === undefined ? {} : { '/status': statusPage({ frame, readStatus, clock }) }),
    ...iconPages(),
    ...accountPages({ accounts, sessions, isRegistrationOpen, cookies, frame, addressOf, inBackground }),
    ...guidesPages({ frame }),
    ...consolePages({ ...control, catalogue, playgroundKeys, ownCalls, cookies, frame }),
    ...opsPages({ operator, rules, stats, catalogue, currency, clock, frame }),
  };
}

function pagesOfWalletOwners(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return {
    ...actingOn(services, {
      ...walletPages(services),
      ...dataPages,
      ...signInPages(services),
      ...connectPages,
      ...topupLinkPages,
      ...checkoutPages,
    }),
    ...(services.testBank === undefined ? {} : testProcessorPages(services, services.testBank)),
  };
}

/** Leads operators without the second factor that they need to the page where they add one, from every page that is not for that. */
function withFactor(path: string, { GET, POST, ...others }: PageMethods, rules: OperatorRules): PageMethods {
  const first = ({ signedIn }: PageRequest) =>
    signedIn !== undefined && factorRefusal(signedIn, path, rules) !== undefined
      ? redirectTo('/account/second-factor')
      : undefined;
  return {
    ...others,
    ...(GET === undefined ? {} : { GET: (request) => first(request) ?? GET(request) }),
    ...(POST === undefined ? {} : { POST: (request, form) => first(request) ?? POST(request, form) }),
  };
}

function withFactors(pages: Readonly<Record<string, PageMethods>>, rules: OperatorRules) {
  return Object.fromEntries(Object.entries(pages).map(([path, page]) => [path, withFactor(path, page, rules)]));
}

/** Every page of an app, and every page for operators, has a least role for each of its methods. Where one was forgotten, no page opens. */
function assertRoles(pages: Readonly<Record<string, PageMethods>>): void {
  for (const [path, methods] of Object.entries(pages)) {
    for (const method of Object.keys(methods).filter((name) => name === 'GET' || name === 'POST')) {
      if (path.startsWith(`/console/${PART}`)) leastRoleOf(`${method} ${path}`);
      if (path === '/ops' || path.startsWith('/ops/')) operatorAccessOf(`${method} ${path}`);
    }
  }
}

/** The audience is in the type, so that a page for accounts cannot be given to wallet owners by mistake. */
function handlersOf<Who>(
  options: PageHandlerOptions,
  audience: Audience<Who>,
  pages: Readonly<Record<string, PageMethods<Who>>>,
): readonly (readonly [string, PageHandlers])[] {
  return Object.entries(pages).map(([path, methods]) => [path, pageHandlers(options, audience, path, methods)]);
}

/** Finds a page by its address. A path may have one variable part, always the second: `/connect/:part/consent`. */
function routesOf(pages: ReadonlyMap<string, PageHandlers>): PageRoutes {
  return (path) => {
    if (path.includes(PART)) return undefined; // Somebody typed a path as it is declared.
    const whole = pages.get(path);
    if (whole !== undefined) return { handlers: whole, part: '' };
    const [, first, part, ...rest] = path.split('/');
    if (part === undefined || part === '') return undefined;
    const handlers = pages.get(['', first, PART, ...rest].join('/'));
    return handlers && { handlers, part };
  };
}
