import { html } from '#kernel/text/html.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { actPage } from '#web/ops/frame/act-page.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { changeIn, type GivenChange, showUnsaved } from '#web/ops/catalogue/changes.ts';
import { concernedApps, effectPart, effectTables } from '#web/ops/catalogue/effect-part.ts';
import { EDIT_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { showModel } from '#web/ops/models/model-page.ts';

/**
 * The form `/ops/alias?id=`, which points an alias at the model or removes one. A first press shows what the new
 * target changes.
 */
export const aliasForm = actPage({
  formPage: '/ops/model',
  show: showModel,
  act: async (asked, form) => {
    const id = asked.asks('id');
    const gone = form.field('gone');
    const given = changeIn(asked, form);
    if (given instanceof Refusal) return given;
    const name = gone === '' ? form.field('alias').trim() : gone;
    if (name === '') return refuse('BAD_REQUEST', 'Enter an alias.');
    if (gone === '' && form.field('confirm') === '') return showChange(asked, name, id, given);
    const change = { kind: 'alias', name, entry: gone === '' ? id : undefined } as const;
    const done = await asked.operator.catalogue.change(given.act, change, given.version);
    return done instanceof Refusal ? done : opsPath('model', { id, done: gone === '' ? 'alias' : 'alias-gone' });
  },
});

/** Shows what another target changes for callers of the alias, with the form that saves it. Refused like the saving itself. */
async function showChange(
  asked: OpsRequest,
  alias: string,
  id: string,
  { act, version }: GivenChange,
): Promise<PageResponse | Refusal> {
  const seen = await asked.operator.catalogue.preview({ kind: 'alias', name: alias, entry: id }, version);
  if (seen instanceof Refusal) return seen;
  const { aliases, models } = seen.before;
  const old = Object.hasOwn(aliases, alias) ? aliases[alias] : undefined;
  if (old === id) return refuse('CONFLICT', `${alias} already points to ${id}. There is nothing to save.`);
  const find = (name: string | undefined) => models.find((model) => model.id === name);
  const change = { before: find(old), after: find(id) };
  const effect =
    old === undefined ? part('effect', EDIT_TEXTS.preview, ...effectTables(asked, change)) : effectPart(asked, change);
  const apps =
    old === undefined
      ? undefined
      : html`${await concernedApps(asked, [old])}<p class="soft">${TEXTS.aliasCalls(old)}</p>`;
  return showUnsaved(asked, {
    title: `Alias ${alias}`,
    effect: html`<p>${old === undefined ? TEXTS.aliasNew(alias, id) : TEXTS.aliasMoves(alias, old, id)}</p>
${effect}`,
    beside: [apps],
    form: { page: 'alias', query: { id }, values: { alias, version: version.toString(), reason: act.reason ?? '' } },
    save: 'Point the alias here',
    back: opsPath('model', { id }),
  });
}
