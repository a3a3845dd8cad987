import { newBillSchema } from '@purser/contract/bills.ts';
import { checkFields } from '@purser/contract/check-fields.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import type { ComparedBill } from '#reconciliation/bills/bills.ts';
import type { BillRow } from '#reconciliation/bills/compare-bill.ts';
import { microsIn } from '#reconciliation/files/decimal.ts';
import { button } from '#web/components/button.ts';
import { figures } from '#web/figures/figures.ts';
import { errorSummary } from '#web/components/notices.ts';
import { section } from '#web/components/section.ts';
import { selectField } from '#web/fields/select-field.ts';
import { table } from '#web/figures/table.ts';
import { textField } from '#web/fields/text-field.ts';
import type { Formats } from '#web/format/formats.ts';
import { withFieldLabels } from '#web/forms/field-labels.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import type { Form } from '#web/forms/read-form.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
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
import { signedCoins, signedMoney } from '#web/ops/bills/signed-money.ts';
import { FILE_TEXTS, BILLS_TEXTS as TEXTS } from '#web/ops/bills/texts.ts';

const SHOWN_MOST = 200;

/** The fields of the form, as they were typed. */
interface Typed extends TypedPeriod {
  readonly provider: string;
  readonly format: string;
  readonly dollar: string;
}

/** Makes the page `/ops/bills`, which shows what a provider says it billed, beside our receipts. */
export function billsPage(services: OpsServices): PageMethods {
  const { clock, currency } = services;
  const labels = {
    ...FILE_TEXTS,
    provider: TEXTS.provider,
    format: TEXTS.format,
    dollarMicros: TEXTS.dollar(currency),
    bill: TEXTS.file,
  };
  return forOperator(services, {
    formBytesMax: FILE_FORM_BYTES_MAX,
    GET: (asked) => {
      const typed = { ...lastMonth(clock.nowMs()), provider: '', format: 'openrouter', dollar: '' };
      return show(services, asked, { typed });
    },
    POST: async (asked, form) => {
      const typed = typedOf(form);
      const file = form.file('file');
      const refused = (words: string) => show(services, asked, { typed, refusal: refuse('BAD_REQUEST', words) });
      if (file === undefined) return refused(TEXTS.chooseFile);
      const dollar = typed.dollar === '' ? undefined : microsIn(typed.dollar);
      if (typed.dollar !== '' && (dollar === undefined || dollar <= 0n)) {
        return refused(TEXTS.dollarWrong(labels.dollarMicros));
      }
      const { provider, format, from, to } = typed;
      const rate = dollar === undefined ? {} : { dollarMicros: Number(dollar) };
      const checked = checkFields(newBillSchema, { provider, format, from, to, bill: '[]', ...rate }, labels);
      if ('problems' in checked) return refused(checked.problems.map(({ message }) => message).join(' '));
      const of = { provider, format: checked.value.format, period: { from, to }, dollarMicros: dollar };
      const compared = await services.operator.bills.compare(of, [file]);
      if (compared instanceof Refusal)
        return show(services, asked, { typed, refusal: withFieldLabels(compared, labels) });
      return show(services, asked, { typed, compared });
    },
  });
}

function typedOf(form: Form): Typed {
  const [provider = '', format = '', dollar = ''] = ['provider', 'format', 'dollar'].map((name) =>
    form.field(name).trim(),
  );
  return { ...typedPeriod(form), provider, format, dollar };
}

interface Shown {
  readonly typed: Typed;
  readonly compared?: ComparedBill;
  readonly refusal?: Refusal;
}

function show(services: OpsServices, asked: OpsRequest, { typed, compared, refusal }: Shown): PageResponse {
  const { currency } = services;
  const { formats } = asked.request;
  const choices = Object.entries(TEXTS.formats).map(([value, text]) => ({
    value,
    text,
    isChosen: value === typed.format,
  }));
  const fields = html`${textField({ name: 'provider', label: TEXTS.provider, value: typed.provider, hint: TEXTS.providerHint, lengthMax: 64, isRequired: true })}
${selectField({ name: 'format', label: TEXTS.format, choices })}
${periodFields(typed)}
${currency === 'USD' ? undefined : textField({ name: 'dollar', label: TEXTS.dollar(currency), value: typed.dollar, hint: TEXTS.dollarHint, inputMode: 'decimal', isRequired: true })}
${fileField(TEXTS.file, TEXTS.fileHint, '.json,application/json', true)}
${button(TEXTS.send)}`;
  const body = html`${errorSummary(refusal?.message)}<p>${TEXTS.intro}</p>
${compared === undefined ? undefined : resultOf(compared, typed, { currency, formats })}
${section({ id: 'compare', heading: TEXTS.compare, body: [asked.form('bills', fields, { hasFile: true })] })}`;
  return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'bills', refusal });
}

interface Written {
  readonly currency: string;
  readonly formats: Formats;
}

function resultOf(compared: ComparedBill, { provider, from, to }: Typed, written: Written): Html {
  const { currency, formats } = written;
  const money = (amount: bigint) => signedMoney(amount, currency, formats);
  const rows = compared.rows.toSorted((a, b) => Number(sizeOf(b) - sizeOf(a)));
  const shown = rows.slice(0, SHOWN_MOST);
  const heading = `${provider}, ${daysText({ from, to }, formats)}`;
  const tile = (name: string, amount: bigint, means?: string) => ({
    name,
    value: signedCoins(amount, currency, formats),
    note: html`${money(amount)}${means === undefined ? undefined : html`<br>${means}`}`,
  });
  const tiles = figures([
    tile(TEXTS.theirs, compared.theirs),
    tile(TEXTS.ours, compared.ours, TEXTS.oursNote),
    tile(TEXTS.unpaid, compared.unpaid, TEXTS.unpaidNote),
    tile(TEXTS.difference, compared.difference),
  ]);
  const cut = shown.length < rows.length ? html`<p>${TEXTS.shown(formats.count(shown.length))}</p>` : undefined;
  return section({ id: 'result', heading, body: [tiles, rowsTable(shown, written), cut] });
}

function sizeOf({ theirs, ours }: BillRow): bigint {
  return theirs > ours.cost ? theirs - ours.cost : ours.cost - theirs;
}

function rowsTable(rows: readonly BillRow[], { currency, formats }: Written): Html {
  const money = (picos: bigint) => signedMoney(picos / PICOS_PER_MICRO, currency, formats);
  const count = (number: bigint | undefined) => (number === undefined ? '–' : formats.count(Number(number)));
  return table({
    caption: TEXTS.rows,
    columns: [
      { name: TEXTS.day },
      { name: TEXTS.model },
      { name: TEXTS.theirs, isNumeric: true },
      { name: TEXTS.ours, isNumeric: true },
      { name: TEXTS.difference, isNumeric: true },
      { name: TEXTS.calls, isNumeric: true },
      { name: TEXTS.tokens, isNumeric: true },
    ],
    rows: rows.map(({ day, model, theirs, ours, requests, inputTokens, outputTokens }) => [
      formats.day(epochMsOf(day)),
      html`${model ?? TEXTS.noModel}${ours.roughCalls === 0n ? undefined : html`<br><span class="soft">${TEXTS.rough(count(ours.roughCalls))}</span>`}`,
      money(theirs),
      money(ours.cost),
      money(theirs - ours.cost),
      `${count(requests)} / ${count(ours.calls)}`,
      `${count(added(inputTokens, outputTokens))} / ${count(ours.inputTokens + ours.outputTokens)}`,
    ]),
    empty: TEXTS.none,
  });
}

function added(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}
