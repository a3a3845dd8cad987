import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { changedEntries, type ChangedEntry, differencesOf } from '#catalogue/differences.ts';
import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { CatalogueDraft } from '#operator/catalogue/import.ts';
import { button, card, codeBlock, fold, linkLine } from '#web/components/parts.ts';
import { hiddenField, textField } from '#web/fields/fields.ts';
import type { Form } from '#web/forms/form.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { opsPath, part } from '#web/ops/frame/details.ts';
import { changeFields, changeIn, unsavedBadge } from '#web/ops/catalogue/changes.ts';
import { concernedApps, effectTables, fieldsTable } from '#web/ops/catalogue/effect-part.ts';
import { momentIn } from '#web/ops/catalogue/parts.ts';
import { EDIT_TEXTS, IMPORT_TEXTS as TEXTS, PRICE_TEXTS } from '#web/ops/catalogue/texts.ts';
import { modelsAt } from '#web/ops/providers/provider-pages.ts';

/** This leaves room for the list of models.dev, which has some three megabytes. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
const REPORT_CHARACTERS_MAX = 20_000;
const ENTRIES_MAX = 40;
const FIELDS_MAX = 12;

/** The page `/ops/catalogue-import`, which takes a catalogue or a price list and leads to what it would change. */
export const importPage = actPage({
  formBytesMax: FILE_BYTES_MAX,
  show: showImport,
  act: async (asked, form) => {
    const text = form.file('file')?.toString('utf8');
    if (text === undefined) return refuse('BAD_REQUEST', 'Choose a file.');
    const isList = form.field('kind') === 'list';
    const draft = granted(
      isList ? await sendList(asked, form, text) : await asked.operator.catalogueImport.sendFile(text),
    );
    return typeof draft === 'string' ? opsPath('catalogue-draft', { id: draft }) : showImport(asked, draft);
  },
});

async function sendList({ operator, currency }: OpsRequest, form: Form, list: string) {
  const from = granted(momentIn(form.field('from').trim()));
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
  return html`<label for="${id}">File (JSON)</label>
<input id="${id}" name="file" type="file" accept=".json,application/json" required>`;
}

function showImport(asked: OpsRequest, { refusal, report }: Shown = {}): PageResponse {
  const { currency } = asked;
  const dollar = textField({
    name: 'dollar',
    label: `One US dollar in ${currency}`,
    hint: 'For example 0.92.',
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
  const body = html`${report === undefined ? undefined : part('report', 'No new prices', reportBlock(report))}
${part('prices', 'A price list', html`<p>${TEXTS.pricesWhat}</p>`, send(ofList))}
${part('whole', 'A whole catalogue', html`<p>${TEXTS.catalogueWhat}</p>`, send(ofCatalogue))}`;
  return asked.show({ title: TEXTS.title, body, below: 'catalogue', refusal });
}

/** What the price lists say, as the command writes it. */
function reportBlock(report: string): Html {
  return codeBlock({ id: 'lists', label: 'What the lists say', code: report.slice(0, REPORT_CHARACTERS_MAX) });
}

/**
 * The page `/ops/catalogue-draft?id=`, which shows what a file would change, entry by entry, and the form that
 * applies it.
 */
export const draftPage = actPage({
  show: async (asked, again) => {
    const id = asked.asks('id');
    if (id === '') return redirectTo(opsPath('catalogue-import'));
    const draft = await asked.operator.catalogueImport.read(id);
    const place = { below: 'catalogue', title: 'What the file changes' };
    if (draft instanceof Refusal) {
      const body = html`\n${linkLine(opsPath('catalogue-import'), TEXTS.title)}`;
      return asked.show({ ...place, body, refusal: draft });
    }
    const changes = changedEntries(draft.before, draft.after);
    const body = html`${unsavedBadge()}
${part('changes', TEXTS.changes(changes.length), ...entriesOf(asked, draft, changes))}
${changes.length === 0 ? undefined : part('concerned', 'Affected apps', await concernedApps(asked, concernedModels(draft, changes)))}
${draft.report === '' ? undefined : part('report', 'What the lists say', reportBlock(draft.report))}
${changes.length === 0 ? undefined : card(applyForm(asked, draft))}
${linkLine(opsPath('catalogue'), EDIT_TEXTS.back)}`;
    return asked.show({ ...place, body, refusal: again?.refusal });
  },
  act: async (asked, form) => {
    const given = changeIn(asked, form);
    const refusal = await asked.operator.catalogueImport.apply(given.act, asked.asks('id'), given.version);
    return refusal ?? opsPath('catalogue', { done: 'imported' });
  },
});

function applyForm(asked: OpsRequest, { draftId, version }: CatalogueDraft): Html {
  const fields = html`${changeFields(version)}\n${button('Apply')}`;
  return html`<p>${TEXTS.applyWhat}</p>\n${asked.form('catalogue-draft', fields, { query: { id: draftId } })}`;
}

/** The models whose calls change: by their own entry, by their provider or by an alias that leaves them. */
function concernedModels({ before }: CatalogueDraft, changes: readonly ChangedEntry[]): readonly string[] {
  const known = new Set(before.models.map(({ id }) => id));
  const all = changes.flatMap(({ kind, name, before: old }) => {
    if (kind === 'model') return [name];
    if (kind === 'provider') return modelsAt(before, name).map(({ id }) => id);
    return typeof old === 'string' ? [old] : [];
  });
  return [...new Set(all)].filter((id) => known.has(id));
}

function entriesOf(asked: OpsRequest, draft: CatalogueDraft, changes: readonly ChangedEntry[]): readonly Html[] {
  if (changes.length === 0) return [html`<p>${EDIT_TEXTS.nothing}</p>`];
  const shown = changes.slice(0, ENTRIES_MAX).map((entry, at) => {
    const { kind, name, change, before, after } = entry;
    const fields = differencesOf(before, after);
    const title = `${TEXTS.kinds[kind]} ${name}: ${TEXTS.changed[change]}`;
    const rest = fields.length - FIELDS_MAX;
    const more = rest > 0 ? html`\n<p class="soft">And ${rest} more fields.</p>` : undefined;
    const effects = effectsOf(asked, draft, entry);
    return fold(title, html`${fieldsTable(fields.slice(0, FIELDS_MAX))}${more}${effects}`, at < 5);
  });
  const rest = changes.length - shown.length;
  return rest === 0 ? shown : [...shown, html`<p>And ${rest} more entries.</p>`];
}

/** What a typical call holds and costs before and after. A provider's entry has no price. */
function effectsOf(asked: OpsRequest, draft: CatalogueDraft, { kind, name, before, after }: ChangedEntry) {
  if (kind === 'provider') return undefined;
  const [old, fresh] = kind === 'model' ? [name, name] : [before, after];
  return effectTables(asked, { before: modelIn(draft.before, old), after: modelIn(draft.after, fresh) });
}

function modelIn({ models }: CatalogueFile, id: unknown): CatalogueFile['models'][number] | undefined {
  return models.find((model) => model.id === id);
}
