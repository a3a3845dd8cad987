import type { Person } from '#people/session.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { TEST_CARD_NAMES, TEST_CARDS, testCardOf } from '#payments/test-processor/cards.ts';
import type { TestBank, TestCheckout } from '#payments/test-processor/test-bank.ts';
import { button, buttonLink, linkLine, row } from '#web/components/parts.ts';
import { errorSummary } from '#web/components/notices.ts';
import { headlineAmount, table } from '#web/figures/figures.ts';
import { textField } from '#web/fields/fields.ts';
import { type PageMethods, type PageRequest, type PageResponse, redirectTo } from '#web/frame/page.ts';
import { TEST_PROCESSOR_TEXTS as TEXTS } from '#web/test-processor/texts.ts';
import { showWalletOwnerPage, walletOwnerPage } from '#web/wallet-owner/wallet-owner-page.ts';

type PageFrame = Parameters<typeof walletOwnerPage>[0];

/**
 * The status is 402, as a processor's own page would answer. It is no `Refusal`: nobody called the API, so no counter
 * of refusals counts it.
 */
const STATUS_REFUSED = 402;
const DIGITS_OF_A_GROUP = /\d{4}(?=\d)/g;
/** The longest card number has 19 digits, in groups of four. */
const NUMBER_LENGTH_MAX = 23;

/** The pages of the test processor's bank (ON-03). They are open to everybody who has the address, signed in or not. */
export function testProcessorPages(frame: PageFrame, bank: TestBank): Readonly<Record<string, PageMethods<Person>>> {
  return {
    '/test-processor/:part': {
      GET: async (request) => {
        const checkout = await bank.find(request.part);
        return checkout === undefined ? gone(frame) : shown(frame, request, checkout);
      },
      POST: async (request, form) => {
        const checkout = await bank.find(request.part);
        if (checkout === undefined) return gone(frame);
        const step = form.field('step');
        if (step === 'confirm' || step === 'refuse') {
          const outcome = await bank.confirm(request.part, step === 'confirm');
          if (outcome === 'declined') return payForm(frame, request, checkout, TEXTS.refused);
          return redirectTo(outcome === 'paid' ? pathOf(checkout.returnUrl) : request.exchange.path);
        }
        // From here on there is no number, only what the card does: a real number that somebody types is never kept.
        const card = testCardOf(form.field('number'));
        if (card === undefined) return payForm(frame, request, checkout, TEXTS.unknown);
        const outcome = await bank.pay(request.part, card);
        if (outcome === 'declined') return payForm(frame, request, checkout, TEXTS.declined);
        return redirectTo(outcome === 'paid' ? pathOf(checkout.returnUrl) : request.exchange.path);
      },
    },
  };
}

function shown(frame: PageFrame, request: PageRequest<Person>, checkout: TestCheckout): PageResponse {
  if (checkout.state === 'paid') return paidPage(frame, checkout);
  return checkout.state === 'confirming' ? confirmForm(frame, request, checkout) : payForm(frame, request, checkout);
}

/** The page that takes a card number. The number of the card that works is filled in: most people want just that. */
function payForm(frame: PageFrame, request: PageRequest<Person>, checkout: TestCheckout, fault?: string): PageResponse {
  const { formats, exchange } = request;
  const fields = html`${textField({
    name: 'number',
    label: TEXTS.number,
    value: groups(TEST_CARDS.success.number),
    hint: TEXTS.numberHint,
    inputMode: 'numeric',
    autocomplete: 'off',
    lengthMax: NUMBER_LENGTH_MAX,
    isRequired: true,
  })}
${button(TEXTS.pay(formats.amount(checkout.amount, checkout.currency)))}`;
  const body = html`${errorSummary(fault)}
<section>
<p>${TEXTS.what(checkout.appName)}</p>
${headlineAmount(checkout, formats)}
${request.form(exchange.path, fields)}
</section>
${cardTable()}
${linkLine(pathOf(checkout.cancelUrl), TEXTS.back)}`;
  const isError = fault !== undefined;
  const page = walletOwnerPage(frame, { title: TEXTS.title, body, isError });
  return { status: isError ? STATUS_REFUSED : 200, page };
}

/** The cards and what each does, so that nobody has to look them up. */
function cardTable(): Html {
  return table({
    caption: TEXTS.cards,
    columns: [{ name: TEXTS.cardColumn }, { name: TEXTS.doesColumn }],
    rows: TEST_CARD_NAMES.map((name) => [groups(TEST_CARDS[name].number), TEXTS.does[name]]),
    empty: '',
  });
}

/** The second step that some cards ask for, as a bank's own page would. */
function confirmForm(frame: PageFrame, request: PageRequest<Person>, checkout: TestCheckout): PageResponse {
  const amount = request.formats.amount(checkout.amount, checkout.currency);
  const buttons = row(
    button(TEXTS.confirm, { name: 'step', value: 'confirm' }),
    button(TEXTS.refuse, { kind: 'quiet', name: 'step', value: 'refuse' }),
  );
  const body = html`<section>
<p>${TEXTS.confirmText(amount, checkout.appName)}</p>
${request.form(request.exchange.path, buttons)}
</section>`;
  return showWalletOwnerPage(frame, { title: TEXTS.confirmTitle, body });
}

/** This page is reached by going back after paying. It leads on, and takes no second payment. */
function paidPage(frame: PageFrame, checkout: TestCheckout): PageResponse {
  const body = html`<section>
<p>${TEXTS.paidText}</p>
${buttonLink(pathOf(checkout.returnUrl), TEXTS.goOn)}
</section>`;
  return showWalletOwnerPage(frame, { title: TEXTS.paidTitle, body });
}

function gone(frame: PageFrame): PageResponse {
  const body = html`${errorSummary(TEXTS.goneText)}`;
  return { status: 404, page: walletOwnerPage(frame, { title: TEXTS.goneTitle, body, isError: true }) };
}

/** Writes the digits in groups of four, as on a card. */
function groups(number: string): string {
  return number.replaceAll(DIGITS_OF_A_GROUP, '$& ');
}

/** The addresses of a checkout are of this service, which a browser may call by another name: the path works by any of them. */
function pathOf(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}
