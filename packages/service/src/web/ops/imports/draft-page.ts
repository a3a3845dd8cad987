import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { type ChangedEntry, changedEntries, differencesOf } from '#catalogue/differences.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { CatalogueDraft } from '#operator/catalogue/import.ts';
import { button } from '#web/components/button.ts';
import { fold } from '#web/components/fold.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { changeFields, changeIn, unsavedBadge } from '#web/ops/catalogue/changes.ts';
import { concernedApps, effectTables, fieldsTable } from '#web/ops/catalogue/effect-part.ts';
import { EDIT_TEXTS, IMPORT_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { reportBlock } from '#web/ops/imports/import-page.ts';
import { modelsAt } from '#web/ops/providers/provider-page.ts';

const ENTRIES_MAX = 40;
const FIELDS_MAX = 12;

/**
 * The page `/ops/catalogue-draft?id=`, which shows what a file would change, entry by entry, and the form that
 * applies it.
 */
export const draftPage = actPage({
  show: async (asked, again) => {
    const id = asked.asks('id');
    if (id === '') return redirectTo(opsPath('catalogue-import'));
    const draft = await asked.operator.catalogueImport.read(id);
    const place = { below: 'catalogue', title: TEXTS.draftTitle };
    if (draft instanceof Refusal) {
      const body = html`${errorSummary(draft.message)}\n${linkLine(opsPath('catalogue-import'), TEXTS.title)}`;
      return asked.show({ ...place, body, refusal: draft });
    }
    const changes = changedEntries(draft.before, draft.after);
    const body = html`${errorSummary(again?.refusal.message)}${unsavedBadge()}
${part('changes', TEXTS.changes(changes.length), ...entriesOf(asked, draft, changes))}
${changes.length === 0 ? undefined : part('concerned', TEXTS.concerned, await concernedApps(asked, concernedModels(draft, changes)))}
${draft.report === '' ? undefined : part('report', TEXTS.listsSay, reportBlock(draft.report))}
${changes.length === 0 ? undefined : card(applyForm(asked, draft))}
${linkLine(opsPath('catalogue'), EDIT_TEXTS.back)}`;
    return asked.show({ ...place, body, refusal: again?.refusal });
  },
  act: async (asked, form) => {
    const given = changeIn(asked, form);
    if (given instanceof Refusal) return given;
    const refusal = await asked.operator.catalogueImport.apply(given.act, asked.asks('id'), given.version);
    return refusal ?? opsPath('catalogue', { done: 'imported' });
  },
});

function applyForm(asked: OpsRequest, { draftId, version }: CatalogueDraft): Html {
  const fields = html`${changeFields(version)}\n${button(TEXTS.apply)}`;
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
    const more = rest > 0 ? html`\n<p class="soft">${TEXTS.moreFields(rest)}</p>` : undefined;
    const effects = effectsOf(asked, draft, entry);
    return fold(title, html`${fieldsTable(fields.slice(0, FIELDS_MAX))}${more}${effects}`, at < 5);
  });
  const rest = changes.length - shown.length;
  return rest === 0 ? shown : [...shown, html`<p>${TEXTS.moreEntries(rest)}</p>`];
}

/** What a typical call holds and costs before and after. A provider's entry has no price. */
function effectsOf(
  asked: OpsRequest,
  draft: CatalogueDraft,
  { kind, name, before, after }: ChangedEntry,
): readonly Html[] | undefined {
  if (kind === 'provider') return undefined;
  const [old, fresh] = kind === 'model' ? [name, name] : [before, after];
  return effectTables(asked, { before: modelIn(draft.before, old), after: modelIn(draft.after, fresh) });
}

function modelIn({ models }: CatalogueFile, id: unknown): CatalogueFile['models'][number] | undefined {
  return models.find((model) => model.id === id);
}
