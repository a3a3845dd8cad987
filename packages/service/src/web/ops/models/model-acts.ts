import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { showAliasPreview } from '#web/ops/models/alias-preview.ts';
import { showModel } from '#web/ops/models/model-page.ts';
import { actIn } from '#web/ops/catalogue/parts.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

/**
 * Makes the form `/ops/alias?id=`, which points an alias at the model or removes one. A first press shows what the new
 * target changes.
 */
export function aliasForm(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    formPage: '/ops/model',
    POST: async (asked, form) => {
      const id = asked.request.query.get('id') ?? '';
      const gone = form.field('gone');
      const given = actIn(asked, form);
      if (given instanceof Refusal) return showModel(services, asked, id, given);
      const name = gone === '' ? form.field('alias').trim() : gone;
      if (name === '') return showModel(services, asked, id, refuse('BAD_REQUEST', TEXTS.aliasMissing));
      const entry = gone === '' ? id : undefined;
      const change = { kind: 'alias', name, entry } as const;
      if (entry !== undefined && form.field('confirm') === '') {
        const shown = await showAliasPreview(services, asked, { alias: name, id, ...given });
        return shown instanceof Refusal ? showModel(services, asked, id, shown) : shown;
      }
      const done = await services.operator.catalogue.change(given.act, change, given.version);
      if (done instanceof Refusal) return showModel(services, asked, id, done);
      return redirectTo(opsPath('model', { id, done: gone === '' ? 'alias' : 'alias-gone' }));
    },
  });
}

/** Makes the form `/ops/model-delete?id=`, which removes the model. */
export function modelDeleteForm(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    formPage: '/ops/model',
    POST: async (asked, form) => {
      const id = asked.request.query.get('id') ?? '';
      const given = actIn(asked, form);
      if (given instanceof Refusal) return showModel(services, asked, id, given);
      const change = { kind: 'model', name: id, entry: undefined } as const;
      const done = await services.operator.catalogue.change(given.act, change, given.version);
      if (done instanceof Refusal) return showModel(services, asked, id, done);
      return redirectTo(opsPath('catalogue', { done: 'model-gone' }));
    },
  });
}
