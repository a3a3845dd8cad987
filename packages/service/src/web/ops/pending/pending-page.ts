import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { button, card, definitionList, linkLine } from '#web/components/parts.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { type Again, actPage, reasonField, reasonIn } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, listing, opsPath, part, soft } from '#web/ops/frame/details.ts';
import { pagerOf, placeIn } from '#web/ops/frame/list-page.ts';
import { PENDING_TEXTS as TEXTS } from '#web/ops/pending/texts.ts';

const PAGE = 'pending';
const ROWS = 50;
const CURSOR = { name: 'before', first: 'Newest acts', more: 'Older acts', fits: /^\d{1,18}$/ };

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
    const reason = reasonIn(form, 'Give a reason of at most 500 characters.');
    const id = form.field('id');
    const isRejected = form.field('act') === 'reject';
    granted(isRejected ? await pending.reject(act(reason), id) : await pending.confirm(act(reason), id));
    return opsPath(PAGE, { id, done: isRejected ? 'rejected' : 'confirmed' });
  },
});

async function showList(asked: OpsRequest): Promise<PageResponse> {
  const { operator, asks } = asked;
  const isAll = asks('show') === 'all';
  const before = placeIn(asked, CURSOR);
  const { acts, next } = await operator.pending.list({ before, most: ROWS, isWaiting: !isAll });
  const names = await operator.apps.names(acts.map(({ subject }) => subjectOf(subject).appId));
  const list = listing({
    caption: isAll ? 'All acts' : 'Waiting acts',
    columns: ['Act', 'Wallet', 'Amount', 'Requested by', 'State'],
    numbers: [2],
    rows: acts.map((act) => cellsOf(asked, act, names)),
    empty: isAll ? 'No act has ever waited for a second person.' : 'No acts are waiting for a second person.',
  });
  const query = { show: isAll ? 'all' : undefined };
  const body = html`<p class="soft">${TEXTS.what}</p>
${card(list)}
${pagerOf(CURSOR, { page: PAGE, query, place: before, next })}
${isAll ? linkLine(opsPath(PAGE), TEXTS.toWaiting) : linkLine(opsPath(PAGE, { show: 'all' }), 'Show all acts')}`;
  return asked.show({ title: TEXTS.title, body, page: PAGE, done: TEXTS.done });
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
  const refusal = again?.refusal ?? (act === undefined ? refuse('NOT_FOUND', 'There is no such act.') : undefined);
  const names = await asked.operator.apps.names(act === undefined ? [] : [subjectOf(act.subject).appId]);
  const body = html`${act === undefined ? linkLine(opsPath(PAGE), TEXTS.title) : partsOf(asked, act, names)}`;
  return asked.show({
    title: act === undefined ? TEXTS.title : nameOf(act),
    body,
    below: PAGE,
    refusal,
    done: TEXTS.done,
  });
}

function partsOf(asked: OpsRequest, act: PendingAct, names: AppNames): Html {
  const { formats, moment, amount } = asked;
  const { decision, state } = act;
  const facts = definitionList([
    ['Wallet', subjectPart(asked, act.subject, names)],
    ['Amount', html`${amount(act.amount)}<br>${soft(TEXTS.exactly(formats.count(Number(act.amount))))}`],
    ['Reason', act.reason],
    ['Requested by', act.requestedEmail],
    ['Requested', moment(act.requestedAtMs)],
    ['State', TEXTS.states[state]],
    state === 'waiting' ? ['Expires', moment(act.expiresAtMs)] : undefined,
    decision && ['Decided by', decision.email],
    decision && ['Decided', moment(decision.atMs)],
    decision && ['Reason for the decision', decision.reason],
  ]);
  return html`${card(facts)}
${part('effect', TEXTS.effect, html`<p class="soft">${TEXTS.effectWhat}</p>`, effectOf(act))}
${state === 'waiting' ? part('decide', 'Decide', ...decisionOf(asked, act)) : undefined}`;
}

/** The fields that differ, exact to the micro. */
function effectOf({ before, after }: PendingAct): Html {
  const names = Object.keys({ ...before, ...after }).filter((name) => before?.[name] !== after?.[name]);
  return listing({
    caption: TEXTS.effect,
    columns: ['Field', 'Before', 'After'],
    numbers: [1, 2],
    rows: names.map((name) => [name, textOf(before?.[name]), textOf(after?.[name])]),
    empty: 'Nothing else changes.',
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
${reasonField({ label: 'Reason for your decision', hint: 'It is kept in the audit trail.' })}
<div class="row">${isOwn ? undefined : button('Confirm the act', { name: 'act', value: 'confirm' })}
${button('Reject', { kind: 'danger', name: 'act', value: 'reject' })}</div>`;
  return [isOwn ? html`<p>${TEXTS.own}</p>` : undefined, asked.form(PAGE, fields)];
}
