import { acceptConsent, consentPage, consentStep } from '#web/connect/consent.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { beginTopup, type TopupStep, topupStep } from '#web/topup/topup-step.ts';
import { type OpenedLink, openLink, openReadLink, voidLink } from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { AppProfile } from '#developers/apps/profile.ts';
import { type Link, redirectName } from '#connections/link.ts';
import { html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { appMark, buttonLink, card } from '#web/components/parts.ts';
import { capPage, noticeOf, setCap } from '#web/topup/cap-refused.ts';

interface OpenedConnectLink extends OpenedLink {
  readonly link: ConnectLink;
  /** Where people go back to the app. It is on the app's allow-list now, not only when the link was made (BI-02). */
  readonly redirectUri: string;
}

/** Asks for consent. Opening it changes nothing: apps, previews and mail scanners open links too. */
const askPage: WalletOwnerMethods = {
  GET: async (request) => {
    const opened = await openConnect(request);
    if ('status' in opened) return opened;
    return consentPage(opened, waysOf(request));
  },
};

/** Takes the consent and goes on to the amounts. */
const consentForm: WalletOwnerMethods = {
  GET: ({ part }) => redirectTo(`/connect/${part}`),
  POST: async (request, form) => {
    const opened = await openConnect(request);
    if ('status' in opened) return opened;
    const accepted = await acceptConsent(opened, form, waysOf(request));
    if ('status' in accepted) return accepted;
    // A new link, because somebody who still has to pay may need longer than is left of the old one's fifteen minutes.
    return redirectTo(`${new URL(request.services.links.connect(opened.link).url).pathname}/topup`);
  },
};

/** The same form, for somebody on the way to a top-up page. No app waits, so there is nothing to cancel. */
const topupConsentForm: WalletOwnerMethods = {
  GET: ({ part }) => redirectTo(`/topup/${part}`),
  POST: async (request, form) => {
    const opened = await openLink(request, 'topup');
    const path = `/topup/${request.part}`;
    if ('status' in opened) return opened;
    if (opened.isForeign) return redirectTo(path);
    const accepted = await acceptConsent(opened, form, { path, cancelPath: undefined });
    return 'status' in accepted ? accepted : redirectTo(`${path}?${JUST_CONNECTED}`);
  },
};

/** The wallet is connected. The next step is to pay, now or later. */
const topupPage: WalletOwnerMethods = {
  GET: (request) =>
    openConnected(request, (opened) => {
      const notice = `${CONNECT_TEXTS.doneTitle(opened.app.name)}. ${CONNECT_TEXTS.done}`;
      return topupStep(topupOf(opened), { notice });
    }),
  POST: (request, form) => openConnected(request, (opened) => beginTopup(form, topupOf(opened))),
};

/** Opens the link, and goes on only if the wallet is connected. If it is not, consent comes first. */
async function openConnected(
  request: WalletOwnerRequest,
  goOn: (opened: OpenedConnectLink) => Promise<PageResponse>,
): Promise<PageResponse> {
  const opened = await openConnect(request);
  if ('status' in opened) return opened;
  if (opened.connection?.wallet.isConnected !== true) return redirectTo(`/connect/${request.part}`);
  return goOn(opened);
}

function topupOf(opened: OpenedConnectLink): TopupStep {
  const { path } = waysOf(opened.request);
  return { opened, path, action: `${path}/topup`, next: `${path}/done`, isLastStep: true };
}

/**
 * Leads back to the app with `status=connected`, only if it is connected. The link may have expired while somebody
 * paid: it is read all the same.
 */
const donePage: WalletOwnerMethods = {
  GET: async (request) => {
    const { services, part } = request;
    const { path } = waysOf(request);
    const opened = checked(services, await openReadLink(request, path, services.links.readPast(part)));
    if ('status' in opened) return opened;
    if (opened.connection?.wallet.isConnected !== true) return redirectTo(path);
    return wayBack(services, opened.app, backTo(opened.redirectUri, opened.link.state, 'connected'));
  },
};

/**
 * Leads back to the app without connecting. It takes the button of a page that we showed to this browser: an address of
 * ours that led anybody who opens it to an address of an app's choice could be used to lend that address our name.
 */
const cancelForm: WalletOwnerMethods = {
  GET: ({ services, part }) => {
    const isKnown = services.links.readPast(part)?.purpose === 'connect';
    return isKnown ? redirectTo(`/connect/${part}`) : voidLink(services);
  },
  POST: async ({ services, part }) => {
    const link = services.links.readPast(part);
    const app = link && (await services.apps.find(link.appId));
    if (link?.purpose !== 'connect' || app === undefined) return voidLink(services);
    const redirectUri = redirectOf(link, app);
    return redirectUri === undefined
      ? noWayBack(services, app)
      : wayBack(services, app, backTo(redirectUri, link.state, 'cancelled'));
  },
};

/** The pages to which an app sends people to connect a wallet, and from which they go back to it (ON-01). */
export const connectPages: Readonly<Record<string, WalletOwnerMethods>> = {
  '/connect/:part': askPage,
  '/connect/:part/consent': consentForm,
  '/connect/:part/topup': topupPage,
  '/connect/:part/done': donePage,
  '/connect/:part/cancel': cancelForm,
  '/topup/:part/consent': topupConsentForm,
};

/** Opens the link of a page under `/connect`. */
async function openConnect(request: WalletOwnerRequest): Promise<OpenedConnectLink | PageResponse> {
  return checked(request.services, await openLink(request, 'connect'));
}

/** Checks that there is a way back. Whether the wallet has another owner shows only in what consent is answered (WA-02). */
function checked(services: WalletOwnerServices, opened: OpenedLink | PageResponse): OpenedConnectLink | PageResponse {
  if ('status' in opened) return opened;
  const { link, app } = opened;
  const redirectUri = link.purpose === 'connect' ? redirectOf(link, app) : undefined;
  if (link.purpose !== 'connect' || redirectUri === undefined) return noWayBack(services, app);
  return { ...opened, link, redirectUri };
}

/** The paths of a link: its own page, and the way out. */
function waysOf({ part }: WalletOwnerRequest) {
  return { path: `/connect/${part}`, cancelPath: `/connect/${part}/cancel` };
}

type ConnectLink = Extract<Link, { readonly purpose: 'connect' }>;

/** The address back: one of the allow-list as it is now, found by the digest in the link (BI-02). Undefined if it was removed. */
function redirectOf(link: ConnectLink, { redirectUris }: AppProfile): string | undefined {
  return redirectUris.find((one) => redirectName(one) === link.redirect);
}

/** The address back, with what came of it. An allow-listed address has no fragment, but may have a query, which stays as it is. */
function backTo(redirectUri: string, state: string | undefined, status: 'connected' | 'cancelled'): string {
  const joint = redirectUri.includes('?') ? '&' : '?';
  const said = state === undefined ? '' : `&state=${encodeURIComponent(state)}`;
  return `${redirectUri}${joint}status=${status}${said}`;
}

/**
 * Leads the browser back with a page that goes on by itself. A redirect would not do: the policy lets forms end at our own addresses
 * only, and browsers apply it to every redirect after a form, also to those of the app.
 */
function wayBack(services: WalletOwnerServices, app: AppProfile, url: string): PageResponse {
  const body = card(appMark(app), buttonLink(url, CONNECT_TEXTS.backTo(app.name)));
  return showWalletOwnerPage(services, { title: CONNECT_TEXTS.leavingTitle(app.name), body, goesTo: url });
}

/** The app has removed the address from its allow-list since it made the link. */
function noWayBack(services: WalletOwnerServices, { name }: AppProfile): PageResponse {
  const said = CONNECT_TEXTS.gone(name);
  const body = card(errorSummary(said), html`<p>${CONNECT_TEXTS.goneAdvice}</p>`);
  return showWalletOwnerPage(services, { title: CONNECT_TEXTS.goneTitle, body, refusal: refuse('NOT_FOUND', said) });
}

/**
 * The pages that the links of 402 answers lead to (BI-04). They ask for consent if there is none, then for a new cap or the
 * end of a pause if one of them refused the call, then for an amount.
 */
export const topupLinkPages: Readonly<Record<string, WalletOwnerMethods>> = {
  '/topup/:part': {
    GET: (request) =>
      openTopup(request, (opened) => {
        const isAboutCap = opened.link.purpose === 'cap' && !opened.isForeign;
        return isAboutCap ? capPage(opened) : topupStep(stepOf(opened));
      }),
  },
  '/topup/:part/cap': {
    GET: toLink,
    POST: (request, form) =>
      openTopup(request, (opened) => (opened.isForeign ? toLink(request) : setCap(opened, form))),
  },
  '/topup/:part/pay': {
    GET: (request) =>
      openTopup(request, (opened) => {
        const notice = opened.isForeign ? undefined : noticeOf(request.exchange.query, opened.app.name);
        return topupStep(stepOf(opened), { notice });
      }),
    POST: (request, form) => openTopup(request, (opened) => beginTopup(form, stepOf(opened))),
  },
};

/** The page of the link itself, for an address that takes a form and shows nothing. */
function toLink({ part }: WalletOwnerRequest): PageResponse {
  return redirectTo(`/topup/${part}`);
}

/** Asks for consent first, unless the wallet is somebody else's: anybody may pay into that, as a gift. */
async function openTopup(
  request: WalletOwnerRequest,
  goOn: (opened: OpenedLink) => Promise<PageResponse> | PageResponse,
): Promise<PageResponse> {
  const opened = await openLink(request, 'topup');
  if ('status' in opened) return opened;
  const at = { path: `/topup/${request.part}`, cancelPath: undefined };
  return (opened.isForeign ? undefined : consentStep(opened, at)) ?? goOn(opened);
}

/** The query by which the page of the amounts knows that it follows the consent. It proves nothing. */
const JUST_CONNECTED = 'connected=now';

function stepOf(opened: OpenedLink) {
  const { part, exchange } = opened.request;
  const isLastStep = exchange.query === JUST_CONNECTED && opened.connection !== undefined;
  return { opened, path: `/topup/${part}`, action: `/topup/${part}/pay`, next: undefined, isLastStep };
}
