import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { button } from '#web/components/button.ts';
import { codeBlock } from '#web/components/code-block.ts';
import { hiddenField } from '#web/fields/form.ts';
import { errorSummary } from '#web/components/notices.ts';
import { textField } from '#web/fields/text-field.ts';
import type { Form } from '#web/forms/read-form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { momentIn } from '#web/ops/catalogue/parts.ts';
import { IMPORT_TEXTS as TEXTS, PRICE_TEXTS } from '#web/ops/catalogue/texts.ts';

/** This leaves room for the list of models.dev, which has some three megabytes. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
const REPORT_CHARACTERS_MAX = 20_000;

/** The page `/ops/catalogue-import`, which takes a catalogue or a price list and leads to what it would change. */
export const importPage = actPage({
  formBytesMax: FILE_BYTES_MAX,
  show: showImport,
  act: async (asked, form) => {
    const text = form.file('file')?.toString('utf8');
    if (text === undefined) return refuse('BAD_REQUEST', TEXTS.noFile);
    const isList = form.field('kind') === 'list';
    const draft = isList ? await sendList(asked, form, text) : await asked.operator.catalogueImport.sendFile(text);
    if (draft instanceof Refusal) return draft;
    return typeof draft === 'string' ? opsPath('catalogue-draft', { id: draft }) : showImport(asked, draft);
  },
});

async function sendList({ operator, currency }: OpsRequest, form: Form, list: string) {
  const from = momentIn(form.field('from').trim());
  if (from instanceof Refusal) return from;
  const dollar = currency === 'USD' ? '1' : form.field('dollar').trim().replace(',', '.');
  const unchecked = form.field('unchecked').split(/[\s,]+/);
  return operator.catalogueImport.sendList({ list, dollar, from, unchecked: unchecked.filter((id) => id !== '') });
}

interface Shown {
  readonly refusal?: Refusal;
  /** What the lists say, if there is no new price. */
  readonly report?: string;
}

function fileField(id: string): Html {
  return html`<label for="${id}">${TEXTS.file}</label>
<input id="${id}" name="file" type="file" accept=".json,application/json" required>`;
}

function showImport(asked: OpsRequest, { refusal, report }: Shown = {}): PageResponse {
  const { currency } = asked;
  const dollar = textField({
    name: 'dollar',
    label: TEXTS.dollar(currency),
    hint: TEXTS.dollarHint,
    inputMode: 'decimal',
    isRequired: true,
  });
  const ofList = html`${hiddenField('kind', 'list')}
${fileField('list')}
${currency === 'USD' ? undefined : dollar}
${textField({ name: 'from', label: PRICE_TEXTS.from, hint: PRICE_TEXTS.fromHint, autocomplete: 'off', lengthMax: 20 })}
${textField({ name: 'unchecked', label: TEXTS.unchecked, hint: TEXTS.uncheckedHint, autocomplete: 'off' })}
${button(TEXTS.compare)}`;
  const ofCatalogue = html`${hiddenField('kind', 'catalogue')}\n${fileField('catalogue')}\n${button(TEXTS.compare)}`;
  const send = (fields: Html) => asked.form('catalogue-import', fields, { hasFile: true });
  const body = html`${errorSummary(refusal?.message)}
${report === undefined ? undefined : part('report', TEXTS.nothingNew, reportBlock(report))}
${part('prices', TEXTS.prices, html`<p>${TEXTS.pricesWhat}</p>`, send(ofList))}
${part('whole', TEXTS.catalogue, html`<p>${TEXTS.catalogueWhat}</p>`, send(ofCatalogue))}`;
  return asked.show({ title: TEXTS.title, body, below: 'catalogue', refusal });
}

/** What the price lists say, as the command writes it. */
export function reportBlock(report: string): Html {
  return codeBlock({ id: 'lists', label: TEXTS.report, code: report.slice(0, REPORT_CHARACTERS_MAX) });
}
