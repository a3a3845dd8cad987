import type { Connection } from '#connections/connection.ts';
import { type Formats, formatsOf } from '#web/components/format.ts';
import { type Html, html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf, scriptOf } from '#web/frame/layout.ts';
import { spendableOf } from '#web/person/own-connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { CHECKOUT_TEXTS as TEXTS } from '#web/topup/texts.ts';
import { PASSKEYS } from '#web/components/return-path.ts';
import { NEXT_PATH } from '#web/topup/topup-step.ts';
import type { PageAnswer, PageMethods, Visit } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';
import { type IdentityId, parseId } from '#kernel/ids.ts';
import type { Checkout } from '#payments/checkout.ts';

/** A checkout, and who looks at it. */
interface Arrival {
  readonly checkout: Checkout;
  readonly appName: string;
  readonly logo: string | undefined;
  /** Where its wallet's owner looks. */
  readonly connection: Connection | undefined;
  /** Where the payer came from, by his own browser's word. */
  readonly next: string | undefined;
  /** The way to a first passkey, for an owner who has none. */
  readonly offersPasskey: boolean;
}

/**
 * Looks at this page once a second until there is something else on it, and puts that in place of what is shown; after a
 * minute it says that it takes longer, and looks more seldom.
 */
const SCRIPT = scriptOf(`(() => {
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

/** `/checkout/...`: where a payer waits for the money. That he is here proves nothing: what counts is the notice (ON-02). */
export function checkoutPages(pages: PeoplePages): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/checkout/:part': {
      GET: async (visit) => {
        const arrival = await arrivalOf(pages, visit);
        return arrival === undefined ? gone(pages) : arrivalPage(pages, visit, arrival);
      },
    },
  };
}

async function arrivalOf(pages: PeoplePages, visit: Visit<Person>): Promise<Arrival | undefined> {
  const checkoutId = parseId('checkout', visit.part);
  const checkout = checkoutId === undefined ? undefined : await pages.checkouts?.find(checkoutId);
  if (checkout === undefined) return undefined;
  const app = await pages.apps.find(checkout.appId);
  if (app === undefined) return undefined;
  const connection = await pages.connections.find(checkout.appId, checkout.userId);
  const isOwner = connection !== undefined && connection.identityId === visit.signedIn?.identity.identityId;
  const [, next] = NEXT_PATH.exec(visit.cookie('next')?.replace(`${checkout.checkoutId}:`, '') ?? '') ?? [];
  const arrival = { checkout, appName: app.name, logo: app.logo, connection: isOwner ? connection : undefined, next };
  return { ...arrival, offersPasskey: isOwner && (await lacksPasskey(pages, connection.identityId)) };
}

async function lacksPasskey({ passkeys }: PeoplePages, identityId: IdentityId): Promise<boolean> {
  return passkeys.isPossible && (await passkeys.list(identityId)).length === 0;
}

function arrivalPage(pages: PeoplePages, visit: Visit<Person>, arrival: Arrival): PageAnswer {
  const { title, body } = shownOf(pages, visit, arrival);
  const isOpen = arrival.checkout.state === 'open';
  const waiting = html`<p class="hint" id="slow" hidden>${TEXTS.slow}</p>
<noscript><meta http-equiv="refresh" content="3"><p class="hint">${TEXTS.slow}</p></noscript>
${SCRIPT.element}`;
  const whole = html`<section id="arrival" aria-live="polite">${appMark({ name: arrival.appName, logo: arrival.logo })}
${body}</section>
${isOpen ? waiting : undefined}`;
  const page = personPage(pages, { title, body: whole });
  return { status: 200, page, ...(isOpen ? { needs: { script: SCRIPT } } : {}) };
}

function shownOf(pages: PeoplePages, visit: Visit<Person>, arrival: Arrival): { title: string; body: Html } {
  const format = formatsOf(visit.exchange.request);
  const { checkout } = arrival;
  if (checkout.state === 'paid') return { title: TEXTS.paidTitle, body: paid(format, arrival) };
  if (checkout.state === 'kept') {
    return { title: TEXTS.keptTitle, body: html`<p>${TEXTS.kept(pages.operatorName)}</p>${facts(format, arrival)}` };
  }
  if (visit.exchange.query !== 'paid=no') {
    return { title: TEXTS.openTitle, body: html`<p class="waiting">${TEXTS.open}</p>${facts(format, arrival)}` };
  }
  const body = html`<p>${TEXTS.unpaid}</p>${facts(format, arrival)}${wayToTryAgain(pages, arrival)}`;
  return { title: TEXTS.unpaidTitle, body };
}

function facts(format: Formats, { checkout, appName }: Arrival): Html {
  return html`<dl><dt>${TEXTS.amount}</dt><dd>${format.amount(checkout.amount, checkout.currency)}</dd>
<dt>${TEXTS.app}</dt><dd>${appName}</dd></dl>`;
}

function paid(format: Formats, { checkout, appName, connection, next, offersPasskey }: Arrival): Html {
  const { amount } = format;
  const balance =
    connection &&
    html`<dl><dt>${TEXTS.available}</dt><dd>${amount(spendableOf(connection), connection.wallet.currency)}</dd></dl>`;
  const way =
    next === undefined
      ? html`<p>${TEXTS.backTo(appName)}</p>`
      : html`<p><a class="button" href="${next}">${TEXTS.onTo(appName)}</a></p>`;
  const wallet = connection && html`<p><a href="/wallet">${TEXTS.wallet}</a></p>`;
  return html`<p class="good">${TEXTS.paid(amount(checkout.amount, checkout.currency), appName)}</p>
${balance}${way}${wallet}
${offersPasskey ? html`<p class="soft">${TEXTS.passkey} <a href="${PASSKEYS}">${TEXTS.addPasskey}</a></p>` : undefined}`;
}

/** A new link for the owner; nobody else gets one by the address of a checkout. */
function wayToTryAgain({ links }: PeoplePages, { connection, appName, next }: Arrival): Html {
  if (connection === undefined) return html`<p>${TEXTS.tryFromApp(appName)}</p>`;
  const path = next?.replace(/\/done$/, '/topup') ?? new URL(links.topup(connection)).pathname;
  return html`<p><a class="button" href="${path}">${TEXTS.tryAgain}</a></p>`;
}

function gone(pages: PeoplePages): PageAnswer {
  const body = html`${alertOf(TEXTS.gone)}`;
  return { status: 404, page: personPage(pages, { title: TEXTS.goneTitle, body, isError: true }) };
}
