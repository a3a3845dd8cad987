import { type CatalogueFile, type CatalogueModel, upstreamsOf } from '@purser/contract/catalogue.ts';
import { effectOf } from '#catalogue/price-effect.ts';
import { granted } from '#http/planes/planes.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { type PageResponse, redirectTo } from '#web/frame/page.ts';
import { type Again, actPage } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, opsPath, part } from '#web/ops/frame/details.ts';
import {
  changeFields,
  changeIn,
  type GivenChange,
  removalForm,
  removalPart,
  showUnsaved,
} from '#web/ops/catalogue/changes.ts';
import { concernedApps, effectPart, effectTables, sampleWords, usedBy } from '#web/ops/catalogue/effect-part.ts';
import { healthBadge, priceCells, stateBadge } from '#web/ops/catalogue/parts.ts';
import { CATALOGUE_TEXTS, EDIT_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { laterPricesPart, pricesPart } from '#web/ops/models/prices-part.ts';
import { confirmation } from '#web/components/notices.ts';
import { button, buttonLink, definitionList, list, row } from '#web/components/parts.ts';
import { hiddenField, textField } from '#web/fields/fields.ts';

/** The page `/ops/model?id=`, which shows one entry with its prices, upstreams and aliases, and who uses it. */
export const modelPage: OpsPage = { GET: (asked) => showModel(asked) };

const REMOVABLE = { kind: 'model', field: 'id' } as const;

/** The form `/ops/model-delete?id=`, which removes the model. */
export const modelDeleteForm = removalForm(REMOVABLE, showModel);

/** The page of a model, also after a form on it was refused. */
async function showModel(asked: OpsRequest, again?: Pick<Again, 'refusal'>): Promise<PageResponse> {
  const id = asked.asks('id');
  if (id === '') return redirectTo(opsPath('catalogue'));
  const { file, version } = await asked.operator.catalogue.read();
  const model = file.models.find((one) => one.id === id);
  const refusal = again?.refusal ?? (model === undefined ? refuse('NOT_FOUND', 'There is no such model.') : undefined);
  if (model === undefined) {
    return asked.show({ title: id, below: 'catalogue', refusal });
  }
  const used = await usedBy(asked, [id]);
  const first = Object.values(file.aliases).includes(id) ? TEXTS.removeFirst : undefined;
  const body = html`${factsPart(asked, model)}
${upstreamsPart(asked, model)}
${costsPart(asked, model)}
${await pricesPart(asked, id)}
${laterPricesPart(asked, model, version)}
${aliasesPart(asked, model, file, version)}
${await usedPart(asked, used)}
${removalPart(asked, { ...REMOVABLE, name: id, version, title: 'Remove the model', what: TEXTS.removeWhat(used.length), first })}`;
  return asked.show({ title: id, body, below: 'catalogue', refusal, done: TEXTS.done });
}

function factsPart(asked: OpsRequest, model: CatalogueModel): Html {
  const tokens = (count: number) => `${asked.formats.count(count)} tokens`;
  const facts = definitionList([
    ['State', stateBadge(asked, model) ?? 'served'],
    ['Who may call it', TEXTS.resales[model.resale]],
    ['Context', tokens(model.contextTokens)],
    ['Longest output', tokens(model.maxOutputTokens)],
    ['Typical output', tokens(model.defaultOutputTokens ?? model.maxOutputTokens)],
    ['Timeout', `${model.timeoutMs / 1_000} s`],
  ]);
  const links = row(
    buttonLink(opsPath('price', { id: model.id }), 'Change a price', 'quiet'),
    buttonLink(opsPath('model-edit', { id: model.id }), 'Change the entry', 'quiet'),
  );
  return part('facts', 'Entry', facts, links);
}

function upstreamsPart(asked: OpsRequest, model: CatalogueModel): Html {
  const reports = asked.operator.readUpstreams();
  const rows = upstreamsOf(model).map((upstream) => {
    const { provider: name, providerModel } = upstream;
    const own = reports.filter((one) => one.provider === name && one.providerModel === providerModel);
    const fields = html`${hiddenField('model', providerModel)}
${button('Test', { kind: 'quiet', label: TEXTS.testOf(`${name}/${providerModel}`) })}`;
    return [
      html`<a href="${opsPath('provider', { name })}">${name}</a>`,
      providerModel,
      ...priceCells(asked, model, upstream),
      healthBadge(own),
      asked.may('provider-test') ? asked.form('provider-test', fields, { query: { name } }) : '',
    ];
  });
  const note = CATALOGUE_TEXTS.perMillion;
  return part('upstreams', 'Upstreams', listing({ note, columns: TEXTS.upstreamColumns, numbers: [2, 3, 4], rows }));
}

function costsPart(asked: OpsRequest, model: CatalogueModel): Html {
  const rows = effectOf(undefined, model, asked.clock.nowMs()).flatMap(({ provider, providerModel, after }) => {
    if (after === undefined) return [];
    const amounts = [after.hold, after.charge, after.cost, after.margin].map((micros) => asked.amount(micros));
    return [[`${provider}/${providerModel}`, ...amounts]];
  });
  const note = sampleWords(asked);
  return part('costs', TEXTS.costs, listing({ note, columns: TEXTS.costColumns, numbers: [1, 2, 3, 4], rows }));
}

async function usedPart(asked: OpsRequest, used: Awaited<ReturnType<typeof usedBy>>): Promise<Html> {
  const { operator, appLink, formats, amount } = asked;
  const names = await operator.apps.names(used.map(({ appId }) => appId));
  return part('used', 'Used in the last 30 days', {
    note: 'Only the hundred apps that were charged the most are shown.',
    columns: ['App', 'Calls', 'Charged'],
    numbers: [1, 2],
    rows: used.map(({ appId, calls, charged }) => [appLink(appId, names), formats.count(calls), amount(charged)]),
    empty: 'No app has called it.',
  });
}

/** The other names of a model, and the forms that add and remove one. */
function aliasesPart(asked: OpsRequest, model: CatalogueModel, file: CatalogueFile, version: bigint): Html {
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
    const name = gone === '' ? form.field('alias').trim() : gone;
    if (name === '') return refuse('BAD_REQUEST', 'Enter an alias.');
    if (gone === '' && form.field('confirm') === '') return showChange(asked, name, id, given);
    const change = { kind: 'alias', name, entry: gone === '' ? id : undefined } as const;
    granted(await asked.operator.catalogue.change(given.act, change, given.version));
    return opsPath('model', { id, done: gone === '' ? 'alias' : 'alias-gone' });
  },
});

/** Shows what another target changes for callers of the alias, with the form that saves it. Refused like the saving itself. */
async function showChange(asked: OpsRequest, alias: string, id: string, { act, version }: GivenChange) {
  const seen = granted(await asked.operator.catalogue.preview({ kind: 'alias', name: alias, entry: id }, version));
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
