import type { AppProfile } from '#accounts/app-profile.ts';
import { type Link, redirectName } from '#connections/link.ts';
import { acceptConsent, consentPage } from '#web/connect/consent.ts';
import { html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/layout.ts';
import {
  foreignPage,
  type OpenedLink,
  openLink,
  type PersonVisit,
  visitLink,
  voidLink,
} from '#web/person/link-visit.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import { beginTopup, type TopupStep, topupStep } from '#web/topup/topup-step.ts';
import { type PageAnswer, type PageMethods, redirectTo, refusedBy } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';
import { refuse } from '#kernel/refusal.ts';

type ConnectLink = Extract<Link, { readonly purpose: 'connect' }>;

interface OpenedConnectLink extends OpenedLink {
  readonly link: ConnectLink;
  /** Where the app takes people back, by its allow-list of now (BI-02). */
  readonly redirectUri: string;
}

/** Where an app sends people to connect a wallet, and from where they go back to it (ON-01). */
export function connectPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/connect/:part': askPage(pages),
    '/connect/:part/consent': consentForm(pages),
    '/connect/:part/topup': topupPage(pages),
    '/connect/:part/done': donePage(pages),
    '/connect/:part/cancel': cancelPage(pages),
    '/topup/:part/consent': topupConsentForm(pages),
  };
}

/** Opening it changes nothing, and may be repeated. */
function askPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: async (visit) => {
      const opened = await openConnect(pages, visit);
      if ('status' in opened) return opened;
      return consentPage(pages, visit, opened, waysOf(visit));
    },
  };
}

function consentForm(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: ({ part }) => redirectTo(`/connect/${part}`),
    POST: async (visit, form) => {
      const opened = await openConnect(pages, visit);
      if ('status' in opened) return opened;
      const accepted = await acceptConsent(pages, visit, form, opened, waysOf(visit));
      if (accepted === 'foreign') return redirectTo(`/connect/${visit.part}`);
      if ('status' in accepted) return accepted;
      // A new link: what is left of the old one may be too short for somebody who has still to pay.
      return redirectTo(`${new URL(pages.links.connect(opened.link).url).pathname}/topup`);
    },
  };
}

/** The same form on the way to a top-up page. */
function topupConsentForm(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: ({ part }) => redirectTo(`/topup/${part}`),
    POST: async (visit, form) => {
      const opened = await openLink(pages, visit, 'topup');
      const path = `/topup/${visit.part}`;
      if ('status' in opened) return opened;
      if (opened.isForeign) return redirectTo(path);
      const accepted = await acceptConsent(pages, visit, form, opened, { path, cancelPath: undefined });
      return accepted !== 'foreign' && 'status' in accepted ? accepted : redirectTo(path);
    },
  };
}

/** Connected: what is next is to pay, now or later. */
function topupPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: (visit) =>
      openConnected(pages, visit, (opened) => {
        const notice = `${CONNECT_TEXTS.doneTitle(opened.app.name)}. ${CONNECT_TEXTS.done}`;
        return topupStep(pages, visit, topupOf(visit, opened), { notice });
      }),
    POST: (visit, form) =>
      openConnected(pages, visit, (opened) => beginTopup(pages, visit, form, topupOf(visit, opened))),
  };
}

async function openConnected(
  pages: PeoplePages,
  visit: PersonVisit,
  goOn: (opened: OpenedConnectLink) => Promise<PageAnswer>,
): Promise<PageAnswer> {
  const opened = await openConnect(pages, visit);
  if ('status' in opened) return opened;
  if (opened.connection?.wallet.isConnected !== true) return redirectTo(`/connect/${visit.part}`);
  return goOn(opened);
}

function topupOf(visit: PersonVisit, opened: OpenedConnectLink): TopupStep {
  const { path } = waysOf(visit);
  return { opened, path, action: `${path}/topup`, next: `${path}/done` };
}

/** Back to the app, which hears that it is connected: only where that is so. The link may have expired meanwhile. */
function donePage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: async (visit) => {
      const { path } = waysOf(visit);
      const opened = checked(pages, visit, await visitLink(pages, visit, path, pages.links.readPast(visit.part)));
      if ('status' in opened) return opened;
      if (opened.connection?.wallet.isConnected !== true) return redirectTo(path);
      return wayBack(pages, opened.app, backTo(opened.redirectUri, opened.link.state, 'connected'));
    },
  };
}

/** Back to the app without connecting. Nothing has changed, so nobody need be signed in. */
function cancelPage(pages: PeoplePages): PageMethods<Person> {
  return {
    GET: async ({ part }) => {
      const link = pages.links.readPast(part);
      const app = link && (await pages.apps.find(link.appId));
      if (link?.purpose !== 'connect' || app === undefined) return voidLink(pages);
      const redirectUri = redirectOf(link, app);
      return redirectUri === undefined
        ? noWayBack(pages, app)
        : wayBack(pages, app, backTo(redirectUri, link.state, 'cancelled'));
    },
  };
}

async function openConnect(pages: PeoplePages, visit: PersonVisit): Promise<OpenedConnectLink | PageAnswer> {
  return checked(pages, visit, await openLink(pages, visit, 'connect'));
}

/** There must be a way back, and the wallet must be this person’s or nobody’s. */
function checked(
  pages: PeoplePages,
  visit: PersonVisit,
  opened: OpenedLink | PageAnswer,
): OpenedConnectLink | PageAnswer {
  if ('status' in opened) return opened;
  const { link, app, isForeign } = opened;
  const redirectUri = link.purpose === 'connect' ? redirectOf(link, app) : undefined;
  if (link.purpose !== 'connect' || redirectUri === undefined) return noWayBack(pages, app);
  if (isForeign) {
    const { path, cancelPath } = waysOf(visit);
    const back = html`<p><a href="${cancelPath}">${CONNECT_TEXTS.backTo(app.name)}</a></p>`;
    return foreignPage(pages, visit, opened, { path, back });
  }
  return { ...opened, link, redirectUri };
}

function waysOf({ part }: PersonVisit) {
  return { path: `/connect/${part}`, cancelPath: `/connect/${part}/cancel` };
}

function redirectOf(link: ConnectLink, { redirectUris }: AppProfile): string | undefined {
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
function wayBack(pages: PeoplePages, app: AppProfile, url: string): PageAnswer {
  const body = html`<div class="card">
${appMark(app)}
<p><a class="button" href="${url}">${CONNECT_TEXTS.backTo(app.name)}</a></p>
</div>`;
  return { status: 200, page: personPage(pages, { title: CONNECT_TEXTS.leavingTitle(app.name), body, goesTo: url }) };
}

/** The app has taken the address off its list since it made the link. */
function noWayBack(pages: PeoplePages, { name }: AppProfile): PageAnswer {
  const said = CONNECT_TEXTS.gone(name);
  const body = html`<div class="card">
${alertOf(said)}
<p>${CONNECT_TEXTS.goneAdvice}</p>
</div>`;
  const page = personPage(pages, { title: CONNECT_TEXTS.goneTitle, body, isError: true });
  return refusedBy(refuse('NOT_FOUND', said), page);
}
