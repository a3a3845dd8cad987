import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { Act } from '#operator/acts/act.ts';
import { button } from '#web/components/button.ts';
import { hiddenField } from '#web/fields/form.ts';
import { linkLine } from '#web/components/navigation.ts';
import { card, section } from '#web/components/section.ts';
import type { PageResponse } from '#web/frame/page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { concernedApps, effectPart, effectTables, unsavedBadge } from '#web/ops/catalogue/effect-part.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/** An alias on its way to a model. */
interface Pointing {
  readonly alias: string;
  readonly id: string;
  readonly act: Act;
  readonly version: bigint;
}

/** Shows what another target changes for callers of the alias, with the form that saves it. Refused like the saving itself. */
export async function showAliasPreview(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  { alias, id, act, version }: Pointing,
): Promise<PageResponse | Refusal> {
  const seen = await services.operator.catalogue.preview({ kind: 'alias', name: alias, entry: id }, version);
  if (seen instanceof Refusal) return seen;
  const { aliases, models } = seen.before;
  const old = Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
  if (old === id) return refuse('CONFLICT', TEXTS.aliasSame(alias, id));
  const find = (name: string | undefined) => models.find((model) => model.id === name);
  const [before, after] = [find(old), find(id)];
  const fields = html`${hiddenField('alias', alias)}
${hiddenField('version', version.toString())}
${hiddenField('reason', act.reason ?? '')}
${hiddenField('confirm', 'yes')}
${button(TEXTS.saveAlias)}`;
  const effect =
    old === undefined
      ? section({ id: 'effect', heading: EDIT_TEXTS.preview, body: effectTables(services, asked, { before, after }) })
      : effectPart(services, asked, { before, after });
  const apps =
    old === undefined
      ? undefined
      : html`${await concernedApps(services, asked, [old])}<p class="soft">${TEXTS.aliasCalls(old)}</p>`;
  const body = html`${unsavedBadge()}
<p>${old === undefined ? TEXTS.aliasNew(alias, id) : TEXTS.aliasMoves(alias, old, id)}</p>
${effect}
${card(apps, asked.form('alias', fields, { query: `id=${encodeURIComponent(id)}` }))}
${linkLine(opsPath('model', { id }), EDIT_TEXTS.back)}`;
  const place = { page: 'catalogue', above: CATALOGUE_TEXTS.title };
  return showOpsPage(services, asked, { ...place, title: TEXTS.aliasTitle(alias), body });
}
