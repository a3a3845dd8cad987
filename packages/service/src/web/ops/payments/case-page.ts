import { type Html, html } from '#kernel/text/html.ts';
import { parseId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { CASE_ACTS, type CaseEffect } from '#payments/cases/effects.ts';
import type { CaseRow } from '#payments/cases/queries.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import { actPage, hiddenFields, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { ACT_TEXTS, CASE_TEXTS, CONFIRM_TEXTS as TEXTS } from '#web/ops/payments/texts.ts';

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
      const why = refusal ?? refuse('NOT_FOUND', TEXTS.none);
      const body = card(html`<p role="alert">${why.message}</p>`, found === undefined ? undefined : back);
      return asked.show({ title: 'No such case', body, below: 'payments', refusal: why, isSaid: true });
    }
    const { name, what } = ACT_TEXTS[effect.act];
    const chosen = { id, case: caseId, act: effect.act };
    const fields = html`${hiddenFields(chosen)}${reasonField({ autocomplete: 'off' })}
${button(name, { kind: 'danger' })}`;
    const body = html`${card(html`<p>${CASE_TEXTS[one.row.kind]}</p>`, html`<p>${what}</p>`, effectOf(asked, one.row, effect))}
${card(asked.form('payment-case', fields, { query: chosen }), back)}`;
    return asked.show({ title: name, body, below: 'payments', refusal });
  },
  act: async (asked, form) => {
    const { id, caseId, act } = chosenOf(form.field);
    if (act === undefined || caseId === undefined) return refuse('NOT_FOUND', TEXTS.none);
    const reason = reasonIn(form, TEXTS.noReason);
    if (reason instanceof Refusal) return reason;
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
