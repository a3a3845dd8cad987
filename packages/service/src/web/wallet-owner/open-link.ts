import type { AppProfile } from '#developers/apps/profile.ts';
import type { Connection } from '#connections/connection.ts';
import { beganAtMs, type Link } from '#connections/link.ts';
import type { Person } from '#people/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { errorSummary } from '#web/components/notices.ts';
import { appMark, button, card, linkLine } from '#web/components/parts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { nextField, SIGN_OUT, toSignIn } from '#web/wallet-owner/return-path.ts';
import { LINK_TEXTS } from '#web/wallet-owner/texts.ts';
import type { WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

/** A signed link that a person who is signed in has opened. */
export interface OpenedLink {
  readonly services: WalletOwnerServices;
  readonly request: WalletOwnerRequest;
  readonly link: Link;
  readonly app: AppProfile;
  readonly person: Person;
  /** This person's connection for the link's app and user. Undefined if the wallet is somebody else's: pages then have nothing to leak. */
  readonly connection: Connection | undefined;
  /** The cap that an operator set for a wallet without an owner. Its first owner is offered the same. */
  readonly capToClaim: Micros | undefined;
  /** The person already has another account at this app. If they have only one there, this link was meant for somebody else. */
  readonly isOneMore: boolean;
  /** The wallet is connected and belongs to another identity. Nothing of it may be shown (BI-04). */
  readonly isForeign: boolean;
}

const SANDBOX = 'sandbox';

/**
 * Opens the link in a page's address. If it cannot be opened, returns the page to show instead: the sandbox's page, one and the
 * same page for every link that is not valid, or the way to the sign-in, which leads back here. Opening changes nothing.
 */
export async function openLink(
  request: WalletOwnerRequest,
  page: 'topup' | 'connect',
): Promise<OpenedLink | PageResponse> {
  const { services } = request;
  if (request.part === SANDBOX) return sandboxPage(services);
  const link = await readLink(services, page, request.part);
  return openReadLink(request, `/${page}/${request.part}`, link);
}

/** The link in an address. Undefined if it is not valid, has expired, or its payment was made. */
export async function readLink(
  { links, checkouts }: WalletOwnerServices,
  page: 'topup' | 'connect',
  token: string,
): Promise<Link | undefined> {
  const link = links.read(page, token);
  const isSpent = link !== undefined && (await checkouts?.isSpent(link.digest)) === true;
  return isSpent ? undefined : link;
}

/** Does what `openLink` does with a link that was read already. `path`: the page that the sign-in leads back to. */
export async function openReadLink(
  request: WalletOwnerRequest,
  path: string,
  link: Link | undefined,
): Promise<OpenedLink | PageResponse> {
  const { services, signedIn: person } = request;
  const app = link && (await services.apps.find(link.appId));
  if (link === undefined || app === undefined) return voidLink(services);
  if (app.isSuspended) return suspendedApp(services, app);
  if (person === undefined) return toSignIn(path);
  const { identityId } = person.identity;
  const { appId, userId } = link;
  const seen = await services.connections.seenBy(identityId, { appId, userId, beganAtMs: beganAtMs(link) });
  // Nobody consents first and then reads that the link no longer works.
  return seen.isOutdated ? voidLink(services) : { services, request, link, app, person, ...seen };
}

/**
 * Answers a link that is forged, altered, expired, spent, or of another page. The answer never says which, so that
 * nobody learns by guessing (BI-04).
 */
export function voidLink(services: WalletOwnerServices): PageResponse {
  const body = card(
    errorSummary(LINK_TEXTS.voidLink),
    html`<p>${LINK_TEXTS.voidAdvice}</p>`,
    linkLine('/wallet', LINK_TEXTS.toWallet),
  );
  const refusal = refuse('NOT_FOUND', LINK_TEXTS.voidLink);
  return showWalletOwnerPage(services, { title: LINK_TEXTS.voidTitle, body, refusal });
}

/** Who is signed in, and a button to sign in as somebody else and come back to `then`. */
export function signedInAs({ request, person }: OpenedLink, then: string): Html {
  const fields = html`${nextField(then)}
${button(LINK_TEXTS.notYou, { kind: 'quiet' })}`;
  return html`<div class="soft">
<p>${LINK_TEXTS.signedInAs} <strong>${person.identity.email}</strong></p>
${request.form(SIGN_OUT, fields)}
</div>`;
}

function sandboxPage(services: WalletOwnerServices): PageResponse {
  const body = card(html`<p>${LINK_TEXTS.sandbox}</p>`, html`<p class="soft">${LINK_TEXTS.sandboxForDevelopers}</p>`);
  return showWalletOwnerPage(services, { title: LINK_TEXTS.sandboxTitle, body });
}

function suspendedApp(services: WalletOwnerServices, app: AppProfile): PageResponse {
  const said = LINK_TEXTS.suspended(app.name);
  const body = card(appMark(app), errorSummary(said), html`<p>${LINK_TEXTS.suspendedAdvice}</p>`);
  const refusal = refuse('APP_SUSPENDED', said);
  return showWalletOwnerPage(services, { title: LINK_TEXTS.suspendedTitle(app.name), body, refusal });
}

/**
 * A link back to the app, for somebody who came from it. Its address is the app's own, from the allow-list as it
 * is now, never from the request: this page sends nobody anywhere else (BI-02).
 */
export function backLine({ name, returnUri }: Pick<AppProfile, 'name' | 'returnUri'>): Html | undefined {
  return returnUri === undefined ? undefined : linkLine(returnUri, LINK_TEXTS.backTo(name));
}
