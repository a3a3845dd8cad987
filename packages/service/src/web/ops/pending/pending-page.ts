import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';
import { button } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/fields/form.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { type Again, actPage, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { listing, part, soft } from '#web/ops/frame/details.ts';
import type { AppNames } from '#web/ops/frame/links.ts';
import { pagerOf, placeIn } from '#web/ops/frame/list-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { PENDING_TEXTS as TEXTS } from '#web/ops/pending/texts.ts';

const PAGE = 'pending';
const ROWS = 50;
const CURSOR = { name: 'before', first: TEXTS.newest, more: TEXTS.older, fits: /^\d{1,18}$/ };

/**
 * The page `/ops/pending`, which shows acts that wait for a second person. With `id`, it shows one of them, and
 * the forms that decide about it (CP-07).
 */
export const pendingPage = actPage({
  show: (asked, again) => {
    const id = again?.form.field('id') ?? asked.query.get('id');
    return id === null ? showList(asked) : showAct(asked, id, again);
  },
  act: async ({ operator: { pending }, act }, form) => {
    const reason = reasonIn(form, TEXTS.unfit);
    if (reason instanceof Refusal) return reason;
    const id = form.field('id');
    const isRejected = form.field('act') === 'reject';
    const done = isRejected ? await pending.reject(act(reason), id) : await pending.confirm(act(reason), id);
    return done instanceof Refusal ? done : opsPath(PAGE, { id, done: isRejected ? 'rejected' : 'confirmed' });
  },
});

async function showList(asked: OpsRequest): Promise<PageResponse> {
  const { operator, asks } = asked;
  const isAll = asks('show') === 'all';
  const before = placeIn(asked, CURSOR);
  const { acts, next } = await operator.pending.list({ before, most: ROWS, isWaiting: !isAll });
  const names = await operator.apps.names(acts.map(({ subject }) => subjectOf(subject).appId));
  const list = listing({
    caption: isAll ? TEXTS.all : TEXTS.waiting,
    columns: TEXTS.columns,
    numbers: [2],
    rows: acts.map((act) => cellsOf(asked, act, names)),
    empty: isAll ? TEXTS.none : TEXTS.nobody,
  });
  const query = { show: isAll ? 'all' : undefined };
  const body = html`<p class="soft">${TEXTS.what}</p>
${card(list)}
${pagerOf(CURSOR, { page: PAGE, query, place: before, next })}
${isAll ? linkLine(opsPath(PAGE), TEXTS.toWaiting) : linkLine(opsPath(PAGE, { show: 'all' }), TEXTS.toAll)}`;
  return asked.show({ title: TEXTS.title, body, page: PAGE, done: TEXTS.done.get(asks('done')) });
}

/** The app, user and payment of an act. */
function subjectOf(subject: string) {
  const [appId = '', userId = '', paymentId] = subject.split(' ');
  return { appId, userId, paymentId };
}

function subjectPart({ link, appLink }: OpsRequest, subject: string, names: AppNames): Html {
  const { appId, userId, paymentId } = subjectOf(subject);
  const payment = paymentId === undefined ? undefined : html`<br>${link({ kind: 'payment', id: paymentId })}`;
  return html`${link({ kind: 'wallet', id: `${appId} ${userId}` }, userId)}${payment}<br>${appLink(appId, names)}`;
}

function nameOf({ action }: PendingAct): string {
  return TEXTS.actions.get(action) ?? action;
}

function cellsOf(asked: OpsRequest, act: PendingAct, names: AppNames): readonly (Html | string)[] {
  return [
    html`<a href="${opsPath(PAGE, { id: act.pendingId })}">${nameOf(act)}</a>`,
    subjectPart(asked, act.subject, names),
    asked.formats.coins(act.amount, asked.currency),
    act.requestedEmail,
    TEXTS.states[act.state],
  ];
}

async function showAct(asked: OpsRequest, pendingId: string, again: Again | undefined): Promise<PageResponse> {
  const act = await asked.operator.pending.find(pendingId);
  const refusal = again?.refusal ?? (act === undefined ? refuse('NOT_FOUND', TEXTS.noSuch) : undefined);
  const names = await asked.operator.apps.names(act === undefined ? [] : [subjectOf(act.subject).appId]);
  const body = html`${act === undefined ? linkLine(opsPath(PAGE), TEXTS.title) : partsOf(asked, act, names)}`;
  const done = TEXTS.done.get(asked.asks('done'));
  return asked.show({ title: act === undefined ? TEXTS.title : nameOf(act), body, below: PAGE, refusal, done });
}

function partsOf(asked: OpsRequest, act: PendingAct, names: AppNames): Html {
  const { formats, moment, amount } = asked;
  const { decision, state } = act;
  const facts = definitionList([
    [TEXTS.wallet, subjectPart(asked, act.subject, names)],
    [TEXTS.amount, html`${amount(act.amount)}<br>${soft(TEXTS.exactly(formats.count(Number(act.amount))))}`],
    [TEXTS.reason, act.reason],
    [TEXTS.requestedBy, act.requestedEmail],
    [TEXTS.requestedAt, moment(act.requestedAtMs)],
    [TEXTS.state, TEXTS.states[state]],
    state === 'waiting' ? [TEXTS.expiresAt, moment(act.expiresAtMs)] : undefined,
    decision && [TEXTS.decidedBy, decision.email],
    decision && [TEXTS.decidedAt, moment(decision.atMs)],
    decision && [TEXTS.decidedReason, decision.reason],
  ]);
  return html`${card(facts)}
${part('effect', TEXTS.effect, html`<p class="soft">${TEXTS.effectWhat}</p>`, effectOf(act))}
${state === 'waiting' ? part('decide', TEXTS.decide, ...decisionOf(asked, act)) : undefined}`;
}

/** The fields that differ, exact to the micro. */
function effectOf({ before, after }: PendingAct): Html {
  const names = Object.keys({ ...before, ...after }).filter((name) => before?.[name] !== after?.[name]);
  return listing({
    caption: TEXTS.effect,
    columns: TEXTS.effectColumns,
    numbers: [1, 2],
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
${reasonField({ label: TEXTS.why, hint: TEXTS.whyHint })}
<div class="row">${isOwn ? undefined : button(TEXTS.confirm, { name: 'act', value: 'confirm' })}
${button(TEXTS.reject, { kind: 'danger', name: 'act', value: 'reject' })}</div>`;
  return [isOwn ? html`<p>${TEXTS.own}</p>` : undefined, asked.form(PAGE, fields)];
}
