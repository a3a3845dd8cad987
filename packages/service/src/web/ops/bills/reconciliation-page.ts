import { checkFields } from '@purser/contract/check-fields.ts';
import { OPERATOR_ACCESS } from '@purser/contract/operator-access.ts';
import { newReconciliationSchema } from '@purser/contract/reconciliation.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Difference } from '#reconciliation/reports/compare.ts';
import type { FiledReport } from '#reconciliation/reports/filing.ts';
import type { Reconciled } from '#reconciliation/reports/reconciliations.ts';
import type { OwnSum, Sum } from '#reconciliation/reports/sums.ts';
import { button } from '#web/components/button.ts';
import { figures } from '#web/figures/figures.ts';
import { fold } from '#web/components/fold.ts';
import { moment } from '#web/figures/moment.ts';
import { errorSummary, successNotice, warningNotice } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { Formats } from '#web/format/formats.ts';
import { withFieldLabels } from '#web/forms/field-labels.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import type { OpsServices } from '#web/ops/frame/asked.ts';
import {
  daysText,
  FILE_FORM_BYTES_MAX,
  fileField,
  lastMonth,
  periodFields,
  type TypedPeriod,
  typedPeriod,
} from '#web/ops/bills/file-fields.ts';
import { signedMoney } from '#web/ops/bills/signed-money.ts';
import { FILE_TEXTS, RECONCILIATION_TEXTS as TEXTS } from '#web/ops/bills/texts.ts';

const FILED_MOST = 20;
/** A page stays readable. The API lists up to a thousand. */
const SHOWN_MOST = 200;
const LABELS = { from: FILE_TEXTS.from, to: FILE_TEXTS.to, report: TEXTS.file };

/**
 * Makes the page `/ops/reconciliation`, which shows a report of the payment processor beside our books, and the reports
 * that were filed.
 */
export function reconciliationPage(services: OpsServices): PageMethods {
  const { reconciliations } = services.operator;
  return forOperator(services, {
    formBytesMax: FILE_FORM_BYTES_MAX,
    GET: (asked) => show(services, asked, { typed: lastMonth(services.clock.nowMs()) }),
    POST: async (asked, form) => {
      const typed = typedPeriod(form);
      const checked = checkFields(newReconciliationSchema, typed, LABELS);
      if ('problems' in checked) {
        const words = checked.problems.map(({ message }) => message).join(' ');
        return show(services, asked, { typed, refusal: refuse('BAD_REQUEST', words) });
      }
      const file = form.file('file');
      if (file === undefined && !reconciliations.hasList) {
        return show(services, asked, { typed, refusal: refuse('BAD_REQUEST', TEXTS.chooseFile) });
      }
      const { from, to } = checked.value;
      const done = await reconciliations.reconcile(asked.act(undefined), { from, to }, file && [file]);
      if (done instanceof Refusal) return show(services, asked, { typed, refusal: withFieldLabels(done, LABELS) });
      return show(services, asked, { typed, done });
    },
  });
}

interface Shown {
  readonly typed: TypedPeriod;
  readonly done?: Reconciled;
  readonly refusal?: Refusal;
}

async function show(services: OpsServices, asked: OpsRequest, { typed, done, refusal }: Shown): Promise<PageResponse> {
  const { reconciliations } = services.operator;
  const { formats, query } = asked.request;
  const before = /^\d{1,18}$/.exec(query.get('before') ?? '')?.[0];
  const filed = await reconciliations.filed({
    before: before === undefined ? undefined : BigInt(before),
    most: FILED_MOST,
  });
  const hint = `${TEXTS.fileHint} ${reconciliations.hasList ? TEXTS.orList : ''}`;
  const fields = html`${periodFields(typed)}
${fileField(TEXTS.file, hint, '.csv,text/csv', !reconciliations.hasList)}
${button(TEXTS.send)}`;
  const older =
    filed.length < FILED_MOST
      ? undefined
      : html`<p><a href="${opsPath('reconciliation', { before: String(filed.at(-1)?.seq) })}">${TEXTS.older}</a></p>`;
  const body = html`${errorSummary(refusal?.message)}<p>${TEXTS.intro}</p>
${done === undefined ? undefined : resultOf(done, formats)}
${section({ id: 'compare', heading: TEXTS.compare, body: [asked.form('reconciliation', fields, { hasFile: true })] })}
${section({ id: 'filed', heading: TEXTS.filed, body: [filedTable(filed, formats), older] })}`;
  return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'reconciliation', refusal });
}

function resultOf(done: Reconciled, formats: Formats): Html {
  const money = done.found - done.daysApart;
  const verdict = money === 0 ? successNotice(TEXTS.clean) : warningNotice(TEXTS.differ(formats.count(money)));
  const days = done.daysApart === 0 ? undefined : html`<p>${TEXTS.onlyDays(formats.count(done.daysApart))}</p>`;
  const tiles = figures([
    { name: TEXTS.lines, value: formats.count(done.lines) },
    { name: TEXTS.matched, value: formats.count(done.matched) },
    { name: TEXTS.differences, value: formats.count(money) },
    ...(done.foreign === 0
      ? []
      : [{ name: TEXTS.foreign, value: formats.count(done.foreign), note: TEXTS.foreignNote }]),
  ]);
  const shown = done.differences.slice(0, SHOWN_MOST);
  const cut = shown.length < done.found ? html`<p>${TEXTS.shown(formats.count(shown.length))}</p>` : undefined;
  return section({
    id: 'result',
    heading: daysText(done.period, formats),
    body: [
      verdict,
      tiles,
      days,
      done.found === 0 ? undefined : differencesTable(shown, formats),
      cut,
      fold(TEXTS.sums, html`${sumsTable(done.sums, formats)}\n${ownSumsTable(done.ownSums, formats)}`),
    ],
  });
}

function differencesTable(differences: readonly Difference[], formats: Formats): Html {
  return table({
    caption: TEXTS.differences,
    columns: [
      { name: TEXTS.what },
      { name: TEXTS.kind },
      { name: TEXTS.there, isNumeric: true },
      { name: TEXTS.here, isNumeric: true },
      { name: TEXTS.more, isNumeric: true },
    ],
    rows: differences.map((one) => [
      whatOf(one),
      TEXTS.kinds[one.kind],
      sideOf(one.there, formats),
      sideOf(one.here, formats),
      signedMoney(one.difference, one.there?.currency ?? one.here?.currency ?? '', formats),
    ]),
    empty: TEXTS.noDifferences,
  });
}

/** The payment is a link, if there is a page for it. */
function whatOf({ subject, paymentId, processorId, transaction, line }: Difference): Html {
  const name = TEXTS.subjects[subject];
  const hasPage = 'GET /ops/payment' in OPERATOR_ACCESS;
  const linked =
    paymentId !== undefined && hasPage ? html`<a href="${opsPath('payment', { id: paymentId })}">${name}</a>` : name;
  const id = processorId ?? transaction;
  const at = line === undefined ? undefined : html` <span class="soft">${TEXTS.line(line)}</span>`;
  return html`${linked}${at}<br><code>${id ?? paymentId}</code>`;
}

function sideOf(side: Difference['there'], formats: Formats): Html {
  if (side === undefined) return html`–`;
  return html`${signedMoney(side.amount, side.currency, formats)}<br><span class="soft">${formats.day(epochMsOf(side.day))}</span>`;
}

function sumsTable(sums: readonly Sum[], formats: Formats): Html {
  const [gross, fee, net] = [TEXTS.gross, TEXTS.fee, TEXTS.net].map((name) => ({ name, isNumeric: true }));
  return table({
    caption: TEXTS.sums,
    columns: [{ name: TEXTS.category }, { name: TEXTS.count, isNumeric: true }, gross, fee, net].filter(
      (one) => one !== undefined,
    ),
    rows: sums.map((sum) => [
      html`<code>${sum.category}</code>`,
      formats.count(sum.count),
      signedMoney(sum.gross, sum.currency, formats),
      signedMoney(sum.fee, sum.currency, formats),
      signedMoney(sum.net, sum.currency, formats),
    ]),
    empty: TEXTS.noSums,
  });
}

function ownSumsTable(sums: readonly OwnSum[], formats: Formats): Html {
  return table({
    caption: TEXTS.ownSums,
    columns: [{ name: TEXTS.what }, { name: TEXTS.count, isNumeric: true }, { name: TEXTS.amount, isNumeric: true }],
    rows: sums.map((sum) => [sum.what, formats.count(sum.count), signedMoney(sum.amount, sum.currency, formats)]),
    empty: TEXTS.noOwnSums,
  });
}

function filedTable(filed: readonly FiledReport[], formats: Formats): Html {
  return table({
    caption: TEXTS.filedCaption,
    columns: [
      { name: TEXTS.period },
      { name: TEXTS.lines, isNumeric: true },
      { name: TEXTS.net, isNumeric: true },
      { name: TEXTS.filedAt },
      { name: TEXTS.digest },
    ],
    rows: filed.map((report) => [
      daysText(report.period, formats),
      formats.count(report.lines),
      html`${netsOf(report).map(([currency, net], index) => html`${index === 0 ? undefined : html`<br>`}${signedMoney(net, currency, formats)}`)}`,
      html`${moment(report.filedAtMs, formats)}<br><span class="soft">${report.filedByName ?? report.filedBy}</span>`,
      html`<code>${report.digest.slice(0, 16)}…</code>`,
    ]),
    empty: TEXTS.noFiled,
  });
}

/** What a report adds up to, in each currency. */
function netsOf({ sums }: FiledReport): readonly (readonly [string, bigint])[] {
  const nets = new Map<string, bigint>();
  for (const { currency, net } of sums) nets.set(currency, (nets.get(currency) ?? 0n) + net);
  return [...nets];
}
