import type { CatalogueFile, CatalogueModel } from '@purser/contract/catalogue.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { hiddenField } from '#web/fields/form.ts';
import { list } from '#web/components/list.ts';
import { section } from '#web/components/section.ts';
import { textField } from '#web/fields/text-field.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { actFields } from '#web/ops/catalogue/parts.ts';
import { MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

interface Aliases {
  readonly model: CatalogueModel;
  readonly file: CatalogueFile;
  readonly version: bigint;
}

/** The other names of a model, and the forms that add and remove one. */
export function aliasesPart(asked: OpsRequest, { model, file, version }: Aliases): Html {
  const names = Object.entries(file.aliases)
    .filter(([, target]) => target === model.id)
    .map(([alias]) => alias);
  const query = `id=${encodeURIComponent(model.id)}`;
  const items = names.map((alias, at) => {
    const fields = html`${hiddenField('gone', alias)}
${actFields(version, { of: `-${at}` })}
${button(TEXTS.removeAlias, { kind: 'danger', label: TEXTS.removeAliasAct(alias) })}`;
    const form = asked.form('alias', fields, { query });
    const remove = confirmation({
      act: TEXTS.removeAliasAct(alias),
      what: TEXTS.removeAliasWhat(alias),
      form,
    });
    return html`<code>${alias}</code>${asked.may('alias') ? remove : undefined}`;
  });
  const add = html`${textField({ name: 'alias', label: TEXTS.alias, hint: TEXTS.aliasHint, lengthMax: 128, isRequired: true })}
${actFields(version)}
${button(TEXTS.addAlias)}`;
  return section({
    id: 'aliases',
    heading: TEXTS.aliases,
    body: [
      items.length === 0 ? html`<p>${TEXTS.noAlias}</p>` : list(items),
      asked.may('alias') ? asked.form('alias', add, { query }) : undefined,
    ],
  });
}
