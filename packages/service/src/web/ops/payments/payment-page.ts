import { type Html, html } from '#kernel/text/html.ts';
import { microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { DeskDetails } from '#operator/money/payment-desk.ts';
import { type CaseAct } from '#payments/cases/effects.ts';
import { type PaymentOfCheckout } from '#payments/overview/queries.ts';
import { leftOf } from '#payments/overview/overview.ts';
import { badge } from '#web/components/badge.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/fields/form.ts';
import { moment } from '#web/figures/moment.ts';
import { headlineAmount } from '#web/figures/money.ts';
import { errorSummary, successNotice } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import { textField } from '#web/fields/text-field.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { type AppNames, appLink } from '#web/ops/frame/links.ts';
import { casesSection, REASON_LENGTH_MAX, solvedTable } from '#web/ops/payments/case-parts.ts';
import {
  ACT_TEXTS,
  ANOMALY_TEXTS,
  CONFIRM_TEXTS,
  KIND_TEXTS,
  PAYMENT_TEXTS as TEXTS,
  PAYMENTS_TEXTS,
  STATE_TEXTS,
} from '#web/ops/payments/texts.ts';

const WHERE = { page: 'payments', above: PAYMENTS_TEXTS.title } as const;

/** Makes the page `/ops/payment?id=`, which shows a checkout and everything that hangs on it. */
export function paymentPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => show(services, asked, asked.request.query.get('id') ?? '', undefined),
    POST: (asked, form) => lookUp(services, asked, form),
  });
}

async function lookUp(services: OpsServices, asked: OpsRequest, form: Form): Promise<PageResponse> {
  const id = form.field('id');
  const reason = form.field('reason').trim();
  if (reason === '' || reason.length > REASON_LENGTH_MAX) {
    return show(services, asked, id, refuse('BAD_REQUEST', CONFIRM_TEXTS.noReason));
  }
  const looked = await services.operator.paymentDesk.lookUp(asked.act(reason), id);
  if (looked instanceof Refusal) return show(services, asked, id, looked);
  if (looked === 'unknown') return show(services, asked, id, refuse('CONFLICT', TEXTS.unknownThere));
  return redirectTo(opsPath('payment', { id, done: looked }));
}

async function show(
  services: OpsServices,
  asked: OpsRequest,
  id: string,
  refusal: Refusal | undefined,
): Promise<PageResponse> {
  const found = await services.operator.paymentDesk.find(id);
  if (found === undefined) {
    const none = refuse('NOT_FOUND', TEXTS.none);
    const body = card(html`<p role="alert">${TEXTS.none}</p>`);
    return showOpsPage(services, asked, { ...WHERE, title: TEXTS.noneTitle, body, refusal: none });
  }
  const done = asked.request.query.get('done') ?? '';
  const names = await services.operator.apps.names([found.checkout.app_id]);
  const body = html`${errorSummary(refusal?.message)}${successNotice(doneText(done))}
${casesSection(asked, found)}
<div class="columns">
<div>${checkoutOf(asked, found, names)}${lookUpPart(asked, id)}</div>
<div>${found.payments.map((payment, at) => paymentOf(asked, found, payment, at))}</div>
</div>
${card(movedTable(asked, found))}
${card(entriesTable(asked, found))}
${card(solvedTable(asked, found))}
${card(historyTable(asked, found))}`;
  return showOpsPage(services, asked, { ...WHERE, title: TEXTS.title, body, refusal });
}

function doneText(done: string): string | undefined {
  return Object.hasOwn(ACT_TEXTS, done) ? ACT_TEXTS[done as CaseAct].done : TEXTS.looked.get(done);
}

function checkoutOf({ role, request }: OpsRequest, { checkout, payments, wallet }: DeskDetails, names: AppNames): Html {
  const { formats } = request;
  const { app_id: app, user_id: user } = checkout;
  const state = payments.length > 0 ? 'paid' : checkout.is_watched ? 'open' : 'unpaid';
  const facts = definitionList([
    [TEXTS.id, html`<code>${checkout.checkout_id}</code>`],
    [TEXTS.state, badge(STATE_TEXTS[state], 'good')],
    [TEXTS.requested, formats.amount(microsFromRow(checkout.amount_micros), checkout.currency)],
    [TEXTS.began, moment(checkout.created_at.getTime(), formats)],
    [
      TEXTS.wallet,
      html`<a href="${opsPath('wallet', { app, user })}">${user}</a>${wallet === undefined ? html`<br><span class="soft">${ANOMALY_TEXTS.no_wallet}</span>` : undefined}`,
    ],
    [TEXTS.app, appLink(role, app, names)],
    [TEXTS.atProcessor, html`${checkout.processor}<br><code>${checkout.processor_checkout ?? '–'}</code>`],
  ]);
  return section({
    id: 'checkout',
    heading: TEXTS.checkout,
    body: [facts, html`<p class="soft">${TEXTS.processorHint}</p>`],
  });
}

function paymentOf({ request }: OpsRequest, { movedBack }: DeskDetails, payment: PaymentOfCheckout, at: number): Html {
  const { formats } = request;
  const { currency, anomaly, state } = payment;
  const facts = definitionList([
    [TEXTS.id, html`<code>${payment.payment_id}</code>`],
    [TEXTS.state, badge(STATE_TEXTS[state], state === 'kept' ? 'warn' : 'good')],
    anomaly === null ? undefined : [TEXTS.anomaly, ANOMALY_TEXTS[anomaly]],
    [TEXTS.paid, moment(payment.paid_at.getTime(), formats)],
    [TEXTS.left, formats.amount(leftOf(payment, movedBack), currency)],
    [TEXTS.atProcessor, html`<code>${payment.processor_payment}</code>`],
  ]);
  const amount = headlineAmount({ amount: microsFromRow(payment.amount_micros), currency }, formats);
  return section({ id: `payment-${at + 1}`, heading: TEXTS.payment, body: [amount, facts] });
}

function lookUpPart(asked: OpsRequest, id: string): Html {
  const fields = html`${hiddenField('id', id)}
${textField({ name: 'reason', label: TEXTS.reason, isRequired: true, lengthMax: REASON_LENGTH_MAX, autocomplete: 'off' })}
${button(TEXTS.lookUp, { kind: 'quiet' })}`;
  const body = [
    html`<p>${TEXTS.lookUpWhat}</p>`,
    asked.form('payment', fields, { query: new URLSearchParams({ id }).toString() }),
  ];
  return section({ id: 'look-up', heading: TEXTS.lookUp, body });
}

function movedTable({ request }: OpsRequest, { movedBack, payments }: DeskDetails): Html {
  const { formats } = request;
  const currencies = new Map(payments.map(({ payment_id: id, currency }) => [id, currency]));
  return table({
    caption: TEXTS.movedBack,
    columns: TEXTS.movedColumns.map((name, at) => ({ name, isNumeric: at === 3 })),
    rows: movedBack.map((one) => [
      moment(one.at.getTime(), formats),
      html`${KIND_TEXTS[one.kind]}<br><code>${one.id}</code>`,
      badge(STATE_TEXTS[one.state], one.state === 'taken' || one.state === 'declined' ? 'warn' : 'good'),
      formats.amount(microsFromRow(one.amount_micros), currencies.get(one.payment_id) ?? ''),
      one.is_booked ? TEXTS.booked : TEXTS.notBooked,
      html`<code>${one.processor_id ?? '–'}</code>`,
    ]),
    empty: TEXTS.noMoved,
  });
}

function entriesTable({ request }: OpsRequest, { entries, wallet }: DeskDetails): Html {
  const { formats } = request;
  const currency = wallet?.currency ?? '';
  return table({
    caption: TEXTS.entries,
    columns: TEXTS.entryColumns.map((name, at) => ({ name, isNumeric: at > 3 })),
    rows: entries.map((entry) => [
      moment(entry.at.getTime(), formats),
      html`<code>${entry.kind}</code>`,
      entry.debit,
      entry.credit,
      formats.amount(microsSumFromRow(entry.amount_micros), currency),
      formats.amount(microsFromRow(entry.balance_after_micros), currency),
    ]),
    empty: TEXTS.noEntries,
  });
}

function historyTable({ request }: OpsRequest, { history }: DeskDetails): Html {
  return table({
    caption: TEXTS.history,
    columns: TEXTS.historyColumns.map((name) => ({ name })),
    rows: history.map((row) => [
      moment(row.atMs, request.formats),
      row.actorName ?? row.actor,
      html`<code>${row.action}</code>`,
      row.reason ?? '',
    ]),
    empty: TEXTS.noHistory,
  });
}
