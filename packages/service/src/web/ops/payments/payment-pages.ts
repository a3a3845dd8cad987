import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { DeskDetails } from '#operator/money/payment-desk.ts';
import { CASE_ACTS, type CaseAct, type CaseEffect } from '#payments/cases/effects.ts';
import type { CaseRow } from '#payments/cases/queries.ts';
import { type CaseWithEffects, leftOf } from '#payments/overview/overview.ts';
import type { PaymentOfCheckout } from '#payments/overview/queries.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { headlineAmount } from '#web/figures/figures.ts';
import { badge, button, buttonLink, card, definitionList, linkLine } from '#web/components/parts.ts';
import { actPage, hiddenFields, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, code, listing, opsPath, part, soft } from '#web/ops/frame/details.ts';
import { ACT_TEXTS, ANOMALY_TEXTS, KIND_TEXTS, PAYMENT_TEXTS as TEXTS, STATE_TEXTS } from '#web/ops/payments/texts.ts';
import { parseId } from '#kernel/values/ids.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';

/** The page `/ops/payment?id=`, which shows a checkout and everything that hangs on it. Its form looks it up at the processor. */
export const paymentPage = actPage({
  show: async (asked, again) => {
    const id = again?.form.field('id') ?? asked.asks('id');
    const found = await asked.operator.paymentDesk.find(id);
    if (found === undefined) return asked.showNoSuch('payments', TEXTS.none, 'No such payment');
    const names = await asked.operator.apps.names([found.checkout.app_id]);
    const body = html`${casesOf(asked, found)}
<div class="columns">
<div>${checkoutOf(asked, found, names)}${lookUpOf(asked, id)}</div>
<div>${found.payments.map((payment, at) => paymentOf(asked, found, payment, at))}</div>
</div>
${card(movedTable(asked, found))}
${card(entriesTable(asked, found))}
${card(solvedTable(asked, found))}
${card(historyTable(asked, found))}`;
    const done = doneText(asked.asks('done'));
    return asked.show({ title: 'One payment', body, below: 'payments', refusal: again?.refusal, done });
  },
  act: async (asked, form) => {
    const reason = reasonIn(form, TEXTS.noReason);
    const id = form.field('id');
    const looked = granted(await asked.operator.paymentDesk.lookUp(asked.act(reason), id));
    return looked === 'unknown' ? refuse('CONFLICT', TEXTS.unknownThere) : opsPath('payment', { id, done: looked });
  },
});

function doneText(done: string): string | undefined {
  return Object.hasOwn(ACT_TEXTS, done) ? ACT_TEXTS[done as CaseAct].done : TEXTS.looked.get(done);
}

/** What waits, each with the ways to solve it. Undefined if nothing does. */
function casesOf(asked: OpsRequest, { cases }: DeskDetails): Html | undefined {
  const open = cases.filter(({ row }) => row.closed_at === null);
  return open.length === 0 ? undefined : part('waiting', TEXTS.waiting, ...open.map((one) => caseOf(asked, one)));
}

function caseOf({ amount: written, moment }: OpsRequest, { row, amount, effects }: CaseWithEffects): Html {
  const facts = definitionList([
    ['Amount', written(amount, row.currency)],
    ['Since', moment(row.opened_at.getTime())],
    row.anomaly === null ? undefined : [TEXTS.anomaly, ANOMALY_TEXTS[row.anomaly]],
    row.subject === row.payment_id ? undefined : ['About', code(row.subject)],
  ]);
  return html`<div class="alert"><p><strong>${TEXTS.cases[row.kind]}</strong></p>
${facts}
<div class="row">${effects.map((effect) => wayOf(row, effect))}</div></div>`;
}

/** The way to the page that asks once more, or why there is none. */
function wayOf(row: CaseRow, { act, obstacle }: CaseEffect): Html {
  if (obstacle !== undefined) return html`<p>${ACT_TEXTS[act].name}: ${TEXTS.obstacles[obstacle]}</p>`;
  const href = opsPath('payment-case', { id: row.payment_id, case: row.case_id, act });
  return buttonLink(href, ACT_TEXTS[act].name, 'quiet');
}

function checkoutOf(asked: OpsRequest, { checkout, payments, wallet }: DeskDetails, names: AppNames): Html {
  const { app_id: app, user_id: user } = checkout;
  const state = payments.length > 0 ? 'paid' : checkout.is_watched ? 'open' : 'unpaid';
  const missing = wallet === undefined ? html`<br>${soft(ANOMALY_TEXTS.no_wallet)}` : undefined;
  const facts = definitionList([
    [TEXTS.id, code(checkout.checkout_id)],
    [TEXTS.state, badge(STATE_TEXTS[state], 'good')],
    ['Requested', asked.amount(checkout.amount_micros, checkout.currency)],
    ['Started', asked.moment(checkout.created_at.getTime())],
    ['Wallet', html`<a href="${opsPath('wallet', { app, user })}">${user}</a>${missing}`],
    ['App', asked.appLink(app, names)],
    [TEXTS.atProcessor, html`${checkout.processor}<br>${code(checkout.processor_checkout ?? '–')}`],
  ]);
  return part('checkout', 'Checkout', facts, html`<p class="soft">${TEXTS.processorHint}</p>`);
}

function paymentOf(asked: OpsRequest, { movedBack }: DeskDetails, payment: PaymentOfCheckout, at: number): Html {
  const { currency, anomaly, state } = payment;
  const amount = headlineAmount({ amount: microsFromRow(payment.amount_micros), currency }, asked.formats);
  return part(`payment-${at + 1}`, 'Payment', amount, [
    [TEXTS.id, code(payment.payment_id)],
    [TEXTS.state, badge(STATE_TEXTS[state], state === 'kept' ? 'warn' : 'good')],
    anomaly === null ? undefined : [TEXTS.anomaly, ANOMALY_TEXTS[anomaly]],
    ['Paid', asked.moment(payment.paid_at.getTime())],
    ['Not refunded', asked.amount(leftOf(payment, movedBack), currency)],
    [TEXTS.atProcessor, code(payment.processor_payment)],
  ]);
}

function lookUpOf(asked: OpsRequest, id: string): Html {
  const fields = html`${hiddenField('id', id)}
${reasonField({ autocomplete: 'off' })}
${button(TEXTS.lookUp, { kind: 'quiet' })}`;
  const form = asked.form('payment', fields, { query: { id } });
  return part('look-up', TEXTS.lookUp, html`<p>${TEXTS.lookUpWhat}</p>`, form);
}

function movedTable({ moment, amount }: OpsRequest, { movedBack, payments }: DeskDetails): Html {
  const currencies = new Map(payments.map(({ payment_id: id, currency }) => [id, currency]));
  return listing({
    caption: 'Refunds and disputes',
    columns: ['When', 'What', 'State', 'Amount', 'In the wallet', 'At the processor'],
    numbers: [3],
    rows: movedBack.map((one) => [
      moment(one.at.getTime()),
      html`${KIND_TEXTS[one.kind]}<br>${code(one.id)}`,
      badge(STATE_TEXTS[one.state], one.state === 'taken' || one.state === 'declined' ? 'warn' : 'good'),
      amount(one.amount_micros, currencies.get(one.payment_id) ?? ''),
      one.is_booked ? 'Yes' : 'No',
      code(one.processor_id ?? '–'),
    ]),
    empty: 'No money was returned.',
  });
}

function entriesTable({ moment, amount }: OpsRequest, { entries, wallet }: DeskDetails): Html {
  const currency = wallet?.currency ?? '';
  return listing({
    caption: 'What it booked in the wallet',
    columns: ['When', 'Entry', 'From', 'To', 'Amount', 'Balance after'],
    numbers: [4, 5],
    rows: entries.map((entry) => [
      moment(entry.at.getTime()),
      code(entry.kind),
      entry.debit,
      entry.credit,
      amount(microsSumFromRow(entry.amount_micros), currency),
      amount(entry.balance_after_micros, currency),
    ]),
    empty: 'It has no entries in any wallet.',
  });
}

/** Cases that are closed. */
function solvedTable({ moment }: OpsRequest, { cases }: DeskDetails): Html {
  return listing({
    caption: 'Decisions',
    columns: ['When', 'What', 'How'],
    rows: cases
      .filter(({ row }) => row.closed_at !== null)
      .map(({ row }) => [
        moment(row.closed_at?.getTime() ?? 0),
        TEXTS.cases[row.kind],
        Object.hasOwn(ACT_TEXTS, row.closed_as ?? '') ? ACT_TEXTS[row.closed_as as CaseAct].name : TEXTS.settled,
      ]),
    empty: 'There are no decisions.',
  });
}

function historyTable({ moment }: OpsRequest, { history }: DeskDetails): Html {
  return listing({
    caption: 'History',
    columns: ['When', 'Who', 'What', 'Why'],
    rows: history.map(({ atMs, actor, actorName, action, reason }) => [
      moment(atMs),
      actorName ?? actor,
      code(action),
      reason ?? '',
    ]),
    empty: 'There is no history.',
  });
}

/**
 * The page `/ops/payment-case?id=&case=&act=`, which asks once more, and shows first what the act will do to the
 * books.
 */
export const casePage = actPage({
  show: async (asked, again) => {
    const { id, caseId, act } = chosenOf(again?.form.field ?? asked.asks);
    const refusal = again?.refusal;
    const found = await asked.operator.paymentDesk.find(id);
    const one = found?.cases.find(({ row }) => row.case_id === caseId);
    const effect = one?.effects.find((each) => each.act === act);
    const back = linkLine(opsPath('payment', { id }), 'Back to the payment');
    if (caseId === undefined || one === undefined || effect === undefined) {
      const why = refusal ?? refuse('NOT_FOUND', TEXTS.noCase);
      const body = card(html`<p role="alert">${why.message}</p>`, found === undefined ? undefined : back);
      return asked.show({ title: 'No such case', body, below: 'payments', refusal: why, isSaid: true });
    }
    const { name, what } = ACT_TEXTS[effect.act];
    const chosen = { id, case: caseId, act: effect.act };
    const fields = html`${hiddenFields(chosen)}${reasonField({ autocomplete: 'off' })}
${button(name, { kind: 'danger' })}`;
    const body = html`${card(html`<p>${TEXTS.cases[one.row.kind]}</p>`, html`<p>${what}</p>`, effectOf(asked, one.row, effect))}
${card(asked.form('payment-case', fields, { query: chosen }), back)}`;
    return asked.show({ title: name, body, below: 'payments', refusal });
  },
  act: async (asked, form) => {
    const { id, caseId, act } = chosenOf(form.field);
    if (act === undefined || caseId === undefined) return refuse('NOT_FOUND', TEXTS.noCase);
    const reason = reasonIn(form, TEXTS.noReason);
    const done = await asked.operator.paymentDesk.solve(asked.act(reason), { caseId, act });
    if (done instanceof PendingAct) return opsPath('pending', { id: done.pendingId });
    if (done instanceof Refusal) return done;
    return done === 'declined' ? refuse('CONFLICT', TEXTS.declined) : opsPath('payment', { id, done: act });
  },
});

/** A case of a payment, and an act that solves it, as an address or a form names them. */
function chosenOf(field: (name: string) => string) {
  return {
    id: field('id'),
    caseId: parseId('case', field('case')),
    act: CASE_ACTS.find((one) => one === field('act')),
  };
}

function change(now: string, after: string): Html {
  return html`${now} before<br>${after} after`;
}

function word(is: boolean): string {
  return is ? 'yes' : 'no';
}

/** What an act will do, exact to the micro, in the currency of the payment that went wrong. */
function effectOf(asked: OpsRequest, row: CaseRow, { entries, before, after, paidBack }: CaseEffect): Html {
  const shown = (amount: bigint) => asked.amount(amount, row.currency);
  const list = listing({
    caption: 'What it will do to the books',
    columns: ['Entry', 'From', 'To', 'Amount'],
    numbers: [3],
    rows: entries.map(({ kind, debit, credit, amount }) => [code(kind), debit, credit, shown(amount)]),
    empty: 'Nothing will be booked.',
  });
  const isMoved = before !== undefined && after !== undefined && entries.length > 0;
  const facts = definitionList([
    paidBack === undefined ? undefined : ['Paid back to the payer', shown(paidBack)],
    isMoved ? ['Balance of the wallet', change(shown(before.balance), shown(after.balance))] : undefined,
    isMoved && (before.shortfall > 0n || after.shortfall > 0n)
      ? ['Owed to us', change(shown(before.shortfall), shown(after.shortfall))]
      : undefined,
    isMoved && before.isSuspended !== after.isSuspended
      ? ['Suspended', change(word(before.isSuspended), word(after.isSuspended))]
      : undefined,
  ]);
  return html`${list}${facts}${entries.length > 0 ? html`<p class="soft">${TEXTS.calls}</p>` : undefined}`;
}
