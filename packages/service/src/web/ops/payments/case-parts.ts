import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import type { DeskDetails } from '#operator/money/payment-desk.ts';
import type { CaseAct, CaseEffect } from '#payments/cases/effects.ts';
import type { CaseRow } from '#payments/cases/queries.ts';
import type { CaseWithEffects } from '#payments/overview/overview.ts';
import { buttonLink } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { OpsRequest } from '#web/ops/frame/for-operator.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import {
  ACT_TEXTS,
  ANOMALY_TEXTS,
  CASE_TEXTS,
  CONFIRM_TEXTS,
  OBSTACLE_TEXTS,
  PAYMENT_TEXTS as TEXTS,
  SETTLED_TEXT,
} from '#web/ops/payments/texts.ts';

export const REASON_LENGTH_MAX = 500;

/** The currency of a case: money that went wrong is in that of its payment. */
function amountIn({ request }: OpsRequest, amount: Micros, row: CaseRow): string {
  return request.formats.amount(amount, row.currency);
}

/** What waits, each with the ways to solve it. Undefined if nothing does. */
export function casesSection(asked: OpsRequest, { cases }: DeskDetails): Html | undefined {
  const open = cases.filter(({ row }) => row.closed_at === null);
  if (open.length === 0) return undefined;
  return section({ id: 'waiting', heading: TEXTS.waiting, body: open.map((one) => caseOf(asked, one)) });
}

function caseOf(asked: OpsRequest, { row, amount, effects }: CaseWithEffects): Html {
  const facts = definitionList([
    [TEXTS.amount, amountIn(asked, amount, row)],
    [TEXTS.since, moment(row.opened_at.getTime(), asked.request.formats)],
    row.anomaly === null ? undefined : [TEXTS.anomaly, ANOMALY_TEXTS[row.anomaly]],
    row.subject === row.payment_id ? undefined : [TEXTS.about, html`<code>${row.subject}</code>`],
  ]);
  return html`<div class="alert"><p><strong>${CASE_TEXTS[row.kind]}</strong></p>
${facts}
<div class="row">${effects.map((effect) => wayOf(row, effect))}</div></div>`;
}

/** The way to the page that asks once more, or why there is none. */
function wayOf(row: CaseRow, { act, obstacle }: CaseEffect): Html {
  if (obstacle !== undefined) return html`<p>${ACT_TEXTS[act].name}: ${OBSTACLE_TEXTS[obstacle]}</p>`;
  const href = opsPath('payment-case', { id: row.payment_id, case: row.case_id, act });
  return buttonLink(href, ACT_TEXTS[act].name, 'quiet');
}

/** Cases that are closed. */
export function solvedTable({ request }: OpsRequest, { cases }: DeskDetails): Html {
  const closed = cases.filter(({ row }) => row.closed_at !== null);
  return table({
    caption: TEXTS.solved,
    columns: TEXTS.solvedColumns.map((name) => ({ name })),
    rows: closed.map(({ row }) => [
      moment(row.closed_at?.getTime() ?? 0, request.formats),
      CASE_TEXTS[row.kind],
      Object.hasOwn(ACT_TEXTS, row.closed_as ?? '') ? ACT_TEXTS[row.closed_as as CaseAct].name : SETTLED_TEXT,
    ]),
    empty: TEXTS.noSolved,
  });
}

function change(now: string, after: string): Html {
  return html`${now} ${CONFIRM_TEXTS.now}<br>${after} ${CONFIRM_TEXTS.after}`;
}

function word(is: boolean): string {
  return is ? CONFIRM_TEXTS.yes : CONFIRM_TEXTS.no;
}

/** What an act will do, exact to the micro. */
export function effectPart(asked: OpsRequest, row: CaseRow, effect: CaseEffect): Html {
  const { entries, before, after, paidBack } = effect;
  const shown = (amount: Micros) => amountIn(asked, amount, row);
  const list = table({
    caption: CONFIRM_TEXTS.effect,
    columns: CONFIRM_TEXTS.columns.map((name, at) => ({ name, isNumeric: at === 3 })),
    rows: entries.map((entry) => [html`<code>${entry.kind}</code>`, entry.debit, entry.credit, shown(entry.amount)]),
    empty: CONFIRM_TEXTS.noEntries,
  });
  const isMoved = before !== undefined && after !== undefined && entries.length > 0;
  const facts = definitionList([
    paidBack === undefined ? undefined : [CONFIRM_TEXTS.paidBack, shown(paidBack)],
    isMoved ? [CONFIRM_TEXTS.balance, change(shown(before.balance), shown(after.balance))] : undefined,
    isMoved && (before.shortfall > 0n || after.shortfall > 0n)
      ? [CONFIRM_TEXTS.owed, change(shown(before.shortfall), shown(after.shortfall))]
      : undefined,
    isMoved && before.isSuspended !== after.isSuspended
      ? [CONFIRM_TEXTS.suspended, change(word(before.isSuspended), word(after.isSuspended))]
      : undefined,
  ]);
  return html`${list}${facts}${entries.length > 0 ? html`<p class="soft">${CONFIRM_TEXTS.calls}</p>` : undefined}`;
}
