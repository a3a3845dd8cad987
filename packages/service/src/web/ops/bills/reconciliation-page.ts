import { newReconciliationSchema } from '@purser/contract/reconciliation.ts';
import { granted } from '#http/planes/planes.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Difference } from '#reconciliation/reports/compare.ts';
import type { FiledReport } from '#reconciliation/reports/filing.ts';
import type { Reconciled } from '#reconciliation/reports/reconciliations.ts';
import type { OwnSum, Sum } from '#reconciliation/reports/sums.ts';
import { figures } from '#web/figures/figures.ts';
import { button, fold, linkLine } from '#web/components/parts.ts';
import { successNotice, warningNotice } from '#web/components/notices.ts';
import type { Formats } from '#web/format/formats.ts';
import { checked, withFieldLabels } from '#web/forms/form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, opsPath, part, soft } from '#web/ops/frame/details.ts';
import * as file from '#web/ops/bills/file-fields.ts';
import { signedMoney } from '#web/ops/bills/signed-money.ts';
import { FILE_TEXTS, RECONCILIATION_TEXTS as TEXTS } from '#web/ops/bills/texts.ts';

const FILED_MOST = 20;
/** A page stays readable. The API lists up to a thousand. */
const SHOWN_MOST = 200;
const LABELS = { ...FILE_TEXTS, report: TEXTS.file };

/**
 * The page `/ops/reconciliation`, which shows a report of the payment processor beside our books, and the reports
 * that were filed.
 */
export const reconciliationPage = actPage({
  formBytesMax: file.FORM_BYTES_MAX,
  show: (asked, again) =>
    show(asked, again === undefined ? file.lastMonth(asked.clock.nowMs()) : file.typedPeriod(again.form), again),
  act: async (asked, form) => {
    const { reconciliations } = asked.operator;
    const typed = file.typedPeriod(form);
    const given = granted(checked(newReconciliationSchema, typed, LABELS));
    const report = form.file('file');
    if (report === undefined && !reconciliations.hasList) return refuse('BAD_REQUEST', TEXTS.chooseFile);
    const { from, to } = given;
    const done = await reconciliations.reconcile(asked.act(undefined), { from, to }, report && [report]);
    return done instanceof Refusal ? withFieldLabels(done, LABELS) : show(asked, typed, { done });
  },
});

async function show(
  asked: OpsRequest,
  typed: file.TypedPeriod,
  { done, refusal }: { readonly done?: Reconciled; readonly refusal?: Refusal } = {},
): Promise<PageResponse> {
  const { reconciliations } = asked.operator;
  const before = /^\d{1,18}$/.exec(asked.asks('before'))?.[0];
  const filed = await reconciliations.filed({
    before: before === undefined ? undefined : BigInt(before),
    most: FILED_MOST,
  });
  const hint = `${TEXTS.fileHint} ${reconciliations.hasList ? TEXTS.orList : ''}`;
  const fields = html`${file.periodFields(typed)}
${file.fileField(TEXTS.file, hint, '.csv,text/csv', !reconciliations.hasList)}
${button('Compare')}`;
  const next = filed.length < FILED_MOST ? undefined : filed.at(-1)?.seq;
  const older = next === undefined ? undefined : opsPath('reconciliation', { before: String(next) });
  const body = html`<p>${TEXTS.intro}</p>
${done === undefined ? undefined : resultOf(done, asked.formats)}
${part('compare', 'Compare a report', asked.form('reconciliation', fields, { hasFile: true }))}
${part('filed', 'Filed reports', filedTable(asked, filed), older && linkLine(older, 'Older'))}`;
  return asked.show({ title: 'Reconciliation', body, page: 'reconciliation', refusal });
}

function resultOf(done: Reconciled, formats: Formats): Html {
  const { count } = formats;
  const money = done.found - done.daysApart;
  const foreign = { name: 'From other software', value: count(done.foreign), note: TEXTS.foreignNote };
  const tiles = figures([
    { name: TEXTS.lines, value: count(done.lines) },
    { name: 'On both sides', value: count(done.matched) },
    { name: TEXTS.differences, value: count(money) },
    ...(done.foreign === 0 ? [] : [foreign]),
  ]);
  const shown = done.differences.slice(0, SHOWN_MOST);
  return part(
    'result',
    file.daysText(done.period, formats),
    money === 0 ? successNotice(TEXTS.clean) : warningNotice(TEXTS.differ(count(money))),
    tiles,
    done.daysApart === 0 ? undefined : html`<p>${TEXTS.onlyDays(count(done.daysApart))}</p>`,
    done.found === 0 ? undefined : differencesTable(shown, formats),
    shown.length < done.found ? html`<p>Only the first ${count(shown.length)} are shown.</p>` : undefined,
    fold(TEXTS.sums, html`${sumsTable(done.sums, formats)}\n${ownSumsTable(done.ownSums, formats)}`),
  );
}

function differencesTable(differences: readonly Difference[], formats: Formats): Html {
  return listing({
    caption: TEXTS.differences,
    columns: [TEXTS.what, 'Kind', 'Report', 'Our books', 'Difference'],
    numbers: [2, 3, 4],
    rows: differences.map((one) => [
      whatOf(one),
      TEXTS.kinds[one.kind],
      sideOf(one.there, formats),
      sideOf(one.here, formats),
      signedMoney(one.difference, one.there?.currency ?? one.here?.currency ?? '', formats),
    ]),
    empty: 'There are no differences.',
  });
}

function whatOf({ subject, paymentId, processorId, transaction, line }: Difference): Html {
  const name = TEXTS.subjects[subject];
  const linked = paymentId === undefined ? name : html`<a href="${opsPath('payment', { id: paymentId })}">${name}</a>`;
  const at = line === undefined ? undefined : html` ${soft(TEXTS.line(line))}`;
  return html`${linked}${at}<br><code>${processorId ?? transaction ?? paymentId}</code>`;
}

function sideOf(side: Difference['there'], formats: Formats): Html {
  if (side === undefined) return html`–`;
  return html`${signedMoney(side.amount, side.currency, formats)}<br>${soft(formats.day(epochMsOf(side.day)))}`;
}

function sumsTable(sums: readonly Sum[], formats: Formats): Html {
  return listing({
    caption: TEXTS.sums,
    columns: ['Category', TEXTS.count, 'Gross', 'Fees', TEXTS.net],
    numbers: [1, 2, 3, 4],
    rows: sums.map(({ category, count, currency, gross, fee, net }) => [
      code(category),
      formats.count(count),
      ...[gross, fee, net].map((amount) => signedMoney(amount, currency, formats)),
    ]),
    empty: 'The report contains no movements.',
  });
}

function ownSumsTable(sums: readonly OwnSum[], formats: Formats): Html {
  return listing({
    caption: 'Totals of our books for the period',
    columns: [TEXTS.what, TEXTS.count, 'Amount'],
    numbers: [1, 2],
    rows: sums.map((sum) => [sum.what, formats.count(sum.count), signedMoney(sum.amount, sum.currency, formats)]),
    empty: 'Our books contain no movements.',
  });
}

function filedTable({ formats, moment }: OpsRequest, filed: readonly FiledReport[]): Html {
  return listing({
    caption: 'Newest first',
    columns: ['Period', TEXTS.lines, TEXTS.net, 'Filed', 'SHA-256'],
    numbers: [1, 2],
    rows: filed.map((report) => [
      file.daysText(report.period, formats),
      formats.count(report.lines),
      html`${netsOf(report).map(([currency, net], index) => html`${index === 0 ? undefined : html`<br>`}${signedMoney(net, currency, formats)}`)}`,
      html`${moment(report.filedAtMs)}<br>${soft(report.filedByName ?? report.filedBy)}`,
      code(`${report.digest.slice(0, 16)}…`),
    ]),
    empty: 'No report has been filed yet.',
  });
}

/** What a report adds up to, in each currency. */
function netsOf({ sums }: FiledReport): readonly (readonly [string, bigint])[] {
  const nets = new Map<string, bigint>();
  for (const { currency, net } of sums) nets.set(currency, (nets.get(currency) ?? 0n) + net);
  return [...nets];
}
