import type { AppProfile } from '#developers/apps/profile.ts';
import { redirectName, type Link } from '#connections/link.ts';
import { html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { appMark } from '#web/components/app-mark.ts';
import { buttonLink } from '#web/components/button.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { CONNECT_TEXTS } from '#web/connect/texts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { refusedBy } from '#web/frame/responses.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import type { WalletOwnerServices } from '#web/wallet-owner/services.ts';

export type ConnectLink = Extract<Link, { readonly purpose: 'connect' }>;

/** The address back: one of the allow-list as it is now, found by the digest in the link (BI-02). Undefined if it was removed. */
export function redirectOf(link: ConnectLink, { redirectUris }: AppProfile): string | undefined {
  return redirectUris.find((one) => redirectName(one) === link.redirect);
}

/** The address back, with what came of it. An allow-listed address has no fragment, but may have a query, which stays as it is. */
export function backTo(redirectUri: string, state: string | undefined, status: 'connected' | 'cancelled'): string {
  const joint = redirectUri.includes('?') ? '&' : '?';
  const said = state === undefined ? '' : `&state=${encodeURIComponent(state)}`;
  return `${redirectUri}${joint}status=${status}${said}`;
}

/**
 * Leads the browser back with a page that goes on by itself. A redirect would not do: the policy lets forms end at our own addresses
 * only, and browsers apply it to every redirect after a form, also to those of the app.
 */
export function wayBack(services: WalletOwnerServices, app: AppProfile, url: string): PageResponse {
  const body = card(appMark(app), buttonLink(url, CONNECT_TEXTS.backTo(app.name)));
  return {
    status: 200,
    page: walletOwnerPage(services, { title: CONNECT_TEXTS.leavingTitle(app.name), body, goesTo: url }),
  };
}

/** The app has removed the address from its allow-list since it made the link. */
export function noWayBack(services: WalletOwnerServices, { name }: AppProfile): PageResponse {
  const said = CONNECT_TEXTS.gone(name);
  const body = card(errorSummary(said), html`<p>${CONNECT_TEXTS.goneAdvice}</p>`);
  const page = walletOwnerPage(services, { title: CONNECT_TEXTS.goneTitle, body, isError: true });
  return refusedBy(refuse('NOT_FOUND', said), page);
}
