import type { AppProfile } from '#developers/apps/profile.ts';
import type { Connection } from '#connections/connection.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { type IdentityId, parseId } from '#kernel/values/ids.ts';
import type { Checkout } from '#payments/checkouts.ts';
import { appMark, button, buttonLink, definitionList, linkLine } from '#web/components/parts.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { errorSummary, warningNotice } from '#web/components/notices.ts';
import type { Formats } from '#web/format/formats.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { CHECKOUT_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { backLine } from '#web/wallet-owner/open-link.ts';
import { NEXT_PATH } from '#web/topup/topup-step.ts';
import { spendableOf, stateOf } from '#web/wallet-owner/owned-wallet.ts';
import { PASSKEYS } from '#web/wallet-owner/return-path.ts';
import type { WalletOwnerMethods, WalletOwnerRequest, WalletOwnerServices } from '#web/wallet-owner/services.ts';
import { showWalletOwnerPage, walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { scriptOf } from '#web/assets/page-policy.ts';

/** A checkout, with what the person looking at it may see. */
interface Arrival {
  readonly checkout: Checkout;
  readonly app: AppProfile;
  /**
   * The connection of the wallet. It is set only if the wallet's owner is looking, because others may not see what is
   * in it.
   */
  readonly connection: Connection | undefined;
  /** Where the payer goes on, as their browser remembers it. */
  readonly next: string | undefined;
  /** Whether to suggest a first passkey: to an owner who has none. */
  readonly offersPasskey: boolean;
}

/**
 * Makes the pages `/checkout/...`, where a payer waits for the money. Coming here proves no payment: only the
 * processor's notice does (ON-02).
 */
export const checkoutPages: Readonly<Record<string, WalletOwnerMethods>> = {
  '/checkout/:part': {
    GET: async (request) => {
      const arrival = await arrivalOf(request);
      return arrival === undefined ? gone(request.services) : arrivalPage(request, arrival);
    },
  },
};

/**
 * Returns undefined if there is no such checkout. Its id is random, so only people who were sent to the address know
 * it.
 */
async function arrivalOf(request: WalletOwnerRequest): Promise<Arrival | undefined> {
  const { services } = request;
  const checkoutId = parseId('checkout', request.part);
  const checkout = checkoutId === undefined ? undefined : await services.checkouts?.find(checkoutId);
  if (checkout === undefined) return undefined;
  const app = await services.apps.find(checkout.appId);
  if (app === undefined) return undefined;
  const connection = await services.connections.find(checkout.appId, checkout.userId);
  const isOwner = connection !== undefined && connection.identityId === request.signedIn?.identity.identityId;
  const [, next] = NEXT_PATH.exec(request.cookie('next')?.replace(`${checkout.checkoutId}:`, '') ?? '') ?? [];
  const arrival = { checkout, app, connection: isOwner ? connection : undefined, next };
  return { ...arrival, offersPasskey: isOwner && (await lacksPasskey(services, connection.identityId)) };
}

/** Passkeys are suggested here and not while signing in: nobody wants another step between them and paying. */
async function lacksPasskey({ passkeys }: WalletOwnerServices, identityId: IdentityId): Promise<boolean> {
  return passkeys.isPossible && (await passkeys.list(identityId)).length === 0;
}

/** Without scripts, the page reloads itself every three seconds. */
function arrivalPage(request: WalletOwnerRequest, arrival: Arrival): PageResponse {
  const { title, body } = shownOf(request, arrival);
  const isOpen = arrival.checkout.state === 'open';
  const waiting = html`<p class="hint" id="slow" hidden>${TEXTS.slow}</p>
<noscript><meta http-equiv="refresh" content="3"><p class="hint">${TEXTS.slow}</p></noscript>
${WAITING_SCRIPT.element}`;
  const whole = html`<section id="arrival" aria-live="polite">${appMark(arrival.app)}
${body}</section>
${isOpen ? waiting : undefined}`;
  const shown = showWalletOwnerPage(request.services, { title, body: whole });
  return isOpen ? { ...shown, needs: { script: WAITING_SCRIPT } } : shown;
}

function shownOf(request: WalletOwnerRequest, arrival: Arrival): { title: string; body: Html } {
  const { services, formats } = request;
  const { checkout } = arrival;
  if (checkout.state === 'paid') return { title: TEXTS.paidTitle, body: paid(request, arrival) };
  if (checkout.state === 'kept') {
    return {
      title: TEXTS.keptTitle,
      body: html`<p>${TEXTS.kept(services.operatorName)}</p>${facts(formats, arrival)}`,
    };
  }
  if (request.exchange.query !== 'paid=no') {
    return { title: TEXTS.openTitle, body: html`<p class="waiting">${TEXTS.open}</p>${facts(formats, arrival)}` };
  }
  const body = html`<p>${TEXTS.unpaid}</p>${facts(formats, arrival)}${wayToTryAgain(services, arrival)}`;
  return { title: TEXTS.unpaidTitle, body };
}

/** What was to be paid, and for which app. */
function facts(formats: Formats, { checkout, app }: Arrival): Html {
  return definitionList([
    [TEXTS.amount, formats.amount(checkout.amount, checkout.currency)],
    [TEXTS.app, app.name],
  ]);
}

/** The notice has no role of its own: it appears inside a live region, which a screen reader reads out anyway. */
function paid(request: WalletOwnerRequest, arrival: Arrival): Html {
  const { checkout, app, connection, next, offersPasskey } = arrival;
  const { amount } = request.formats;
  // The end of connecting tells the app what came of it. After any other payment, the app only gets its user back.
  const onward = next ?? app.returnUri;
  const stop = connection && spendingStopOf(request, app.name, connection);
  // What keeps the app from spending comes first: going back to it before would end in another refusal.
  const kind = stop === undefined ? undefined : 'quiet';
  const name = TEXTS.onTo(app.name);
  const way = onward === undefined ? html`<p>${TEXTS.backTo(app.name)}</p>` : buttonLink(onward, name, kind);
  return html`<p class="good">${TEXTS.paid(amount(checkout.amount, checkout.currency), app.name)}</p>
${connection && moneyOf(request.formats, connection)}
${stop}
${way}${connection && linkLine('/wallet', TEXTS.wallet)}
${offersPasskey ? html`<p class="soft">${TEXTS.passkey} <a href="${PASSKEYS}">${TEXTS.addPasskey}</a></p>` : undefined}`;
}

/** The balance too if it is not what can be spent: somebody who has just paid must see that their money is there. */
function moneyOf({ amount }: Formats, connection: Connection): Html {
  const { wallet } = connection;
  const spendable = spendableOf(connection);
  return definitionList([
    spendable === wallet.balance ? undefined : [TEXTS.balance, amount(wallet.balance, wallet.currency)],
    [TEXTS.available, amount(spendable, wallet.currency)],
  ]);
}

/** What keeps the app from spending the money that was just paid, and the way to change it (WA-03). */
function spendingStopOf(
  { services, form, formats }: WalletOwnerRequest,
  appName: string,
  connection: Connection,
): Html | undefined {
  const { connectionId, cap, wallet } = connection;
  const path = `/wallet/${connectionId}`;
  const state = stateOf(connection);
  if (state === 'blocked') return warningNotice(TEXTS.stillBlocked(services.operatorName));
  if (state === 'disconnected') {
    return html`${warningNotice(TEXTS.stillDisconnected(appName))}
${form(`${path}/reconnect`, button(TEXTS.connect))}`;
  }
  if (state === 'paused') {
    return html`${warningNotice(TEXTS.stillPaused(appName))}
${form(`${path}/pause`, html`${hiddenField('paused', 'no')}${button(TEXTS.resume)}`)}`;
  }
  const spendable = spendableOf(connection);
  if (cap === undefined || spendable === wallet.available) return undefined;
  const [limit, room] = [formats.amount(cap, wallet.currency), formats.amount(spendable, wallet.currency)];
  const said = spendable === 0n ? TEXTS.stillCapped(appName, limit) : TEXTS.partlyCapped(appName, limit, room);
  return html`<p class="alert">${said} <a href="${path}#spending">${TEXTS.changeCap}</a></p>`;
}

/** A new link, for the owner only. Others may know the address of a checkout, and must not get a link to the wallet by it. */
function wayToTryAgain({ links }: WalletOwnerServices, { connection, app, next }: Arrival): Html {
  if (connection === undefined) return html`<p>${TEXTS.tryFromApp(app.name)}</p>${backLine(app)}`;
  const path = next?.replace(/\/done$/, '/topup') ?? new URL(links.topup(connection)).pathname;
  return html`${buttonLink(path, TEXTS.tryAgain)}${next === undefined ? backLine(app) : undefined}`;
}

function gone(services: WalletOwnerServices): PageResponse {
  const body = html`${errorSummary(TEXTS.gone)}
${linkLine('/wallet', TEXTS.wallet)}`;
  return { status: 404, page: walletOwnerPage(services, { title: TEXTS.goneTitle, body, isError: true }) };
}

/**
 * Gets the page again every second until the payment has arrived, and then shows the new content in place of the old: a page that
 * reloads itself would lose the place of a screen reader. After a minute it says that it takes longer, and asks every ten seconds.
 */
const WAITING_SCRIPT = scriptOf(`(() => {
const part = (name, page) => page.querySelector(name);
let looks = 0;
const look = async () => {
  looks += 1;
  if (looks === 60) part('#slow', document).hidden = false;
  try {
    const reply = await fetch(location.href, { cache: 'no-store' });
    const seen = new DOMParser().parseFromString(await reply.text(), 'text/html');
    if (reply.ok && !part('#slow', seen)) {
      for (const name of ['h1', '#arrival']) part(name, document).replaceChildren(...part(name, seen).childNodes);
      document.title = seen.title;
      part('#slow', document).remove();
      return;
    }
  } catch {}
  setTimeout(look, looks < 60 ? 1000 : 10000);
};
setTimeout(look, 1000);
})();`);
