import type { AppFace } from '#accounts/app-face.ts';
import type { Connection } from '#connections/connection.ts';
import type { Link } from '#connections/link.ts';
import { type Html, html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/page-shell.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/wallet-owner-services.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';
import { nextField, SIGN_OUT, toSignIn } from '#web/wallet-owner/return-path.ts';
import { type PageResponse, refusedBy, type PageRequest } from '#web/frame/page-handlers.ts';
import type { Identity, Person } from '#identities/session.ts';
import type { Micros } from '#kernel/micros.ts';
import { refuse } from '#kernel/refusal.ts';

export type WalletOwnerRequest = PageRequest<Person>;

/** A signed link in the hands of somebody who is signed in. */
export interface OpenedLink {
  readonly link: Link;
  readonly app: AppFace;
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
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  page: 'topup' | 'connect',
): Promise<OpenedLink | PageResponse> {
  if (request.part === SANDBOX) return { status: 200, page: sandboxPage(services) };
  return openReadLink(services, request, `/${page}/${request.part}`, await readLink(services, page, request.part));
}

/** The link that an address holds; undefined for whatever is none in force, a spent one too. */
export async function readLink(
  { links, checkouts }: WalletOwnerServices,
  page: 'topup' | 'connect',
  token: string,
): Promise<Link | undefined> {
  const link = links.read(page, token);
  const isSpent = link !== undefined && (await checkouts?.isSpent(link.digest)) === true;
  return isSpent ? undefined : link;
}

/** The same with a link that was read. `path`: where the sign-in leads back to. */
export async function openReadLink(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  path: string,
  link: Link | undefined,
): Promise<OpenedLink | PageResponse> {
  const { signedIn: person } = request;
  const app = link && (await services.apps.find(link.appId));
  if (link === undefined || app === undefined) return voidLink(services);
  if (app.isSuspended) return suspendedApp(services, app);
  if (person === undefined) return toSignIn(path);
  const found = await services.connections.find(link.appId, link.userId);
  const isForeign = found !== undefined && found.identityId !== person.identity.identityId;
  const capToClaim = found === undefined ? await services.connections.capToClaim(link.appId, link.userId) : undefined;
  const isOneMore =
    found === undefined && (await services.connections.knowsApp(person.identity.identityId, link.appId));
  return { link, app, person, connection: isForeign ? undefined : found, capToClaim, isOneMore, isForeign };
}

/** A link that is forged, altered, expired, spent or another page's: which of them, nobody is told (BI-04). */
export function voidLink(services: WalletOwnerServices): PageResponse {
  const body = html`<div class="card">
${alertOf(LINK_TEXTS.voidLink)}
<p>${LINK_TEXTS.voidAdvice}</p>
<p><a href="/wallet">${LINK_TEXTS.toWallet}</a></p>
</div>`;
  const refusal = refuse('NOT_FOUND', LINK_TEXTS.voidLink);
  return refusedBy(refusal, walletOwnerPage(services, { title: LINK_TEXTS.voidTitle, body, isError: true }));
}

/** Who is signed in, and the way to be somebody else and come back to `then`. */
export function signedInAs(request: WalletOwnerRequest, { email }: Identity, then: string): Html {
  const fields = html`${nextField(then)}
<button class="quiet">${LINK_TEXTS.notYou}</button>`;
  return html`<div class="soft">
<p>${LINK_TEXTS.signedInAs} <strong>${email}</strong></p>
${request.form(SIGN_OUT, fields)}
</div>`;
}

/** For another identity than the wallet's. `way`: here, and the way back. */
export function foreignPage(
  services: WalletOwnerServices,
  request: WalletOwnerRequest,
  { app, person }: OpenedLink,
  way: { readonly path: string; readonly back: Html },
): PageResponse {
  const said = LINK_TEXTS.foreign(app.name);
  const body = html`<div class="card">
${appMark(app)}
${alertOf(said)}
<p>${LINK_TEXTS.foreignAdvice}</p>
${way.back}
</div>
${signedInAs(request, person.identity, way.path)}`;
  const page = walletOwnerPage(services, { title: LINK_TEXTS.foreignTitle, body, isError: true });
  return refusedBy(refuse('FORBIDDEN', said), page);
}

function sandboxPage(services: WalletOwnerServices): Html {
  const body = html`<div class="card">
<p>${LINK_TEXTS.sandbox}</p>
<p class="soft">${LINK_TEXTS.sandboxForDevelopers}</p>
</div>`;
  return walletOwnerPage(services, { title: LINK_TEXTS.sandboxTitle, body });
}

function suspendedApp(services: WalletOwnerServices, app: AppFace): PageResponse {
  const said = LINK_TEXTS.suspended(app.name);
  const body = html`<div class="card">
${appMark(app)}
${alertOf(said)}
<p>${LINK_TEXTS.suspendedAdvice}</p>
</div>`;
  const page = walletOwnerPage(services, { title: LINK_TEXTS.suspendedTitle(app.name), body, isError: true });
  return refusedBy(refuse('APP_SUSPENDED', said), page);
}
