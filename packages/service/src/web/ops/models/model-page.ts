import { type CatalogueFile, type CatalogueModel, upstreamsOf } from '@purser/contract/catalogue.ts';
import { effectOf } from '#catalogue/price-effect.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { refuse } from '#kernel/faults/refusal.ts';
import { button, buttonLink, row } from '#web/components/button.ts';
import { definitionList } from '#web/components/definition-list.ts';
import { hiddenField } from '#web/fields/form.ts';
import type { PageResponse } from '#web/frame/page.ts';
import { redirectTo } from '#web/frame/responses.ts';
import type { Again } from '#web/ops/frame/act-page.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { listing, part } from '#web/ops/frame/details.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import { removalForm, removalPart } from '#web/ops/catalogue/changes.ts';
import { sampleWords, usedBy } from '#web/ops/catalogue/effect-part.ts';
import { healthBadge, priceCells, stateBadge } from '#web/ops/catalogue/parts.ts';
import { CATALOGUE_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';
import { aliasesPart } from '#web/ops/models/aliases-part.ts';
import { laterPricesPart, pricesPart } from '#web/ops/models/prices-part.ts';

/** The page `/ops/model?id=`, which shows one entry with its prices, upstreams and aliases, and who uses it. */
export const modelPage: OpsPage = { GET: (asked) => showModel(asked) };

/** The form `/ops/model-delete?id=`, which removes the model. */
export const modelDeleteForm = removalForm({ kind: 'model', field: 'id' }, showModel);

/** The page of a model, also after a form on it was refused. */
export async function showModel(asked: OpsRequest, again?: Pick<Again, 'refusal'>): Promise<PageResponse> {
  const id = asked.asks('id');
  if (id === '') return redirectTo(opsPath('catalogue'));
  const { file, version } = await asked.operator.catalogue.read();
  const model = file.models.find((one) => one.id === id);
  const refusal = again?.refusal ?? (model === undefined ? refuse('NOT_FOUND', 'There is no such model.') : undefined);
  if (model === undefined) {
    return asked.show({ title: id, below: 'catalogue', refusal });
  }
  const used = await usedBy(asked, [id]);
  const body = html`${factsPart(asked, model)}
${upstreamsPart(asked, model)}
${costsPart(asked, model)}
${await pricesPart(asked, id)}
${laterPricesPart(asked, model, version)}
${aliasesPart(asked, { model, file, version })}
${await usedPart(asked, used)}
${removalOf(asked, model, file, version, used.length)}`;
  return asked.show({ title: id, body, below: 'catalogue', refusal, done: TEXTS.done.get(asked.asks('done')) });
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

async function usedPart(
  { operator, appLink, formats, amount }: OpsRequest,
  used: Awaited<ReturnType<typeof usedBy>>,
): Promise<Html> {
  const names = await operator.apps.names(used.map(({ appId }) => appId));
  const shown = listing({
    note: 'Only the hundred apps that were charged the most are shown.',
    columns: ['App', 'Calls', 'Charged'],
    numbers: [1, 2],
    rows: used.map(({ appId, calls, charged }) => [appLink(appId, names), formats.count(calls), amount(charged)]),
    empty: 'No app has called it.',
  });
  return part('used', 'Used in the last 30 days', shown);
}

function removalOf(
  asked: OpsRequest,
  { id }: CatalogueModel,
  { aliases }: CatalogueFile,
  version: bigint,
  apps: number,
): Html | undefined {
  const first = Object.values(aliases).includes(id) ? TEXTS.removeFirst : undefined;
  const removal = { kind: 'model', field: 'id', name: id, version } as const;
  return removalPart(asked, { ...removal, title: 'Remove the model', what: TEXTS.removeWhat(apps), first });
}
