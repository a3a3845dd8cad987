import { type CatalogueFile, type CatalogueModel, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { badge } from '#web/components/badge.ts';
import { buttonLink, row } from '#web/components/button.ts';
import { filterForm } from '#web/fields/filter.ts';
import { pager } from '#web/components/navigation.ts';
import { successNotice } from '#web/components/notices.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { PageMethods } from '#web/frame/page.ts';
import { forOperator } from '#web/ops/frame/for-operator.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { showOpsPage } from '#web/ops/frame/old-page.ts';
import { opsPath } from '#web/ops/frame/ops-path.ts';
import {
  amountIn,
  healthBadge,
  keyWords,
  originWords,
  priceCells,
  type UpstreamReport,
} from '#web/ops/catalogue/parts.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

const PAGE_MODELS = 40;
const PROVIDERS_MAX = 40;
const DAY_MS = 24 * 60 * 60 * 1_000;

/**
 * Makes the page `/ops/catalogue`, which shows providers with their health, models with their prices, and the way to
 * change them.
 */
export function cataloguePage(services: OpsCatalogueServices): PageMethods {
  return forOperator(services, {
    GET: async (asked) => {
      const { query } = asked.request;
      const { file } = await services.operator.catalogue.read();
      const search = query.get('q')?.trim().toLowerCase() ?? '';
      const calls = await callsByModel(services);
      const body = html`${successNotice(TEXTS.done.get(query.get('done')))}
<p class="soft">${TEXTS.what}</p>
${filterForm(opsPath('catalogue'), 'live', [{ name: 'q', label: TEXTS.search, value: query.get('q') ?? '' }])}
${asked.may('model-edit') ? links() : undefined}
${card(providersTable(services, asked, file, search))}
${card(...modelsPart(services, asked, { file, search, calls }))}`;
      return showOpsPage(services, asked, { title: TEXTS.title, body, page: 'catalogue' });
    },
  });
}

function links(): Html {
  return row(
    buttonLink(opsPath('model-edit'), TEXTS.newModel, 'quiet'),
    buttonLink(opsPath('provider', { name: '' }), TEXTS.newProvider, 'quiet'),
    buttonLink(opsPath('catalogue-import'), TEXTS.importPrices, 'quiet'),
  );
}

/** How often each model was called in a day. Those beyond the hundred most used are not there. */
async function callsByModel({ stats, clock }: OpsCatalogueServices): Promise<ReadonlyMap<string, number>> {
  const toMs = clock.nowMs();
  const all = await stats.byModel({ of: 'every app', mode: 'live', fromMs: toMs - DAY_MS, toMs });
  return new Map(all.map(({ model, calls }) => [model, calls]));
}

function providersTable(
  { operator }: OpsCatalogueServices,
  { request: { formats } }: OpsRequest,
  { providers }: CatalogueFile,
  search: string,
): Html {
  const reports = Map.groupBy(operator.readUpstreams(), ({ provider }) => provider);
  const fits = Object.entries(providers)
    .filter(([name, provider]) => `${name} ${originWords(provider)}`.toLowerCase().includes(search))
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return table({
    caption: html`${TEXTS.providers} <span class="soft">${TEXTS.count(fits.length, Object.keys(providers).length)}</span>`,
    columns: TEXTS.providerColumns.map((name) => ({ name })),
    rows: fits.slice(0, PROVIDERS_MAX).map(([name, provider]) => {
      const own = reports.get(name) ?? [];
      return [
        html`<a href="${opsPath('provider', { name })}">${name}</a>`,
        originWords(provider),
        html`<code>${keyWords(provider)}</code>`,
        operator.catalogue.keyFaultOf(provider) === undefined
          ? healthBadge(own)
          : badge(TEXTS.states['no-key'], 'warn'),
        lastMinute(own, formats.count),
      ];
    }),
    empty: TEXTS.noProvider,
  });
}

function lastMinute(reports: readonly UpstreamReport[], count: (count: number) => string): Html {
  const sum = (of: 'calls' | 'failures') => reports.reduce((all, one) => all + one.lastMinute[of], 0);
  const times = reports.flatMap(({ lastMinute: { firstByteMs } }) => (firstByteMs === undefined ? [] : [firstByteMs]));
  const slowest = times.length === 0 ? undefined : TEXTS.firstByte(Math.round(Math.max(...times)));
  return html`${TEXTS.calls(count(sum('calls')), count(sum('failures')))}${slowest === undefined ? undefined : html`<br><span class="soft">${slowest}</span>`}`;
}

interface Shown {
  readonly file: CatalogueFile;
  readonly search: string;
  readonly calls: ReadonlyMap<string, number>;
}

function modelsPart(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  { file, search, calls }: Shown,
): readonly (Html | undefined)[] {
  const { query } = asked.request;
  const aliases = Map.groupBy(Object.entries(file.aliases), ([, target]) => target);
  const namesOf = ({ id }: CatalogueModel) => (aliases.get(id) ?? []).map(([alias]) => alias);
  const fits = file.models
    .filter((model) =>
      [model.id, ...namesOf(model), ...upstreamsOf(model).flatMap((one) => [one.provider, one.providerModel])].some(
        (name) => name.toLowerCase().includes(search),
      ),
    )
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const after = query.get('after') ?? '';
  const start = after === '' ? 0 : fits.findIndex(({ id }) => id === after) + 1;
  const shown = fits.slice(start, start + PAGE_MODELS);
  const last = fits.length > start + shown.length ? shown.at(-1)?.id : undefined;
  const q = query.get('q') ?? undefined;
  return [
    table({
      caption: html`${TEXTS.models} <span class="soft">${TEXTS.count(fits.length, file.models.length)}</span>`,
      columns: TEXTS.modelColumns.map((name, at) => ({ name, isNumeric: at > 1 })),
      rows: shown.map((model) =>
        rowOf(services, asked, { model, aliases: namesOf(model), calls: calls.get(model.id) ?? 0 }),
      ),
      empty: TEXTS.noModel,
    }),
    pager({
      newer: start === 0 ? undefined : { href: opsPath('catalogue', { q }), text: TEXTS.first },
      older: last === undefined ? undefined : { href: opsPath('catalogue', { q, after: last }), text: TEXTS.more },
    }),
    html`<p class="soft">${TEXTS.perMillion}</p>`,
  ];
}

interface ModelRow {
  readonly model: CatalogueModel;
  readonly aliases: readonly string[];
  readonly calls: number;
}

function rowOf(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  { model, aliases, calls }: ModelRow,
): readonly (Html | string)[] {
  const [first, ...others] = upstreamsOf(model);
  if (first === undefined) return [];
  const price = priceCells(model, first, services.clock.nowMs(), amountIn(asked, services));
  const by = html`${first.provider}${others.length === 0 ? undefined : html` <span class="soft">${TEXTS.others(others.length)}</span>`}`;
  const names = aliases.slice(0, 3).join(', ');
  return [
    html`<a href="${opsPath('model', { id: model.id })}">${model.id}</a>${stateOf(services, model)}${names === '' ? undefined : html`<br><span class="soft">${TEXTS.aliases} ${names}</span>`}`,
    by,
    model.free ? TEXTS.states.free : price.input,
    model.free ? '' : price.output,
    model.free ? '' : price.margin,
    asked.request.formats.count(calls),
  ];
}

/** What keeps apps from calling a model, if anything does. */
export function stateOf(
  { catalogue }: OpsCatalogueServices,
  { id, enabled, resale }: CatalogueModel,
): Html | undefined {
  if (!enabled) return html` ${badge(TEXTS.states.off, 'warn')}`;
  if (catalogue.find(id)?.isServed !== true) return html` ${badge(TEXTS.states['no-key'], 'warn')}`;
  return resale === 'reserved' ? html` ${badge(TEXTS.states.reserved, 'good')}` : undefined;
}
