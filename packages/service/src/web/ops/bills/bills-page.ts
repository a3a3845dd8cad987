import { newBillSchema } from '@purser/contract/bills.ts';
import { granted } from '#http/planes/planes.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { PICOS_PER_MICRO } from '#reconciliation/bills/bill-line.ts';
import type { ComparedBill } from '#reconciliation/bills/bills.ts';
import type { BillRow } from '#reconciliation/bills/compare-bill.ts';
import { microsIn } from '#reconciliation/files/decimal.ts';
import { button } from '#web/components/parts.ts';
import { figures } from '#web/figures/figures.ts';
import { selectField, textField } from '#web/fields/fields.ts';
import { checked, type Form, withFieldLabels } from '#web/forms/form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { listing, part, soft } from '#web/ops/frame/details.ts';
import * as file from '#web/ops/bills/file-fields.ts';
import { signedCoins, signedMoney } from '#web/ops/bills/signed-money.ts';
import { BILLS_TEXTS as TEXTS, FILE_TEXTS } from '#web/ops/bills/texts.ts';

const SHOWN_MOST = 200;

/** The page `/ops/bills`, which shows what a provider says it billed, beside our receipts. */
export const billsPage = actPage({
  formBytesMax: file.FORM_BYTES_MAX,
  show: (asked, again) => show(asked, again === undefined ? fresh(asked) : typedOf(again.form), again),
  act: async (asked, form) => {
    const labels = {
      ...FILE_TEXTS,
      provider: TEXTS.provider,
      format: TEXTS.format,
      dollarMicros: TEXTS.dollar(asked.currency),
      bill: TEXTS.file,
    };
    const typed = typedOf(form);
    const { provider, format, from, to } = typed;
    const bill = form.file('file');
    if (bill === undefined) return refuse('BAD_REQUEST', 'Choose the file with the bill.');
    const dollar = typed.dollar === '' ? undefined : microsIn(typed.dollar);
    if (typed.dollar !== '' && (dollar === undefined || dollar <= 0n)) {
      return refuse('BAD_REQUEST', `${labels.dollarMicros}: enter an amount, such as 0.92.`);
    }
    const rate = dollar === undefined ? {} : { dollarMicros: Number(dollar) };
    const given = granted(checked(newBillSchema, { provider, format, from, to, bill: '[]', ...rate }, labels));
    const of = { provider, format: given.format, period: { from, to }, dollarMicros: dollar };
    const compared = await asked.operator.bills.compare(of, [bill]);
    return compared instanceof Refusal ? withFieldLabels(compared, labels) : show(asked, typed, { compared });
  },
});

/** The fields of the form, as they were typed. */
type Typed = ReturnType<typeof typedOf>;

function typedOf(form: Form) {
  const of = (name: string) => form.field(name).trim();
  return { ...file.typedPeriod(form), provider: of('provider'), format: of('format'), dollar: of('dollar') };
}

function fresh({ clock }: OpsRequest): Typed {
  return { ...file.lastMonth(clock.nowMs()), provider: '', format: 'openrouter', dollar: '' };
}

function show(
  asked: OpsRequest,
  typed: Typed,
  { compared, refusal }: { readonly compared?: ComparedBill; readonly refusal?: Refusal } = {},
): PageResponse {
  const dollar = textField({
    name: 'dollar',
    label: TEXTS.dollar(asked.currency),
    value: typed.dollar,
    hint: 'Bills are in US dollars. Enter for example 0.92.',
    inputMode: 'decimal',
    isRequired: true,
  });
  const choices = Object.entries(TEXTS.formats).map(([value, text]) => ({
    value,
    text,
    isChosen: value === typed.format,
  }));
  const fields = html`${textField({ name: 'provider', label: TEXTS.provider, value: typed.provider, hint: TEXTS.providerHint, lengthMax: 64, isRequired: true })}
${selectField({ name: 'format', label: TEXTS.format, choices })}
${file.periodFields(typed)}
${asked.currency === 'USD' ? undefined : dollar}
${file.fileField(TEXTS.file, TEXTS.fileHint, '.json,application/json', true)}
${button('Compare')}`;
  const body = html`<p>${TEXTS.intro}</p>
${compared === undefined ? undefined : resultOf(asked, compared, typed)}
${part('compare', 'Compare a bill', asked.form('bills', fields, { hasFile: true }))}`;
  return asked.show({ title: 'Provider bills', body, page: 'bills', refusal });
}

function resultOf(asked: OpsRequest, compared: ComparedBill, { provider, from, to }: Typed): Html {
  const { currency, formats } = asked;
  const rows = compared.rows.toSorted((a, b) => Number(sizeOf(b) - sizeOf(a)));
  const shown = rows.slice(0, SHOWN_MOST);
  const tile = (name: string, amount: bigint, means?: string) => ({
    name,
    value: signedCoins(amount, currency, formats),
    note: html`${signedMoney(amount, currency, formats)}${means === undefined ? undefined : html`<br>${means}`}`,
  });
  const tiles = figures([
    tile(TEXTS.theirs, compared.theirs),
    tile(TEXTS.ours, compared.ours, 'Upstream prices, no margin'),
    tile('Of this, not paid for by users', compared.unpaid, 'Abandoned or failed calls that the provider served'),
    tile(TEXTS.difference, compared.difference),
  ]);
  const cut = shown.length < rows.length ? html`<p>${TEXTS.shown(formats.count(shown.length))}</p>` : undefined;
  const heading = `${provider}, ${file.daysText({ from, to }, formats)}`;
  return part('result', heading, tiles, rowsTable(asked, shown), cut);
}

function sizeOf({ theirs, ours }: BillRow): bigint {
  return theirs > ours.cost ? theirs - ours.cost : ours.cost - theirs;
}

function rowsTable({ currency, formats }: OpsRequest, rows: readonly BillRow[]): Html {
  const money = (picos: bigint) => signedMoney(picos / PICOS_PER_MICRO, currency, formats);
  const count = (number: bigint | undefined) => (number === undefined ? '–' : formats.count(Number(number)));
  return listing({
    caption: 'By day and model',
    columns: ['Day', 'Model', TEXTS.theirs, TEXTS.ours, TEXTS.difference, 'Calls: billed / ours', TEXTS.tokens],
    numbers: [2, 3, 4, 5, 6],
    rows: rows.map(({ day, model, theirs, ours, requests, inputTokens, outputTokens }) => [
      formats.day(epochMsOf(day)),
      html`${model ?? 'No model'}${ours.roughCalls === 0n ? undefined : html`<br>${soft(TEXTS.rough(count(ours.roughCalls)))}`}`,
      money(theirs),
      money(ours.cost),
      money(theirs - ours.cost),
      `${count(requests)} / ${count(ours.calls)}`,
      `${count(added(inputTokens, outputTokens))} / ${count(ours.inputTokens + ours.outputTokens)}`,
    ]),
    empty: 'Neither the bill nor our receipts contain anything in this period.',
  });
}

function added(a: bigint | undefined, b: bigint | undefined): bigint | undefined {
  return a === undefined || b === undefined ? undefined : a + b;
}
