import { type AppRole, isAtLeast, leastRoleOf } from '@purser/contract/access.ts';
import type { App, OwnApps } from '#developers/app.ts';
import type { PlaygroundKeys } from '#developers/keys/playground-keys.ts';
import type { SignedIn } from '#developers/sessions/session.ts';
import { roleTooLow } from '#developers/teams/role.ts';
import type { Catalogue } from '#catalogue/catalogue.ts';
import type { OwnCalls } from '#http/listener/own-calls.ts';
import type { ControlPlane } from '#http/planes/control-plane.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { parseId, type Mode } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { CONSOLE_SCRIPT } from '#web/assets/console-script.ts';
import { breadcrumbs, button, pager } from '#web/components/parts.ts';
import { errorSummary, warningNotice } from '#web/components/notices.ts';
import { appPath, modeOf } from '#web/console/frame/mode.ts';
import { APP_PAGES } from '#web/console/frame/navigation.ts';
import { CONSOLE_TEXTS as TEXTS } from '#web/console/frame/texts.ts';
import type { Cookies } from '#web/frame/cookies.ts';
import {
  type ActingRequest,
  type PageMethods,
  type PageRequest,
  type PageResponse,
  redirectTo,
  refusalPage,
} from '#web/frame/page.ts';
import { consoleDocument, ownerHeader } from '#web/frame/owner-page.ts';
import type { Frame } from '#web/frame/page-shell.ts';
import type { Form } from '#web/forms/form.ts';

/** What the routes of app owners act on, and these pages too. */
type OfRoutes =
  | ('apps' | 'teams' | 'logos' | 'audit' | 'appUsers' | 'usedSessions' | 'readBudgets' | 'stats' | 'traces')
  | ('appUsage' | 'sandboxWallets' | 'testTokens' | 'listenTokens' | 'subscriptions' | 'deliveries' | 'sendTestEvent')
  | ('whenEverywhere' | 'publicUrl' | 'currency' | 'clock' | 'addressOf');

/** Everything that the pages of the console act on. */
export interface ConsoleServices extends Pick<ControlPlane, OfRoutes> {
  readonly catalogue: Pick<Catalogue, 'find' | 'list'>;
  readonly playgroundKeys: PlaygroundKeys;
  /** Calls of the playground go through the data plane of this process, with keys that work once. */
  readonly ownCalls: OwnCalls;
  readonly cookies: Cookies;
  readonly frame: Frame;
}

export type ConsoleRequest = ActingRequest<SignedIn, ConsoleServices>;
export type ConsoleMethods = PageMethods<SignedIn, ConsoleRequest>;

/** One request for a page of an app, by somebody who may see this app. */
export interface AppRequest {
  readonly services: ConsoleServices;
  readonly request: PageRequest;
  readonly signedIn: SignedIn;
  /** The owner, as the audit trail names them. */
  readonly owner: Parameters<OwnApps['change']>[0];
  readonly app: App;
  /** What this person may do with the app. A page shows no form that needs more. */
  readonly role: AppRole;
  /** Whether this person may send a form to a page, such as `settings`, in the mode that is shown. */
  readonly may: (page: string) => boolean;
  /** Stands in place of a form that they may not send. */
  readonly tooLow: () => Html;
  readonly mode: Mode;
  /** The address of another page of this app, in the same mode. */
  readonly to: (page: string, query?: Readonly<Record<string, string | undefined>>) => string;
  /** An amount in the currency of this service, exact to the micro. */
  readonly amountOf: (amount: Micros) => string;
}

interface AppPageMethods {
  readonly GET?: (asked: AppRequest) => Promise<PageResponse> | PageResponse;
  readonly POST?: (asked: AppRequest, form: Form) => Promise<PageResponse> | PageResponse;
}

/**
 * A page under `/console/:part`, for members of the app whose role suffices for the page (packages/contract/src/access.ts); a form may need
 * a higher role than looking. Visitors who are not signed in are led to the sign-in. An app of somebody else is answered exactly
 * like one that does not exist (AU-06). Where the mode of a key decides, it is the mode of the address: such a page has only keys of that mode.
 */
export function forApp({ GET, POST }: AppPageMethods): ConsoleMethods {
  return {
    ...(GET === undefined ? {} : { GET: (request) => answer('GET', request, GET) }),
    ...(POST === undefined ? {} : { POST: (request, form) => answer('POST', request, (asked) => POST(asked, form)) }),
  };
}

async function answer(
  method: 'GET' | 'POST',
  request: ConsoleRequest,
  show: (asked: AppRequest) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const { services, signedIn, exchange } = request;
  if (signedIn === undefined) return redirectTo('/sign-in');
  const { accountId, email } = signedIn.account;
  const appId = parseId('app', request.part);
  const member = appId === undefined ? undefined : await services.apps.membership(accountId, appId);
  if (member === undefined) return noSuchApp(services);
  const { app, role } = member;
  const mode = modeOf(request.query);
  const [, , , ...page] = exchange.path.split('/');
  const tooLow = roleTooLow(role, leastRoleOf(pageNameOf(method, page.join('/')), mode));
  if (tooLow !== undefined) return refusalPage({ home: toAppHome(app, mode), frame: services.frame }, tooLow);
  return show({
    services,
    request,
    signedIn,
    owner: { accountId, email, from: services.addressOf(exchange.request) },
    app,
    role,
    may: (to) => isAtLeast(role, leastRoleOf(pageNameOf('POST', to), mode)),
    tooLow: () => html`<p class="soft">${TEXTS.notAllowed}</p>`,
    mode,
    to: (page, query) => appPath(app.appId, page, mode, query),
    amountOf: (amount) => request.formats.amount(amount, services.currency),
  });
}

/** A page as the table of least roles names it. */
function pageNameOf(method: 'GET' | 'POST', page: string): string {
  return `${method} /console/:part${page === '' ? '' : `/${page}`}`;
}

function toAppHome({ appId, name }: App, mode: Mode) {
  return { path: appPath(appId, '', mode), name };
}

function noSuchApp({ frame }: ConsoleServices): PageResponse {
  return refusalPage({ home: { path: '/console', name: TEXTS.toConsole }, frame }, refuse('NOT_FOUND', TEXTS.noApp));
}

/** Stands in place of a live act that an account may not do before its e-mail is proven. Undefined if it may. */
export function verifyFirst({ mode, request, signedIn }: AppRequest): Html | undefined {
  const { email, isEmailVerified } = signedIn.account;
  if (mode === 'sandbox' || isEmailVerified) return undefined;
  return html`<p>${TEXTS.verifyFirst(email)}</p>
${request.form('/account/verify/send', button(TEXTS.sendAgain))}`;
}

interface ConsolePage {
  readonly title: string;
  readonly body: Html;
  /** Which entry of the navigation leads here, such as `keys`. */
  readonly page: string;
  /** The name of a page below an entry of the navigation, such as one key. The entry's name is then a link. */
  readonly above?: string;
  /** The page must show its message. The answer has its status. */
  readonly refusal?: Refusal | undefined;
}

/** A page of one app: header, navigation, where one is, and the switch between live and sandbox. */
export function showAppPage(
  { services: { frame }, request, app, mode, to }: AppRequest,
  { title, body, page, above, refusal }: ConsolePage,
): PageResponse {
  const crumbs = [
    { href: '/console', text: TEXTS.apps },
    ...(page === '' ? [] : [{ href: to(''), text: app.name }]),
    ...(above === undefined ? [] : [{ href: to(page), text: above }]),
  ];
  const content = html`${ownerHeader(frame, request)}
${mode === 'sandbox' ? html`<p class="band">${TEXTS.sandboxBand}</p>` : undefined}
<nav class="side" aria-label="${TEXTS.sections}">
<div class="switch" role="group" aria-label="${TEXTS.mode}">${modeLink('live')}${modeLink('sandbox')}</div>
<ul>
${APP_PAGES.map((one) => html`<li><a href="${to(one.page)}"${current(one.page === page)}>${one.text}</a></li>\n`)}</ul>
</nav>
<main>
${breadcrumbs(TEXTS.path, crumbs, page === '' ? app.name : title)}
<h1>${title}</h1>
${app.status === 'suspended' ? warningNotice(TEXTS.suspended) : undefined}
${body}
</main>`;
  const look = mode === 'sandbox' ? 'console sandbox' : 'console';
  return consoleDocument(frame, { title, look, content, refusal, script: CONSOLE_SCRIPT });

  /** Another mode begins at the entry of the navigation: what a page below it shows may not exist there. */
  function modeLink(which: 'live' | 'sandbox'): Html {
    return html`<a href="${appPath(app.appId, page, which)}"${current(which === mode)}>${TEXTS[which]}</a>`;
  }
}

/** A page that says that what its address names is not there. */
export function showMissing(
  asked: AppRequest,
  where: Omit<ConsolePage, 'body' | 'refusal'>,
  text: string,
  body = html`${errorSummary(text)}`,
): PageResponse {
  return showAppPage(asked, { ...where, body, refusal: refuse('NOT_FOUND', text) });
}

interface ListPart {
  /** What the address has besides, and keeps. */
  readonly kept?: Readonly<Record<string, string | undefined>>;
  /** The field of the address that says where the part begins. */
  readonly by: 'after' | 'before';
  /** Where this part begins. Undefined if it is the first. */
  readonly from: string | undefined;
  /** Where the next one begins. Undefined if this is the last. */
  readonly next: string | undefined;
}

/** The ways from a part of a list of this page to the first part and to the next. */
export function partsPager(
  { to }: AppRequest,
  page: string,
  { kept, by, from, next }: ListPart,
  { newest, older }: { readonly newest: string; readonly older: string },
): Html | undefined {
  return pager({
    newer: from === undefined ? undefined : { href: to(page, kept), text: newest },
    older: next === undefined ? undefined : { href: to(page, { ...kept, [by]: next }), text: older },
  });
}

function current(isCurrent: boolean): Html | undefined {
  return isCurrent ? html` aria-current="page"` : undefined;
}
