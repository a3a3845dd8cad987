import { type Offer, offersTo, type ShownPrice } from '#catalogue/shown-price.ts';
import { type Html, html } from '#kernel/text/html.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { filterForm } from '#web/fields/filter.ts';
import { card } from '#web/components/parts.ts';
import { table } from '#web/figures/figures.ts';
import { type AppRequest, forApp, partsPager, showAppPage } from '#web/console/frame/app-page.ts';
import { type ModelFilters, modelFilters, narrowed, providerOf, SORTS } from '#web/console/home/model-list.ts';
import { MODELS_TEXTS as TEXTS } from '#web/console/home/texts.ts';

const PAGE_MODELS = 50;

/** Shows at `/console/:part/models` what the app may call, and what it costs. */
export const modelsPage = forApp({
  GET: (asked) => {
    const { request, mode, to } = asked;
    const offers = offersTo(asked.app, asked.services.catalogue);
    const filters = modelFilters(request.query);
    const found = narrowed(offers, filters);
    const after = request.query.get('after') ?? '';
    // A model that is gone since begins at the start again.
    const start = after === '' ? 0 : found.findIndex(({ name }) => name === after) + 1;
    const shown = found.slice(start, start + PAGE_MODELS);
    const last = found.length > start + shown.length ? shown.at(-1)?.name : undefined;
    const body = html`<p class="soft">${TEXTS.what}</p>
${filterForm(to('models').split('?')[0] ?? '', mode, fieldsOf(offers, filters))}
${card(
  table({
    caption: html`${TEXTS.caption} <span class="soft">${TEXTS.count(found.length, offers.length)}</span>`,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 0 })),
    rows: shown.map((offer) => rowOf(asked, offer)),
    empty: offers.length === 0 ? TEXTS.none : TEXTS.noneFits,
  }),
  partsPager(
    asked,
    'models',
    { kept: { ...filters }, by: 'after', from: start === 0 ? undefined : after, next: last },
    TEXTS,
  ),
  html`<p class="soft">${TEXTS.asData} <code>GET /prices</code></p>`,
)}`;
    return showAppPage(asked, { title: TEXTS.title, body, page: 'models' });
  },
});

function fieldsOf(offers: readonly Offer[], { q, provider, sort }: ModelFilters) {
  const providers = [...new Set(offers.map(providerOf))].toSorted().map((name) => ({ value: name, text: name }));
  const sorts = SORTS.map((one) => ({ value: one, text: TEXTS.sorts[one] }));
  return [
    { name: 'q', label: TEXTS.search, value: q },
    {
      name: 'provider',
      label: TEXTS.provider,
      value: provider,
      choices: [{ value: '', text: TEXTS.all }, ...providers],
    },
    { name: 'sort', label: TEXTS.sort, value: sort, choices: sorts },
  ];
}

function rowOf({ amountOf }: AppRequest, offer: Offer): readonly Html[] {
  const { name, model, prices } = offer;
  const [usual, ...others] = prices;
  const count = new Intl.NumberFormat('en');
  return [
    html`<code>${name}</code>${name === model.id ? undefined : html`<br><span class="soft">${TEXTS.aliasOf} ${model.id}</span>`}<br><span class="soft">${TEXTS.by(providerOf(offer))}</span>`,
    html`${lines(usual, (tier) => amountOf(tier.input))}`,
    html`${lines(usual, (tier) => amountOf(tier.cachedInput))}`,
    html`${lines(usual, (tier) => amountOf(tier.output))}`,
    html`${feesOf(usual, amountOf)}${others.length === 0 ? undefined : html`<br><span class="soft">${TEXTS.alsoAt(others.length)}</span>`}`,
    html`${count.format(model.contextTokens)}`,
    html`${count.format(model.maxOutputTokens)}`,
  ];
}

/** One line for each tier of the prompt's length. */
function lines({ tiers }: ShownPrice, of: (tier: ShownPrice['tiers'][number]) => string): readonly Html[] {
  return tiers.map((tier, at) =>
    at === 0
      ? html`${of(tier)}`
      : html`<br><span class="soft">${TEXTS.above(tier.aboveInputTokens)}</span> ${of(tier)}`,
  );
}

function feesOf({ microsPerCall, microsPerSearch }: ShownPrice, amount: (micros: Micros) => string): string {
  const fees = [
    microsPerCall > 0n ? TEXTS.aCall(amount(microsPerCall)) : undefined,
    microsPerSearch > 0n ? TEXTS.aSearch(amount(microsPerSearch)) : undefined,
  ].filter((fee) => fee !== undefined);
  return fees.length === 0 ? TEXTS.noFee : fees.join(', ');
}
