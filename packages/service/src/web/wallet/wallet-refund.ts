import { amountField, amountText, parseAmount } from '#web/components/amount-field.ts';
import { formatsOf } from '#web/components/format.ts';
import type { Form } from '#web/frame/form.ts';
import { type Html, html } from '#kernel/html.ts';
import { appMark } from '#web/components/app-mark.ts';
import { alertOf } from '#web/frame/layout.ts';
import { forOwner, nothingHere, type OwnVisit } from '#web/person/own-connection.ts';
import type { PeoplePages } from '#web/person/people-pages.ts';
import { personPage } from '#web/person/person-page.ts';
import { AMOUNT_TEXTS } from '#web/components/texts.ts';
import { REFUND_TEXTS } from '#web/wallet/refund-texts.ts';
import { type PageAnswer, type PageMethods, redirectTo, refusedBy } from '#web/frame/visit.ts';
import type { Person } from '#identities/session.ts';
import type { Micros } from '#kernel/micros.ts';
import { randomBase62 } from '#kernel/random.ts';
import { type Refusal, refuse } from '#kernel/refusal.ts';
import type { Refunds } from '#payments/refund.ts';

const KEY_LENGTH = 22; // 131 bits.
const KEY = /^[0-9A-Za-z]{22}$/;
const CONFIRMED = 'yes';

/** `/wallet/:part/refund`: what is unused goes back to the means of payment that it came from. */
export function refundPage(pages: PeoplePages): PageMethods<Person> {
  const { refunds } = pages;
  if (refunds === undefined) return { GET: forOwner(pages, () => nothingHere(pages)) };
  return {
    GET: forOwner(pages, async (own) => ({ status: 200, page: await showRefund(pages, refunds, own) })),
    POST: forOwner(pages, async (own, form) => {
      const amount = parseAmount(form.field('amount'));
      const fault = formFault(form, amount);
      if (amount === undefined || fault !== undefined) {
        return refused(pages, refunds, own, { fault: unusable(fault ?? AMOUNT_TEXTS.fault), form });
      }
      const tooMany = await pages.attempts.take([{ kind: 'refund', of: own.owner.identityId }]);
      if (tooMany !== undefined) return refused(pages, refunds, own, { fault: tooMany, form });
      const { appId, userId } = own.connection;
      const outcome = await refunds.refundUnused({ appId, userId, amount, key: form.field('key') });
      if (outcome === 'asked') return redirectTo(`${own.path}?done=refund`);
      if (outcome === 'repeated') return redirectTo(`${own.path}?done=refund-repeated`);
      return refused(pages, refunds, own, { fault: unusable(REFUND_TEXTS.refusal(outcome)), form });
    }),
  };
}

/** The key was made when the page was shown, so that a form that is sent twice asks once. */
function formFault(form: Form, amount: Micros | undefined): string | undefined {
  if (!KEY.test(form.field('key'))) return REFUND_TEXTS.again;
  if (amount === 0n) return REFUND_TEXTS.zero;
  return form.field('sure') === CONFIRMED ? undefined : REFUND_TEXTS.notConfirmed;
}

function unusable(fault: string): Refusal {
  return refuse('BAD_REQUEST', fault);
}

interface Refused {
  readonly fault: Refusal;
  readonly form: Form;
}

async function refused(
  pages: PeoplePages,
  refunds: Refunds,
  own: OwnVisit,
  { fault, form }: Refused,
): Promise<PageAnswer> {
  const page = await showRefund(pages, refunds, own, { fault: fault.message, typed: form.field('amount') });
  return refusedBy(fault, page);
}

interface Shown {
  readonly fault?: string;
  readonly typed?: string;
}

async function showRefund(
  pages: PeoplePages,
  refunds: Refunds,
  own: OwnVisit,
  { fault, typed }: Shown = {},
): Promise<Html> {
  const { connection, path, app } = own;
  const { appId, userId, wallet } = connection;
  const formats = formatsOf(own.visit.exchange.request);
  const most = await refunds.refundable(appId, userId);
  const form = html`<p class="amount">${formats.amount(most, wallet.currency)}</p>
<p>${REFUND_TEXTS.most}</p>
${REFUND_TEXTS.what.map((sentence) => html`<p>${sentence}</p>`)}
${own.visit.form(`${path}/refund`, fieldsOf(typed ?? amountText(most), wallet.currency))}`;
  const nothing = html`<p>${wallet.isSuspended ? REFUND_TEXTS.blocked(pages.operatorName) : REFUND_TEXTS.nothing}</p>`;
  const body = html`<p><a href="${path}">${REFUND_TEXTS.back(app.name)}</a></p>
${alertOf(fault)}
<div class="card">
${appMark(app)}
${most === 0n ? nothing : form}
</div>
${await underWaySection(refunds, own)}`;
  return personPage(pages, { title: REFUND_TEXTS.title, body, isError: fault !== undefined });
}

function fieldsOf(text: string, currency: string): Html {
  return html`<input type="hidden" name="key" value="${randomBase62(KEY_LENGTH)}">
${amountField({ name: 'amount', label: REFUND_TEXTS.amount(currency), text, isRequired: true })}
<label for="sure"><input id="sure" name="sure" type="checkbox" value="${CONFIRMED}" required>
<span>${REFUND_TEXTS.sure}</span></label>
<button>${REFUND_TEXTS.refund}</button>`;
}

/** What was asked for and has not been paid yet, nor declined. */
async function underWaySection(refunds: Refunds, { connection, visit }: OwnVisit): Promise<Html | undefined> {
  const { appId, userId, wallet } = connection;
  const underWay = await refunds.underWay(appId, userId);
  if (underWay.length === 0) return undefined;
  const formats = formatsOf(visit.exchange.request);
  return html`<section aria-labelledby="under-way">
<h2 id="under-way">${REFUND_TEXTS.underWay}</h2>
<ul>
${underWay.map(
  ({ amount, askedAtMs }) => html`<li><span>${formats.amount(amount, wallet.currency)}</span>
<span class="soft">${formats.moment(askedAtMs)}</span></li>
`,
)}</ul>
</section>`;
}
