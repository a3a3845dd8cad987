import { html } from '#kernel/text/html.ts';
import { type CaseId, parseId } from '#kernel/values/ids.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { CASE_ACTS, type CaseAct } from '#payments/cases/effects.ts';
import { button } from '#web/components/button.ts';
import { hiddenField } from '#web/fields/form.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { textField } from '#web/fields/text-field.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { effectPart, REASON_LENGTH_MAX } from '#web/ops/payments/case-parts.ts';
import { ACT_TEXTS, CASE_TEXTS, CONFIRM_TEXTS as TEXTS, PAYMENTS_TEXTS } from '#web/ops/payments/texts.ts';

/** What the address names: a case of a payment, and an act that solves it. */
interface Chosen {
  readonly id: string;
  readonly caseId: CaseId | undefined;
  readonly act: CaseAct | undefined;
}

/**
 * Makes the page `/ops/payment-case?id=&case=&act=`, which asks once more, and shows first what the act will do to the
 * books.
 */
export function casePage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => {
      const of = (name: string) => asked.request.query.get(name) ?? '';
      return show(services, asked, chosenOf(of), undefined);
    },
    POST: (asked, form) => solve(services, asked, form),
  });
}

function chosenOf(of: (name: string) => string): Chosen {
  return { id: of('id'), caseId: parseId('case', of('case')), act: CASE_ACTS.find((one) => one === of('act')) };
}

async function solve(services: OpsServices, asked: OpsRequest, form: Form): Promise<PageResponse> {
  const chosen = chosenOf(form.field);
  const reason = form.field('reason').trim();
  const { id, caseId, act } = chosen;
  if (act === undefined || caseId === undefined) return show(services, asked, chosen, undefined);
  if (reason === '' || reason.length > REASON_LENGTH_MAX) {
    return show(services, asked, chosen, refuse('BAD_REQUEST', TEXTS.noReason));
  }
  const done = await services.operator.paymentDesk.solve(asked.act(reason), { caseId, act });
  if (done instanceof PendingAct) return redirectTo(opsPath('pending', { id: done.pendingId }));
  if (done instanceof Refusal) return show(services, asked, chosen, done);
  if (done === 'declined') return show(services, asked, chosen, refuse('CONFLICT', TEXTS.declined));
  return redirectTo(opsPath('payment', { id, done: act }));
}

async function show(
  services: OpsServices,
  asked: OpsRequest,
  { id, caseId, act }: Chosen,
  refusal: Refusal | undefined,
): Promise<PageResponse> {
  const where = { page: 'payments', above: PAYMENTS_TEXTS.title };
  const found = await services.operator.paymentDesk.find(id);
  const one = found?.cases.find(({ row }) => row.case_id === caseId);
  const effect = one?.effects.find((each) => each.act === act);
  const back = linkLine(opsPath('payment', { id }), TEXTS.toPayment);
  if (caseId === undefined || one === undefined || effect === undefined) {
    const why = refusal ?? refuse('NOT_FOUND', TEXTS.none);
    const body = html`${card(html`<p role="alert">${why.message}</p>`, found === undefined ? undefined : back)}`;
    return showOpsPage(services, asked, { ...where, title: TEXTS.noneTitle, body, refusal: why });
  }
  const { name, what } = ACT_TEXTS[effect.act];
  const fields = html`${hiddenField('id', id)}
${hiddenField('case', caseId)}
${hiddenField('act', effect.act)}
${textField({ name: 'reason', label: TEXTS.reason, isRequired: true, lengthMax: REASON_LENGTH_MAX, autocomplete: 'off' })}
${button(name, { kind: 'danger' })}`;
  const query = new URLSearchParams({ id, case: caseId, act: effect.act }).toString();
  const body = html`${errorSummary(refusal?.message)}
${card(html`<p>${CASE_TEXTS[one.row.kind]}</p>`, html`<p>${what}</p>`, effectPart(asked, one.row, effect))}
${card(asked.form('payment-case', fields, { query }), back)}`;
  return showOpsPage(services, asked, { ...where, title: name, body, refusal });
}
