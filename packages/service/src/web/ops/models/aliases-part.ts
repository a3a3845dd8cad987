import type { CatalogueFile, CatalogueModel } from '@purser/contract/catalogue.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { button } from '#web/components/button.ts';
import { confirmation } from '#web/components/confirm.ts';
import { hiddenField } from '#web/fields/form.ts';
import { list } from '#web/components/list.ts';
import { textField } from '#web/fields/text-field.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { code, part } from '#web/ops/frame/details.ts';
import { changeFields } from '#web/ops/catalogue/changes.ts';
import { MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

interface Aliases {
  readonly model: CatalogueModel;
  readonly file: CatalogueFile;
  readonly version: bigint;
}

/** The other names of a model, and the forms that add and remove one. */
export function aliasesPart(asked: OpsRequest, { model, file, version }: Aliases): Html {
  const query = { id: model.id };
  const mayChange = asked.may('alias');
  const names = Object.entries(file.aliases).flatMap(([alias, target]) => (target === model.id ? [alias] : []));
  const items = names.map((alias, at) => {
    const act = `Remove ${alias}`;
    const fields = html`${hiddenField('gone', alias)}
${changeFields(version, { of: `-${at}` })}
${button('Remove', { kind: 'danger', label: act })}`;
    const form = asked.form('alias', fields, { query });
    return html`${code(alias)}${mayChange ? confirmation({ act, what: TEXTS.removeAliasWhat(alias), form }) : undefined}`;
  });
  const add = html`${textField({ name: 'alias', label: 'Alias', hint: TEXTS.aliasHint, lengthMax: 128, isRequired: true })}
${changeFields(version)}
${button('Show what it does')}`;
  return part(
    'aliases',
    'Aliases',
    items.length === 0 ? html`<p>It has no aliases.</p>` : list(items),
    mayChange ? asked.form('alias', add, { query }) : undefined,
  );
}
