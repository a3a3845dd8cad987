import { html } from '#kernel/text/html.ts';
import { parseEndUserId, parseId } from '#kernel/values/ids.ts';
import { PAYMENT_KINDS, PAYMENT_STATES, type PaymentFilter, type PaymentLine } from '#payments/overview/queries.ts';
import { badge } from '#web/components/parts.ts';
import { redirectTo } from '#web/frame/page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { type AppNames, ofCells, opsPath, soft } from '#web/ops/frame/details.ts';
import { choicesOf, listPage, type Typed } from '#web/ops/frame/list-page.ts';
import { ANOMALY_TEXTS, KIND_TEXTS, PAYMENTS_TEXTS as TEXTS, STATE_TEXTS } from '#web/ops/payments/texts.ts';

const PAGE_LINES = 50;
const DAY_MS = 24 * 60 * 60 * 1_000;

const FIELDS = {
  waits: { label: 'Show', choices: choicesOf({ true: 'Only what needs a decision' }, TEXTS.all) },
  kind: { label: 'What', choices: choicesOf(KIND_TEXTS, TEXTS.all) },
  state: { label: 'State', choices: choicesOf(STATE_TEXTS, TEXTS.all) },
  age: { label: 'Age', choices: choicesOf(TEXTS.ages) },
  app: { label: 'App' },
  user: { label: 'User' },
  id: { label: 'ID of a checkout, payment or refund' },
} as const;

const list = listPage({
  page: 'payments',
  title: 'Payments',
  above: ({ operator }) => html`<p class="soft">${TEXTS.what}</p>${ofCells(operator.cell, TEXTS.otherCells)}`,
  fields: () => FIELDS,
  cursor: { name: 'before', first: 'Newest', more: 'Older' },
  read: async ({ operator, clock }, typed, before = '') => {
    const filter = filterOf(typed, clock.nowMs());
    if (filter === undefined) return { rows: [], next: undefined };
    const { lines, next } = await operator.paymentDesk.page(filter, { after: before, most: PAGE_LINES });
    return { rows: lines, next };
  },
  caption: 'Payments',
  columns: ({ operator: { cell } }) => (cell === undefined ? TEXTS.columns : [...TEXTS.columns, 'Cell']),
  numbers: [5],
  appOf: (line: PaymentLine) => line.app_id,
  cells: cellsOf,
  empty: ({ waits }) => (waits === 'true' ? 'Nothing needs a decision.' : 'Nothing matches.'),
});

/** The page `/ops/payments`, which shows everything about payments, the newest first. With an id, it leads to that payment. */
export const paymentsPage: OpsPage = {
  GET: (asked) => {
    const id = asked.asks('id');
    return id === '' ? list.GET(asked) : redirectTo(opsPath('payment', { id }));
  },
};

/** Returns undefined if what was typed cannot be an app or a user, so that it fits nothing. */
function filterOf(typed: Typed<keyof typeof FIELDS>, nowMs: number): PaymentFilter | undefined {
  const { kind, state, app, user, age, waits } = typed;
  const appId = parseId('app', app);
  const userId = parseEndUserId(user);
  if ((app !== '' && appId === undefined) || (user !== '' && userId === undefined)) return undefined;
  const from: Readonly<Record<string, number>> = { day: 1, week: 7 };
  const until: Readonly<Record<string, number>> = { older1: 1, older7: 7, older30: 30 };
  const before = (days: number | undefined) => (days === undefined ? undefined : nowMs - days * DAY_MS);
  return {
    kind: PAYMENT_KINDS.find((one) => one === kind),
    state: PAYMENT_STATES.find((one) => one === state),
    appId,
    userId,
    fromMs: before(from[age]),
    untilMs: before(until[age]),
    waits: waits === 'true',
  };
}

function cellsOf(
  { operator: { cell }, moment, amount, appLink, link }: OpsRequest,
  line: PaymentLine,
  names: AppNames,
) {
  const at = moment(line.at.getTime());
  const isHere = line.cell === cell;
  const notes = [line.anomaly === null ? [] : ANOMALY_TEXTS[line.anomaly], line.waits ? 'Needs a decision' : []].flat();
  const state = badge(STATE_TEXTS[line.state], line.state === 'kept' || line.waits ? 'warn' : 'good');
  return [
    isHere ? html`<a href="${opsPath('payment', { id: line.id })}">${at}</a>` : at,
    KIND_TEXTS[line.kind],
    html`${state}${notes.map((note) => html`<br>${soft(note)}`)}`,
    appLink(line.app_id, names),
    isHere ? link({ kind: 'wallet', id: `${line.app_id} ${line.user_id}` }, line.user_id) : line.user_id,
    amount(line.amount_micros, line.currency),
    ...(cell === undefined ? [] : [line.cell ?? cell]),
  ];
}
