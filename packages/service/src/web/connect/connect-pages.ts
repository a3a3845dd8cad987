import type { AppFace } from '#accounts/app-face.ts';
import { type Link, redirectName } from '#connections/link.ts';
import { acceptConsent, consentPage } from '#web/connect/consent.ts';
import { html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/page-shell.ts';
import {
  foreignPage,
  type OpenedLink,
  openLink,
  type WalletOwnerRequest,
  openReadLink,
  voidLink,
} from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { beginTopup, type TopupStep, topupStep } from '#web/topup/topup-step.ts';
import { type PageResponse, type PageMethods, redirectTo, refusedBy } from '#web/frame/page-handlers.ts';
import type { Person } from '#identities/session.ts';
import { refuse } from '#kernel/refusal.ts';

type ConnectLink = Extract<Link, { readonly purpose: 'connect' }>;

interface OpenedConnectLink extends OpenedLink {
  readonly link: ConnectLink;
  /** Where the app takes people back, by its allow-list of now (BI-02). */
  readonly redirectUri: string;
}

/** Where an app sends people to connect a wallet, and from where they go back to it (ON-01). */
export function connectPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/connect/:part': askPage(services),
    '/connect/:part/consent': consentForm(services),
    '/connect/:part/topup': topupPage(services),
    '/connect/:part/done': donePage(services),
    '/connect/:part/cancel': cancelPage(services),
    '/topup/:part/consent': topupConsentForm(services),
  };
}

/** Opening it changes nothing, and may be repeated. */
function askPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      const opened = await openConnect(services, request);
      if ('status' in opened) return opened;
      return consentPage(services, request, opened, waysOf(request));
    },
  };
}

function consentForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: ({ part }) => redirectTo(`/connect/${part}`),
    POST: async (request, form) => {
      const opened = await openConnect(services, request);
      if ('status' in opened) return opened;
      const accepted = await acceptConsent(services, request, form, opened, waysOf(request));
      if (accepted === 'foreign') return redirectTo(`/connect/${request.part}`);
      if ('status' in accepted) return accepted;
      // A new link: what is left of the old one may be too short for somebody who has still to pay.
      return redirectTo(`${new URL(services.links.connect(opened.link).url).pathname}/topup`);
    },
  };
}

/** The same form on the way to a top-up page. */
function topupConsentForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: ({ part }) => redirectTo(`/topup/${part}`),
    POST: async (request, form) => {
      const opened = await openLink(services, request, 'topup');
      const path = `/topup/${request.part}`;
      if ('status' in opened) return opened;
      if (opened.isForeign) return redirectTo(path);
      const accepted = await acceptConsent(services, request, form, opened, { path, cancelPath: undefined });
      return accepted !== 'foreign' && 'status' in accepted ? accepted : redirectTo(path);
    },
  };
}

/** Connected: what is next is to pay, now or later. */
function topupPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: (request) =>
      openConnected(services, request, (opened) => {
        const notice = `${CONNECT_TEXTS.doneTitle(opened.app.name)}. ${CONNECT_TEXTS.done}`;
        return topupStep(services, request, topupOf(request, opened), { notice });
      }),
    POST: (request, form) =>
      openConnected(services, request, (opened) => beginTopup(services, request, form, topupOf(request, opened))),
  };
}

async function openConnected(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  goOn: (opened: OpenedConnectLink) => Promise<PageResponse>,
): Promise<PageResponse> {
  const opened = await openConnect(services, request);
  if ('status' in opened) return opened;
  if (opened.connection?.wallet.isConnected !== true) return redirectTo(`/connect/${request.part}`);
  return goOn(opened);
}

function topupOf(request: WalletOwnerRequest, opened: OpenedConnectLink): TopupStep {
  const { path } = waysOf(request);
  return { opened, path, action: `${path}/topup`, next: `${path}/done` };
}

/** Back to the app, which hears that it is connected: only where that is so. The link may have expired meanwhile. */
function donePage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      const { path } = waysOf(request);
      const opened = checked(
        services,
        request,
        await openReadLink(services, request, path, services.links.readPast(request.part)),
      );
      if ('status' in opened) return opened;
      if (opened.connection?.wallet.isConnected !== true) return redirectTo(path);
      return wayBack(services, opened.app, backTo(opened.redirectUri, opened.link.state, 'connected'));
    },
  };
}

/** Back to the app without connecting. Nothing has changed, so nobody need be signed in. */
function cancelPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async ({ part }) => {
      const link = services.links.readPast(part);
      const app = link && (await services.apps.find(link.appId));
      if (link?.purpose !== 'connect' || app === undefined) return voidLink(services);
      const redirectUri = redirectOf(link, app);
      return redirectUri === undefined
        ? noWayBack(services, app)
        : wayBack(services, app, backTo(redirectUri, link.state, 'cancelled'));
    },
  };
}

async function openConnect(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
): Promise<OpenedConnectLink | PageResponse> {
  return checked(services, request, await openLink(services, request, 'connect'));
}

/** There must be a way back, and the wallet must be this person’s or nobody’s. */
function checked(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  opened: OpenedLink | PageResponse,
): OpenedConnectLink | PageResponse {
  if ('status' in opened) return opened;
  const { link, app, isForeign } = opened;
  const redirectUri = link.purpose === 'connect' ? redirectOf(link, app) : undefined;
  if (link.purpose !== 'connect' || redirectUri === undefined) return noWayBack(services, app);
  if (isForeign) {
    const { path, cancelPath } = waysOf(request);
    const back = html`<p><a href="${cancelPath}">${CONNECT_TEXTS.backTo(app.name)}</a></p>`;
    return foreignPage(services, request, opened, { path, back });
  }
  return { ...opened, link, redirectUri };
}

function waysOf({ part }: WalletOwnerRequest) {
  return { path: `/connect/${part}`, cancelPath: `/connect/${part}/cancel` };
}

function redirectOf(link: ConnectLink, { redirectUris }: AppFace): string | undefined {
  return redirectUris.find((one) => redirectName(one) === link.redirect);
}

/** An address of the allow-list has no fragment, but may have a query: what it says is added to, not read. */
function backTo(redirectUri: string, state: string | undefined, status: 'connected' | 'cancelled'): string {
  const joint = redirectUri.includes('?') ? '&' : '?';
  const said = state === undefined ? '' : `&state=${encodeURIComponent(state)}`;
  return `${redirectUri}${joint}status=${status}${said}`;
}

/**
 * Leads the browser back by a page, not by a redirect: forms of ours may end at our own addresses alone, and browsers hold the
 * redirects after a form to that, those of the app too.
 */
function wayBack(services: WalletOwnerServices, app: AppFace, url: string): PageResponse {
  const body = html`<div class="card">
${appMark(app)}
<p><a class="button" href="${url}">${CONNECT_TEXTS.backTo(app.name)}</a></p>
</div>`;
  return {
    status: 200,
    page: walletOwnerPage(services, { title: CONNECT_TEXTS.leavingTitle(app.name), body, goesTo: url }),
  };
}

/** The app has taken the address off its list since it made the link. */
function noWayBack(services: WalletOwnerServices, { name }: AppFace): PageResponse {
  const said = CONNECT_TEXTS.gone(name);
  const body = html`<div class="card">
${alertOf(said)}
<p>${CONNECT_TEXTS.goneAdvice}</p>
</div>`;
  const page = walletOwnerPage(services, { title: CONNECT_TEXTS.goneTitle, body, isError: true });
  return refusedBy(refuse('NOT_FOUND', said), page);
}
