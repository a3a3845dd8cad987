import { formatsOf } from '#web/components/format.ts';
import { type Html, html } from '#kernel/html.ts';
import { alertOf } from '#web/frame/layout.ts';
import { personPage } from '#web/person/person-page.ts';
import { TEST_PROCESSOR_TEXTS as TEXTS } from '#web/test-processor/texts.ts';
import { type PageAnswer, type PageMethods, redirectTo, type Visit } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';
import { TEST_CARD_NAMES, TEST_CARDS, testCardOf } from '#payments/test-processor/cards.ts';
import type { TestBank, TestCheckout } from '#payments/test-processor/test-bank.ts';

type Pages = Parameters<typeof personPage>[0];

const STATUS_REFUSED = 402;
const DIGITS_OF_A_GROUP = /\d{4}(?=\d)/g;

/** The pages of the test processor's make-believe bank (ON-03): for whoever has the address, signed in or not. */
export function testProcessorPages(pages: Pages, bank: TestBank): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/test-processor/:part': {
      GET: async (visit) => {
        const checkout = await bank.find(visit.part);
        return checkout === undefined ? gone(pages) : shown(pages, visit, checkout);
      },
      POST: async (visit, form) => {
        const checkout = await bank.find(visit.part);
        if (checkout === undefined) return gone(pages);
        const step = form.field('step');
        if (step === 'confirm' || step === 'refuse') {
          const outcome = await bank.confirm(visit.part, step === 'confirm');
          if (outcome === 'declined') return payForm(pages, visit, checkout, TEXTS.refused);
          return redirectTo(outcome === 'paid' ? pathOf(checkout.returnUrl) : visit.exchange.path);
        }
        const card = testCardOf(form.field('number')); // From here on there is no number, only what the card does.
        if (card === undefined) return payForm(pages, visit, checkout, TEXTS.unknown);
        const outcome = await bank.pay(visit.part, card);
        if (outcome === 'declined') return payForm(pages, visit, checkout, TEXTS.declined);
        return redirectTo(outcome === 'paid' ? pathOf(checkout.returnUrl) : visit.exchange.path);
      },
    },
  };
}

function shown(pages: Pages, visit: Visit<Person>, checkout: TestCheckout): PageAnswer {
  if (checkout.state === 'paid') return paidPage(pages, checkout);
  return checkout.state === 'confirming' ? confirmForm(pages, visit, checkout) : payForm(pages, visit, checkout);
}

function payForm(pages: Pages, visit: Visit<Person>, checkout: TestCheckout, fault?: string): PageAnswer {
  const amount = formatsOf(visit.exchange.request).amount(checkout.amount, checkout.currency);
  const fields = html`<label for="number">${TEXTS.number}</label>
<input id="number" name="number" inputmode="numeric" autocomplete="off" maxlength="23" required value="${groups(TEST_CARDS.success.number)}" aria-describedby="number-hint">
<p class="hint" id="number-hint">${TEXTS.numberHint}</p>
<button>${TEXTS.pay(amount)}</button>`;
  const body = html`${alertOf(fault)}
<section>
<p>${TEXTS.what(checkout.appName)}</p>
<p class="amount">${amount}</p>
${visit.form(visit.exchange.path, fields)}
</section>
${cardList()}
<p><a href="${pathOf(checkout.cancelUrl)}">${TEXTS.back}</a></p>`;
  const isError = fault !== undefined;
  return { status: isError ? STATUS_REFUSED : 200, page: personPage(pages, { title: TEXTS.title, body, isError }) };
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

function confirmForm(pages: Pages, visit: Visit<Person>, checkout: TestCheckout): PageAnswer {
  const amount = formatsOf(visit.exchange.request).amount(checkout.amount, checkout.currency);
  const buttons = html`<div class="row">
<button name="step" value="confirm">${TEXTS.confirm}</button>
<button class="quiet" name="step" value="refuse">${TEXTS.refuse}</button>
</div>`;
  const body = html`<section>
<p>${TEXTS.confirmText(amount, checkout.appName)}</p>
${visit.form(visit.exchange.path, buttons)}
</section>`;
  return { status: 200, page: personPage(pages, { title: TEXTS.confirmTitle, body }) };
}

function paidPage(pages: Pages, checkout: TestCheckout): PageAnswer {
  const body = html`<section>
<p>${TEXTS.paidText}</p>
<p><a class="button" href="${pathOf(checkout.returnUrl)}">${TEXTS.goOn}</a></p>
</section>`;
  return { status: 200, page: personPage(pages, { title: TEXTS.paidTitle, body }) };
}

function gone(pages: Pages): PageAnswer {
  const body = alertOf(TEXTS.goneText) ?? html``;
  return { status: 404, page: personPage(pages, { title: TEXTS.goneTitle, body, isError: true }) };
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
