import type { Person } from '#people/session.ts';
import { acceptConsent, consentPage } from '#web/connect/consent.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { backTo, type ConnectLink, noWayBack, redirectOf, wayBack } from '#web/connect/way-back.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { JUST_CONNECTED } from '#web/connect/topup-link-pages.ts';
import { beginTopup, type TopupStep, topupStep } from '#web/topup/topup-step.ts';
import {
  type OpenedLink,
  openLink,
  openReadLink,
  voidLink,
  type WalletOwnerRequest,
} from '#web/wallet-owner/open-link.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

interface OpenedConnectLink extends OpenedLink {
  readonly link: ConnectLink;
  /** Where people go back to the app. It is on the app's allow-list now, not only when the link was made (BI-02). */
  readonly redirectUri: string;
}

/** The pages to which an app sends people to connect a wallet, and from which they go back to it (ON-01). */
export function connectPages(services: WalletOwnerServices): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/connect/:part': askPage(services),
    '/connect/:part/consent': consentForm(services),
    '/connect/:part/topup': topupPage(services),
    '/connect/:part/done': donePage(services),
    '/connect/:part/cancel': cancelForm(services),
    '/topup/:part/consent': topupConsentForm(services),
  };
}

/** Asks for consent. Opening it changes nothing: apps, previews and mail scanners open links too. */
function askPage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      const opened = await openConnect(services, request);
      if ('status' in opened) return opened;
      return consentPage(services, request, opened, waysOf(request));
    },
  };
}

/** Takes the consent and goes on to the amounts. */
function consentForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: ({ part }) => redirectTo(`/connect/${part}`),
    POST: async (request, form) => {
      const opened = await openConnect(services, request);
      if ('status' in opened) return opened;
      const accepted = await acceptConsent(services, request, form, opened, waysOf(request));
      if ('status' in accepted) return accepted;
      // A new link, because somebody who still has to pay may need longer than is left of the old one's fifteen minutes.
      return redirectTo(`${new URL(services.links.connect(opened.link).url).pathname}/topup`);
    },
  };
}

/** The same form, for somebody on the way to a top-up page. No app waits, so there is nothing to cancel. */
function topupConsentForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: ({ part }) => redirectTo(`/topup/${part}`),
    POST: async (request, form) => {
      const opened = await openLink(services, request, 'topup');
      const path = `/topup/${request.part}`;
      if ('status' in opened) return opened;
      if (opened.isForeign) return redirectTo(path);
      const accepted = await acceptConsent(services, request, form, opened, { path, cancelPath: undefined });
      return 'status' in accepted ? accepted : redirectTo(`${path}?${JUST_CONNECTED}`);
    },
  };
}

/** The wallet is connected. The next step is to pay, now or later. */
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

/** Opens the link, and goes on only if the wallet is connected. If it is not, consent comes first. */
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
  return { opened, path, action: `${path}/topup`, next: `${path}/done`, isLastStep: true };
}

/**
 * Leads back to the app with `status=connected`, only if it is connected. The link may have expired while somebody
 * paid: it is read all the same.
 */
function donePage(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async (request) => {
      const { path } = waysOf(request);
      const opened = checked(
        services,
        await openReadLink(services, request, path, services.links.readPast(request.part)),
      );
      if ('status' in opened) return opened;
      if (opened.connection?.wallet.isConnected !== true) return redirectTo(path);
      return wayBack(services, opened.app, backTo(opened.redirectUri, opened.link.state, 'connected'));
    },
  };
}

/**
 * Leads back to the app without connecting. It takes the button of a page that we showed to this browser: an address of
 * ours that led anybody who opens it to an address of an app's choice could be used to lend that address our name.
 */
function cancelForm(services: WalletOwnerServices): PageMethods<Person> {
  return {
    GET: async ({ part }) => {
      const isKnown = services.links.readPast(part)?.purpose === 'connect';
      return isKnown ? redirectTo(`/connect/${part}`) : voidLink(services);
    },
    POST: async ({ part }) => {
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

/** Opens the link of a page under `/connect`. */
async function openConnect(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
): Promise<OpenedConnectLink | PageResponse> {
  return checked(services, await openLink(services, request, 'connect'));
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
