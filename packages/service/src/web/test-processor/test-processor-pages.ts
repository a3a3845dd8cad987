import { formatsOf } from '#web/format/formats.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf } from '#web/frame/page-shell.ts';
import { walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';
import { TEST_PROCESSOR_TEXTS as TEXTS } from '#web/test-processor/texts.ts';
import { type PageResponse, type PageMethods, redirectTo, type PageRequest } from '#web/frame/page-handlers.ts';
import type { Person } from '#identities/session.ts';
import { TEST_CARD_NAMES, TEST_CARDS, testCardOf } from '#payments/test-processor/cards.ts';
import type { TestBank, TestCheckout } from '#payments/test-processor/test-bank.ts';

type Pages = Parameters<typeof walletOwnerPage>[0];

const STATUS_REFUSED = 402;
const DIGITS_OF_A_GROUP = /\d{4}(?=\d)/g;

/** The pages of the test processor's make-believe bank (ON-03): for whoever has the address, signed in or not. */
export function testProcessorPages(pages: Pages, bank: TestBank): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/test-processor/:part': {
      GET: async (request) => {
        const checkout = await bank.find(request.part);
        return checkout === undefined ? gone(pages) : shown(pages, request, checkout);
      },
      POST: async (request, form) => {
        const checkout = await bank.find(request.part);
        if (checkout === undefined) return gone(pages);
        const step = form.field('step');
        if (step === 'confirm' || step === 'refuse') {
          const outcome = await bank.confirm(request.part, step === 'confirm');
          if (outcome === 'declined') return payForm(pages, request, checkout, TEXTS.refused);
          return redirectTo(outcome === 'paid' ? pathOf(checkout.returnUrl) : request.exchange.path);
        }
        const card = testCardOf(form.field('number')); // From here on there is no number, only what the card does.
        if (card === undefined) return payForm(pages, request, checkout, TEXTS.unknown);
        const outcome = await bank.pay(request.part, card);
        if (outcome === 'declined') return payForm(pages, request, checkout, TEXTS.declined);
        return redirectTo(outcome === 'paid' ? pathOf(checkout.returnUrl) : request.exchange.path);
      },
    },
  };
}

function shown(pages: Pages, request: PageRequest<Person>, checkout: TestCheckout): PageResponse {
  if (checkout.state === 'paid') return paidPage(pages, checkout);
  return checkout.state === 'confirming' ? confirmForm(pages, request, checkout) : payForm(pages, request, checkout);
}

function payForm(pages: Pages, request: PageRequest<Person>, checkout: TestCheckout, fault?: string): PageResponse {
  const amount = formatsOf(request.exchange.request).amount(checkout.amount, checkout.currency);
  const fields = html`<label for="number">${TEXTS.number}</label>
<input id="number" name="number" inputmode="numeric" autocomplete="off" maxlength="23" required value="${groups(TEST_CARDS.success.number)}" aria-describedby="number-hint">
<p class="hint" id="number-hint">${TEXTS.numberHint}</p>
<button>${TEXTS.pay(amount)}</button>`;
  const body = html`${alertOf(fault)}
<section>
<p>${TEXTS.what(checkout.appName)}</p>
<p class="amount">${amount}</p>
${request.form(request.exchange.path, fields)}
</section>
${cardList()}
<p><a href="${pathOf(checkout.cancelUrl)}">${TEXTS.back}</a></p>`;
  const isError = fault !== undefined;
  return {
    status: isError ? STATUS_REFUSED : 200,
    page: walletOwnerPage(pages, { title: TEXTS.title, body, isError }),
  };
}

function cardList(): Html {
  const rows = TEST_CARD_NAMES.map(
    (name) => html`<tr><td>${groups(TEST_CARDS[name].number)}</td><td>${TEXTS.does[name]}</td></tr>
`,
  );
  return html`<table class="list">
<caption>${TEXTS.cards}</caption>
<thead><tr><th scope="col">${TEXTS.cardColumn}</th><th scope="col">${TEXTS.doesColumn}</th></tr></thead>
<tbody>
${rows}</tbody>
</table>`;
}

function confirmForm(pages: Pages, request: PageRequest<Person>, checkout: TestCheckout): PageResponse {
  const amount = formatsOf(request.exchange.request).amount(checkout.amount, checkout.currency);
  const buttons = html`<div class="row">
<button name="step" value="confirm">${TEXTS.confirm}</button>
<button class="quiet" name="step" value="refuse">${TEXTS.refuse}</button>
</div>`;
  const body = html`<section>
<p>${TEXTS.confirmText(amount, checkout.appName)}</p>
${request.form(request.exchange.path, buttons)}
</section>`;
  return { status: 200, page: walletOwnerPage(pages, { title: TEXTS.confirmTitle, body }) };
}

function paidPage(pages: Pages, checkout: TestCheckout): PageResponse {
  const body = html`<section>
<p>${TEXTS.paidText}</p>
<p><a class="button" href="${pathOf(checkout.returnUrl)}">${TEXTS.goOn}</a></p>
</section>`;
  return { status: 200, page: walletOwnerPage(pages, { title: TEXTS.paidTitle, body }) };
}

function gone(pages: Pages): PageResponse {
  const body = alertOf(TEXTS.goneText) ?? html``;
  return { status: 404, page: walletOwnerPage(pages, { title: TEXTS.goneTitle, body, isError: true }) };
}

/** In groups of four, as on a card. */
function groups(number: string): string {
  return number.replaceAll(DIGITS_OF_A_GROUP, '$& ');
}

/** These pages are of the same service as those that they lead to. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
