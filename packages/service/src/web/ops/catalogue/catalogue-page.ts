import { type CatalogueFile, type CatalogueModel, upstreamsOf } from '@purser/contract/catalogue.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { filterForm } from '#web/fields/filter.ts';
import { badge, buttonLink, card, row } from '#web/components/parts.ts';
import type { OpsPage, OpsRequest } from '#web/ops/frame/asked.ts';
import { code, listing, opsPath, soft } from '#web/ops/frame/details.ts';
import { pagerOf } from '#web/ops/frame/list-page.ts';
import {
  healthBadge,
  keyWords,
  originWords,
  priceCells,
  stateBadge,
  type UpstreamReport,
} from '#web/ops/catalogue/parts.ts';
import { CATALOGUE_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

const PAGE_MODELS = 40;
const PROVIDERS_MAX = 40;
const DAY_MS = 24 * 60 * 60 * 1_000;

const LINKS = row(
  buttonLink(opsPath('model-edit'), 'Add a model', 'quiet'),
  buttonLink(opsPath('provider', { name: '' }), 'Add a provider', 'quiet'),
  buttonLink(opsPath('catalogue-import'), 'Import a catalogue or a price list', 'quiet'),
);

/** The page `/ops/catalogue`, which shows providers with their health, models with their prices, and the way to change them. */
export const cataloguePage: OpsPage = {
  GET: async (asked) => {
    const { file } = await asked.operator.catalogue.read();
    const search = asked.asks('q').toLowerCase();
    const value = asked.query.get('q') ?? '';
    const body = html`<p class="soft">${TEXTS.what}</p>
${filterForm(opsPath('catalogue'), 'live', [{ name: 'q', label: 'Name contains', value }])}
${asked.may('model-edit') ? LINKS : undefined}
${card(providersTable(asked, file, search))}
${card(...(await modelsPart(asked, file, search)))}`;
    return asked.show({ title: 'Catalogue', body, page: 'catalogue', done: TEXTS.done });
  },
};

function providersTable({ operator, formats }: OpsRequest, { providers }: CatalogueFile, search: string): Html {
  const reports = Map.groupBy(operator.readUpstreams(), ({ provider }) => provider);
  const fits = Object.entries(providers)
    .filter(([name, provider]) => `${name} ${originWords(provider)}`.toLowerCase().includes(search))
    .toSorted(([left], [right]) => (left < right ? -1 : 1));
  return listing({
    caption: html`Providers ${soft(TEXTS.count(fits.length, Object.keys(providers).length))}`,
    columns: ['Provider', 'Address', 'Key', 'State', 'Last minute, this process'],
    rows: fits.slice(0, PROVIDERS_MAX).map(([name, provider]) => {
      const own = reports.get(name) ?? [];
      const hasKey = operator.catalogue.keyFaultOf(provider) === undefined;
      return [
        html`<a href="${opsPath('provider', { name })}">${name}</a>`,
        originWords(provider),
        code(keyWords(provider)),
        hasKey ? healthBadge(own) : badge(TEXTS.states['no-key'], 'warn'),
        lastMinute(own, formats.count),
      ];
    }),
    empty: 'No providers match.',
  });
}

function lastMinute(reports: readonly UpstreamReport[], count: (count: number) => string): Html {
  const sum = (of: 'calls' | 'failures') => reports.reduce((all, one) => all + one.lastMinute[of], 0);
  const times = reports.flatMap(({ lastMinute: { firstByteMs } }) => (firstByteMs === undefined ? [] : [firstByteMs]));
  const slowest = times.length === 0 ? undefined : TEXTS.firstByte(Math.round(Math.max(...times)));
  return html`${TEXTS.calls(count(sum('calls')), count(sum('failures')))}${slowest && html`<br>${soft(slowest)}`}`;
}

async function modelsPart(asked: OpsRequest, file: CatalogueFile, search: string) {
  const { query, formats } = asked;
  const calls = await callsByModel(asked);
  const aliases = Map.groupBy(Object.entries(file.aliases), ([, target]) => target);
  const namesOf = ({ id }: CatalogueModel) => (aliases.get(id) ?? []).map(([alias]) => alias);
  const wordsOf = (model: CatalogueModel) => [
    model.id,
    ...namesOf(model),
    ...upstreamsOf(model).flatMap((one) => [one.provider, one.providerModel]),
  ];
  const fits = file.models
    .filter((model) => wordsOf(model).some((name) => name.toLowerCase().includes(search)))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const after = query.get('after') ?? '';
  const start = after === '' ? 0 : fits.findIndex(({ id }) => id === after) + 1;
  const shown = fits.slice(start, start + PAGE_MODELS);
  const pages = pagerOf(
    { name: 'after', first: 'First page', more: 'Next models' },
    {
      page: 'catalogue',
      query: { q: query.get('q') ?? undefined },
      place: start === 0 ? undefined : after,
      next: fits.length > start + shown.length ? shown.at(-1)?.id : undefined,
    },
  );
  const models = listing({
    caption: html`Models ${soft(TEXTS.count(fits.length, file.models.length))}`,
    columns: ['Model', 'Served by', 'Input', 'Output', 'Margin', 'Calls, 24 h'],
    numbers: [2, 3, 4, 5],
    rows: shown.map((model) => cellsOf(asked, model, namesOf(model), formats.count(calls.get(model.id) ?? 0))),
    empty: 'No models match.',
  });
  return [models, pages, html`<p class="soft">${TEXTS.perMillion}</p>`];
}

/** How often each model was called in a day. Those beyond the hundred most used are not there. */
async function callsByModel({ stats, clock }: OpsRequest): Promise<ReadonlyMap<string, number>> {
  const toMs = clock.nowMs();
  const all = await stats.byModel({ of: 'every app', mode: 'live', fromMs: toMs - DAY_MS, toMs });
  return new Map(all.map(({ model, calls }) => [model, calls]));
}

function cellsOf(asked: OpsRequest, model: CatalogueModel, aliases: readonly string[], calls: string) {
  const [first, ...others] = upstreamsOf(model);
  if (first === undefined) return [];
  const state = stateBadge(asked, model);
  const names = aliases.slice(0, 3).join(', ');
  return [
    html`<a href="${opsPath('model', { id: model.id })}">${model.id}</a>${state && html` ${state}`}${names && html`<br>${soft(`Aliases ${names}`)}`}`,
    html`${first.provider}${others.length === 0 ? undefined : html` ${soft(`and ${others.length} more`)}`}`,
    ...(model.free ? [TEXTS.states.free, '', ''] : priceCells(asked, model, first)),
    calls,
  ];
}
