import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import { button } from '#web/components/button.ts';
import { hiddenField } from '#web/fields/form.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card } from '#web/components/section.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { concernedApps, effectPart, unsavedBadge } from '#web/ops/catalogue/effect-part.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** An entry on its way into the catalogue. */
export interface Saving {
  readonly id: string;
  readonly entry: object;
  readonly isNew: boolean;
  readonly act: Act;
  /** The version that the form was made for. */
  readonly version: bigint;
}

/** Shows what saving an entry would do, with the form that saves it. It is refused like the saving itself. */
export async function showPreview(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  { id, entry, isNew, act, version }: Saving,
): Promise<PageResponse | Refusal> {
  const change = { kind: 'model', name: id, entry } as const;
  const seen = await services.operator.catalogue.preview(change, version);
  if (seen instanceof Refusal) return seen;
  const find = (models: readonly CatalogueModel[]) => models.find((model) => model.id === id);
  const [before, after] = [find(seen.before.models), find(seen.after.models)];
  if (isNew && before !== undefined) return refuse('CONFLICT', TEXTS.exists);
  const fields = html`${hiddenField('entry', JSON.stringify(entry))}
${hiddenField('version', version.toString())}
${hiddenField('reason', act.reason ?? '')}
${hiddenField('confirm', 'yes')}
${button(TEXTS.save)}`;
  const query = isNew ? '' : `id=${encodeURIComponent(id)}`;
  const body = html`${unsavedBadge()}
${effectPart(services, asked, { before, after })}
${card(await concernedApps(services, asked, [id]), asked.form('model-edit', fields, { query }))}
${linkLine(isNew ? opsPath('catalogue') : opsPath('model', { id }), TEXTS.back)}`;
  return showOpsPage(services, asked, {
    title: isNew ? TEXTS.newTitle : TEXTS.title(id),
    body,
    page: 'catalogue',
    above: CATALOGUE_TEXTS.title,
  });
}

export async function saveModel(
  { operator }: OpsCatalogueServices,
  { id, entry, act, version }: Saving,
): Promise<PageResponse | Refusal> {
  const saved = await operator.catalogue.change(act, { kind: 'model', name: id, entry }, version);
  return saved instanceof Refusal ? saved : redirectTo(opsPath('model', { id, done: 'saved' }));
}
