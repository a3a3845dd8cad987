import type { AppProfile } from '#accounts/app-profile.ts';
import type { Connection } from '#connections/connection.ts';
import type { Link } from '#connections/link.ts';
import { type Html, html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/layout.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { LINK_TEXTS } from '#web/person/texts.ts';
import { nextField, SIGN_OUT, toSignIn } from '#web/components/return-path.ts';
import { type PageAnswer, refusedBy, type Visit } from '#web/frame/visit.ts';
import type { Identity, Person } from '#identities/session.ts';
import type { Micros } from '#kernel/micros.ts';
import { refuse } from '#kernel/refusal.ts';

export type PersonVisit = Visit<Person>;

/** A signed link in the hands of somebody who is signed in. */
export interface OpenedLink {
  readonly link: Link;
  readonly app: AppProfile;
  readonly person: Person;
  /** This person's, for the (app, user) of the link. */
  readonly connection: Connection | undefined;
  /** The cap that an operator set for a wallet which is nobody's yet: its first owner is offered the same. */
  readonly capToClaim: Micros | undefined;
  /** This would be one more account of this person's at the app: if he has but one there, it is not his. */
  readonly isOneMore: boolean;
  /** The wallet is another identity's: nothing of it may be shown (BI-04). */
  readonly isForeign: boolean;
}

const SANDBOX = 'sandbox';

/**
 * Opens the link that a page's address holds, or answers instead: the sandbox's page; one calm page for whatever is no link
 * in force; the sign-in, which leads back here. Changes nothing, however often.
 */
export async function openLink(
  pages: PeoplePages,
  visit: PersonVisit,
  page: 'topup' | 'connect',
): Promise<OpenedLink | PageAnswer> {
  if (visit.part === SANDBOX) return { status: 200, page: sandboxPage(pages) };
  return visitLink(pages, visit, `/${page}/${visit.part}`, await readLink(pages, page, visit.part));
}

/** The link that an address holds; undefined for whatever is none in force, a spent one too. */
export async function readLink(
  { links, checkouts }: PeoplePages,
  page: 'topup' | 'connect',
  token: string,
): Promise<Link | undefined> {
  const link = links.read(page, token);
  const isSpent = link !== undefined && (await checkouts?.isSpent(link.digest)) === true;
  return isSpent ? undefined : link;
}

/** The same with a link that was read. `path`: where the sign-in leads back to. */
export async function visitLink(
  pages: PeoplePages,
  visit: PersonVisit,
  path: string,
  link: Link | undefined,
): Promise<OpenedLink | PageAnswer> {
  const { signedIn: person } = visit;
  const app = link && (await pages.apps.find(link.appId));
  if (link === undefined || app === undefined) return voidLink(pages);
  if (app.isSuspended) return suspendedApp(pages, app);
  if (person === undefined) return toSignIn(path);
  const found = await pages.connections.find(link.appId, link.userId);
  const isForeign = found !== undefined && found.identityId !== person.identity.identityId;
  const capToClaim = found === undefined ? await pages.connections.capToClaim(link.appId, link.userId) : undefined;
  const isOneMore = found === undefined && (await pages.connections.knowsApp(person.identity.identityId, link.appId));
  return { link, app, person, connection: isForeign ? undefined : found, capToClaim, isOneMore, isForeign };
}

/** A link that is forged, altered, expired, spent or another page's: which of them, nobody is told (BI-04). */
export function voidLink(pages: PeoplePages): PageAnswer {
  const body = html`<div class="card">
${alertOf(LINK_TEXTS.voidLink)}
<p>${LINK_TEXTS.voidAdvice}</p>
<p><a href="/wallet">${LINK_TEXTS.toWallet}</a></p>
</div>`;
  const refusal = refuse('NOT_FOUND', LINK_TEXTS.voidLink);
  return refusedBy(refusal, personPage(pages, { title: LINK_TEXTS.voidTitle, body, isError: true }));
}

/** Who is signed in, and the way to be somebody else and come back to `then`. */
export function signedInAs(visit: PersonVisit, { email }: Identity, then: string): Html {
  const fields = html`${nextField(then)}
<button class="quiet">${LINK_TEXTS.notYou}</button>`;
  return html`<div class="soft">
<p>${LINK_TEXTS.signedInAs} <strong>${email}</strong></p>
${visit.form(SIGN_OUT, fields)}
</div>`;
}

/** For another identity than the wallet's. `way`: here, and the way back. */
export function foreignPage(
  pages: PeoplePages,
  visit: PersonVisit,
  { app, person }: OpenedLink,
  way: { readonly path: string; readonly back: Html },
): PageAnswer {
  const said = LINK_TEXTS.foreign(app.name);
  const body = html`<div class="card">
${appMark(app)}
${alertOf(said)}
<p>${LINK_TEXTS.foreignAdvice}</p>
${way.back}
</div>
${signedInAs(visit, person.identity, way.path)}`;
  const page = personPage(pages, { title: LINK_TEXTS.foreignTitle, body, isError: true });
  return refusedBy(refuse('FORBIDDEN', said), page);
}

function sandboxPage(pages: PeoplePages): Html {
  const body = html`<div class="card">
<p>${LINK_TEXTS.sandbox}</p>
<p class="soft">${LINK_TEXTS.sandboxForDevelopers}</p>
</div>`;
  return personPage(pages, { title: LINK_TEXTS.sandboxTitle, body });
}

function suspendedApp(pages: PeoplePages, app: AppProfile): PageAnswer {
  const said = LINK_TEXTS.suspended(app.name);
  const body = html`<div class="card">
${appMark(app)}
${alertOf(said)}
<p>${LINK_TEXTS.suspendedAdvice}</p>
</div>`;
  const page = personPage(pages, { title: LINK_TEXTS.suspendedTitle(app.name), body, isError: true });
  return refusedBy(refuse('APP_SUSPENDED', said), page);
}
