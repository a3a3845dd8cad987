import type { OperatorRole } from '@purser/contract/operator-access.ts';
import { reason as reasonSchema } from '@purser/contract/operator.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/fields/form.ts';
import { moment } from '#web/figures/moment.ts';
import { linkLine, pager } from '#web/components/navigation.ts';
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
import { type AppNames, appLink, thingLink } from '#web/ops/frame/links.ts';
import { PENDING_TEXTS as TEXTS } from '#web/ops/pending/texts.ts';

const PAGE = 'pending';
const ROWS = 50;
const REASON_LENGTH_MAX = 500;
const DIGITS = /^\d{1,18}$/;

/**
 * Makes the page `/ops/pending`, which shows acts that wait for a second person. With `id`, it shows one of them, and
 * the forms that decide about it (CP-07).
 */
export function pendingPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => {
      const id = asked.request.query.get('id');
      return id === null ? showList(services, asked) : showAct(services, asked, id);
    },
    POST: async (asked, form) => {
      const done = await decide(services, asked, form);
      if (!(done instanceof Refusal)) return redirectTo(opsPath(PAGE, { id: form.field('id'), done }));
      return showAct(services, asked, form.field('id'), done);
    },
  });
}

async function decide({ operator }: OpsServices, asked: OpsRequest, form: Form): Promise<string | Refusal> {
  const reason = reasonSchema.safeParse(form.field('reason'));
  if (!reason.success) return refuse('BAD_REQUEST', TEXTS.unfit);
  const act = asked.act(reason.data);
  const isRejected = form.field('act') === 'reject';
  const done = isRejected
    ? await operator.pending.reject(act, form.field('id'))
    : await operator.pending.confirm(act, form.field('id'));
  if (done instanceof Refusal) return done;
  return isRejected ? 'rejected' : 'confirmed';
}

async function showList(services: OpsServices, asked: OpsRequest): Promise<PageResponse> {
  const { query } = asked.request;
  const isAll = query.get('show') === 'all';
  const typed = query.get('before') ?? '';
  const before = DIGITS.test(typed) ? typed : undefined;
  const { acts, next } = await services.operator.pending.list({ before, most: ROWS, isWaiting: !isAll });
  const names = await services.operator.apps.names(acts.map(({ subject }) => subjectOf(subject).appId));
  const show = isAll ? 'all' : undefined;
  const body = html`${successNotice(TEXTS.done.get(query.get('done')))}
<p class="soft">${TEXTS.what}</p>
${card(
  table({
    caption: isAll ? TEXTS.all : TEXTS.waiting,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 2 })),
    rows: acts.map((act) => rowOf(services, asked, act, names)),
    empty: isAll ? TEXTS.none : TEXTS.nobody,
  }),
)}
${pager({
  newer: before === undefined ? undefined : { href: opsPath(PAGE, { show }), text: TEXTS.newest },
  older: next === undefined ? undefined : { href: opsPath(PAGE, { show, before: next }), text: TEXTS.older },
})}
${isAll ? linkLine(opsPath(PAGE), TEXTS.toWaiting) : linkLine(opsPath(PAGE, { show: 'all' }), TEXTS.toAll)}`;
  return showOpsPage(services, asked, { title: TEXTS.title, body, page: PAGE });
}

/** The app, user and payment of an act. */
function subjectOf(subject: string) {
  const [appId = '', userId = '', paymentId] = subject.split(' ');
  return { appId, userId, paymentId };
}

function subjectPart(role: OperatorRole, subject: string, names: AppNames): Html {
  const { appId, userId, paymentId } = subjectOf(subject);
  const payment = paymentId === undefined ? undefined : thingLink(role, { kind: 'payment', id: paymentId });
  return html`${thingLink(role, { kind: 'wallet', id: `${appId} ${userId}` }, userId)}${payment && html`<br>${payment}`}<br>${appLink(role, appId, names)}`;
}

function rowOf({ currency }: OpsServices, { role, request }: OpsRequest, act: PendingAct, names: AppNames) {
  const name = TEXTS.actions.get(act.action) ?? act.action;
  return [
    html`<a href="${opsPath(PAGE, { id: act.pendingId })}">${name}</a>`,
    subjectPart(role, act.subject, names),
    request.formats.coins(act.amount, currency),
    act.requestedEmail,
    TEXTS.states[act.state],
  ];
}

async function showAct(
  services: OpsServices,
  asked: OpsRequest,
  pendingId: string,
  refused?: Refusal,
): Promise<PageResponse> {
  const act = await services.operator.pending.find(pendingId);
  const refusal = refused ?? (act === undefined ? refuse('NOT_FOUND', TEXTS.noSuch) : undefined);
  const names = await services.operator.apps.names(act === undefined ? [] : [subjectOf(act.subject).appId]);
  const title = act === undefined ? TEXTS.title : (TEXTS.actions.get(act.action) ?? act.action);
  const body = html`${errorSummary(refusal?.message)}${successNotice(TEXTS.done.get(asked.request.query.get('done')))}
${act === undefined ? linkLine(opsPath(PAGE), TEXTS.title) : partsOf(services, asked, act, names)}`;
  return showOpsPage(services, asked, { title, body, page: PAGE, above: TEXTS.title, refusal });
}

function partsOf({ currency }: OpsServices, asked: OpsRequest, act: PendingAct, names: AppNames): Html {
  const { formats } = asked.request;
  const at = (epochMs: number) => moment(epochMs, formats);
  const { decision } = act;
  const amount = html`${formats.amount(act.amount, currency)}<br><span class="soft">${TEXTS.exactly(formats.count(Number(act.amount)))}</span>`;
  const facts = definitionList([
    [TEXTS.wallet, subjectPart(asked.role, act.subject, names)],
    [TEXTS.amount, amount],
    [TEXTS.reason, act.reason],
    [TEXTS.requestedBy, act.requestedEmail],
    [TEXTS.requestedAt, at(act.requestedAtMs)],
    [TEXTS.state, TEXTS.states[act.state]],
    act.state === 'waiting' ? [TEXTS.expiresAt, at(act.expiresAtMs)] : undefined,
    ...(decision === undefined
      ? []
      : ([
          [TEXTS.decidedBy, decision.email],
          [TEXTS.decidedAt, at(decision.atMs)],
          [TEXTS.decidedReason, decision.reason],
        ] as const)),
  ]);
  return html`${card(facts)}
${section({ id: 'effect', heading: TEXTS.effect, body: [html`<p class="soft">${TEXTS.effectWhat}</p>`, effectOf(act)] })}
${act.state === 'waiting' ? section({ id: 'decide', heading: TEXTS.decide, body: decisionOf(asked, act) }) : undefined}`;
}

/** The fields that differ, exact to the micro. */
function effectOf({ before, after }: PendingAct): Html {
  const names = Object.keys({ ...before, ...after }).filter((name) => before?.[name] !== after?.[name]);
  return table({
    caption: TEXTS.effect,
    columns: TEXTS.effectColumns.map((name, at) => ({ name, isNumeric: at > 0 })),
    rows: names.map((name) => [name, textOf(before?.[name]), textOf(after?.[name])]),
    empty: TEXTS.nothing,
  });
}

/** A balance, a cap or a state of a wallet. Micros have thousands apart, so that nobody counts zeros. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return value.toLocaleString('en');
  return value === undefined || value === null ? '–' : JSON.stringify(value);
}

/** The person who asked for the act may only reject it. */
function decisionOf(asked: OpsRequest, act: PendingAct): readonly (Html | undefined)[] {
  const isOwn = act.requestedBy === asked.signedIn.account.accountId;
  const fields = html`${hiddenField('id', act.pendingId)}
${textField({ name: 'reason', label: TEXTS.why, hint: TEXTS.whyHint, lengthMax: REASON_LENGTH_MAX, isRequired: true })}
<div class="row">${isOwn ? undefined : button(TEXTS.confirm, { name: 'act', value: 'confirm' })}
${button(TEXTS.reject, { kind: 'danger', name: 'act', value: 'reject' })}</div>`;
  return [isOwn ? html`<p>${TEXTS.own}</p>` : undefined, asked.form(PAGE, fields)];
}
