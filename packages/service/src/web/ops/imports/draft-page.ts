import type { CatalogueFile } from '@purser/contract/catalogue.ts';
import { type ChangedEntry, changedEntries, differencesOf } from '#catalogue/differences.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import type { CatalogueDraft } from '#operator/catalogue/import.ts';
import { button } from '#web/components/button.ts';
import { fold } from '#web/components/fold.ts';
import { linkLine } from '#web/components/navigation.ts';
import { errorSummary } from '#web/components/notices.ts';
import { card, section } from '#web/components/section.ts';
import type { PageMethods, PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { concernedApps, effectTables, fieldsTable, unsavedBadge } from '#web/ops/catalogue/effect-part.ts';
import { reportBlock } from '#web/ops/imports/import-page.ts';
import { actFields, actIn } from '#web/ops/catalogue/parts.ts';
import { modelsAt } from '#web/ops/providers/provider-page.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS, IMPORT_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

const ENTRIES_MAX = 40;
const FIELDS_MAX = 12;

/**
 * Makes the page `/ops/catalogue-draft?id=`, which shows what a file would change, entry by entry, and the form that
 * applies it.
 */
export function draftPage(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    GET: (asked) => showDraft(services, asked),
    POST: async (asked, form) => {
      const given = actIn(asked, form);
      if (given instanceof Refusal) return showDraft(services, asked, given);
      const id = asked.request.query.get('id') ?? '';
      const refusal = await services.operator.catalogueImport.apply(given.act, id, given.version);
      return refusal === undefined
        ? redirectTo(opsPath('catalogue', { done: 'imported' }))
        : showDraft(services, asked, refusal);
    },
  });
}

async function showDraft(services: OpsCatalogueServices, asked: OpsRequest, refusal?: Refusal): Promise<PageResponse> {
  const id = asked.request.query.get('id') ?? '';
  if (id === '') return redirectTo(opsPath('catalogue-import'));
  const draft = await services.operator.catalogueImport.read(id);
  const place = { page: 'catalogue', above: CATALOGUE_TEXTS.title, title: TEXTS.draftTitle };
  if (draft instanceof Refusal) {
    const body = html`${errorSummary(draft.message)}\n${linkLine(opsPath('catalogue-import'), TEXTS.title)}`;
    return showOpsPage(services, asked, { ...place, body, refusal: draft });
  }
  const changes = changedEntries(draft.before, draft.after);
  const body = html`${errorSummary(refusal?.message)}${unsavedBadge()}
${section({ id: 'changes', heading: TEXTS.changes(changes.length), body: entriesOf(services, asked, draft, changes) })}
${changes.length === 0 ? undefined : section({ id: 'concerned', heading: TEXTS.concerned, body: [await concernedApps(services, asked, concernedModels(draft, changes))] })}
${draft.report === '' ? undefined : section({ id: 'report', heading: TEXTS.listsSay, body: [reportBlock(draft.report)] })}
${changes.length === 0 ? undefined : card(applyForm(asked, draft))}
${linkLine(opsPath('catalogue'), EDIT_TEXTS.back)}`;
  return showOpsPage(services, asked, { ...place, body, refusal });
}

function applyForm(asked: OpsRequest, { draftId, version }: CatalogueDraft): Html {
  const fields = html`${actFields(version)}\n${button(TEXTS.apply)}`;
  return html`<p>${TEXTS.applyWhat}</p>\n${asked.form('catalogue-draft', fields, { query: `id=${draftId}` })}`;
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

function entriesOf(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  draft: CatalogueDraft,
  changes: readonly ChangedEntry[],
): readonly Html[] {
  if (changes.length === 0) return [html`<p>${EDIT_TEXTS.nothing}</p>`];
  const shown = changes.slice(0, ENTRIES_MAX).map((entry, at) => {
    const { kind, name, change, before, after } = entry;
    const fields = differencesOf(before, after);
    const title = `${TEXTS.kinds[kind]} ${name}: ${TEXTS.changed[change]}`;
    const more =
      fields.length > FIELDS_MAX
        ? html`\n<p class="soft">${TEXTS.moreFields(fields.length - FIELDS_MAX)}</p>`
        : undefined;
    const effects = effectsOf(services, asked, draft, entry);
    return fold(title, html`${fieldsTable(fields.slice(0, FIELDS_MAX))}${more}${effects}`, at < 5);
  });
  const rest = changes.length - shown.length;
  return rest === 0 ? shown : [...shown, html`<p>${TEXTS.moreEntries(rest)}</p>`];
}

/** What a typical call holds and costs before and after. A provider's entry has no price. */
function effectsOf(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  draft: CatalogueDraft,
  { kind, name, before, after }: ChangedEntry,
): readonly Html[] | undefined {
  if (kind === 'provider') return undefined;
  const [old, fresh] = kind === 'model' ? [name, name] : [before, after];
  return effectTables(services, asked, { before: modelIn(draft.before, old), after: modelIn(draft.after, fresh) });
}

function modelIn({ models }: CatalogueFile, id: unknown): CatalogueFile['models'][number] | undefined {
  return models.find((model) => model.id === id);
}
