import { type Html, html } from '#kernel/text/html.ts';
import { parseEndUserId, parseId } from '#kernel/values/ids.ts';
import { microsFromRow } from '#kernel/values/micros.ts';
import { PAYMENT_KINDS, PAYMENT_STATES, type PaymentFilter, type PaymentLine } from '#payments/overview/queries.ts';
import { badge } from '#web/components/badge.ts';
import { filterForm } from '#web/fields/filter.ts';
import { moment } from '#web/figures/moment.ts';
import { pager } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator, type OpsRequest } from '#web/ops/frame/for-operator.ts';
import { showOpsPage } from '#web/ops/frame/ops-page.ts';
import { ofCells } from '#web/ops/frame/of-cells.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import type { OpsServices } from '#web/ops/frame/services.ts';
import { type AppNames, appLink, thingLink } from '#web/ops/frame/links.ts';
import { ANOMALY_TEXTS, KIND_TEXTS, PAYMENTS_TEXTS as TEXTS, STATE_TEXTS } from '#web/ops/payments/texts.ts';

const PAGE_LINES = 50;
const DAY_MS = 24 * 60 * 60 * 1_000;

/** What was typed into the filters. If all are empty, everything is shown. */
type Typed = Readonly<Record<'kind' | 'state' | 'app' | 'user' | 'age' | 'waits', string>>;

/** Makes the page `/ops/payments`, which shows everything about payments, the newest first. */
export function paymentsPage(services: OpsServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const asks = (name: string) => asked.request.query.get(name)?.trim() ?? '';
      if (asks('id') !== '') return redirectTo(opsPath('payment', { id: asks('id') }));
      const typed: Typed = {
        kind: asks('kind'),
        state: asks('state'),
        app: asks('app'),
        user: asks('user'),
        age: asks('age'),
        waits: asks('waits'),
      };
      const filter = filterOf(typed, services.clock.nowMs());
      const after = asks('before');
      const found =
        filter === undefined
          ? { lines: [], next: undefined }
          : await services.operator.paymentDesk.page(filter, { after, most: PAGE_LINES });
      const names = await services.operator.apps.names(found.lines.map((line) => line.app_id));
      const { cell } = services.operator;
      const list = table({
        caption: TEXTS.caption,
        columns: [
          ...TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 5 })),
          ...(cell === undefined ? [] : [{ name: TEXTS.cell }]),
        ],
        rows: found.lines.map((line) => [
          ...rowOf(asked, line, { names, own: cell }),
          ...(cell === undefined ? [] : [line.cell ?? cell]),
        ]),
        empty: typed.waits === 'true' ? TEXTS.noneWaits : TEXTS.none,
      });
      const older = found.next === undefined ? undefined : opsPath('payments', { ...typed, before: found.next });
      const pages = pager({
        newer: after === '' ? undefined : { href: opsPath('payments', typed), text: TEXTS.newest },
        older: older === undefined ? undefined : { href: older, text: TEXTS.older },
      });
      const body = html`<p class="soft">${TEXTS.what}</p>${ofCells(cell, TEXTS.otherCells)}
${filterForm(opsPath('payments'), 'live', fieldsOf(typed))}
${card(list, pages)}`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'payments' });
    },
  });
}

/** Returns undefined if what was typed cannot be an app or a user, so that it fits nothing. */
function filterOf({ kind, state, app, user, age, waits }: Typed, nowMs: number): PaymentFilter | undefined {
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

function choicesOf(texts: Readonly<Record<string, string>>) {
  return [{ value: '', text: TEXTS.all }, ...Object.entries(texts).map(([value, text]) => ({ value, text }))];
}

function fieldsOf({ kind, state, app, user, age, waits }: Typed) {
  return [
    { name: 'waits', label: TEXTS.only, value: waits, choices: choicesOf({ true: TEXTS.onlyWaits }) },
    { name: 'kind', label: TEXTS.kind, value: kind, choices: choicesOf(KIND_TEXTS) },
    { name: 'state', label: TEXTS.state, value: state, choices: choicesOf(STATE_TEXTS) },
    {
      name: 'age',
      label: TEXTS.age,
      value: age,
      choices: Object.entries(TEXTS.ages).map(([value, text]) => ({ value, text })),
    },
    { name: 'app', label: TEXTS.app, value: app },
    { name: 'user', label: TEXTS.user, value: user },
    { name: 'id', label: TEXTS.find, value: '' },
  ];
}

function rowOf(
  { role, request }: OpsRequest,
  line: PaymentLine,
  { names, own }: { readonly names: AppNames; readonly own: string | undefined },
): readonly (Html | string)[] {
  const { formats } = request;
  const at = moment(line.at.getTime(), formats);
  const isHere = line.cell === own;
  const state = badge(STATE_TEXTS[line.state], line.state === 'kept' || line.waits ? 'warn' : 'good');
  const notes = [
    line.anomaly === null ? undefined : ANOMALY_TEXTS[line.anomaly],
    line.waits ? TEXTS.waits : undefined,
  ].filter((note) => note !== undefined);
  return [
    isHere ? html`<a href="${opsPath('payment', { id: line.id })}">${at}</a>` : at,
    KIND_TEXTS[line.kind],
    html`${state}${notes.map((note) => html`<br><span class="soft">${note}</span>`)}`,
    appLink(role, line.app_id, names),
    isHere ? thingLink(role, { kind: 'wallet', id: `${line.app_id} ${line.user_id}` }, line.user_id) : line.user_id,
    formats.amount(microsFromRow(line.amount_micros), line.currency),
  ];
}
