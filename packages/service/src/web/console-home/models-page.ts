import { type Offer, offersTo, type ShownPrice } from '#catalogue/shown-price.ts';
import { type Html, html } from '#kernel/html.ts';
import type { Micros } from '#kernel/micros.ts';
import { card } from '#web/components/section.ts';
import { table } from '#web/components/table.ts';
import { type AppRequest, forApp } from '#web/console/app-page.ts';
import { showAppPage } from '#web/console/console-page.ts';
import type { ConsoleHomeServices } from '#web/console-home/console-home-services.ts';
import { MODELS_TEXTS as TEXTS } from '#web/console-home/texts.ts';
import type { PageMethods } from '#web/frame/page.ts';

/** A page has room for so many models. The data of `GET /prices` has all. */
const SHOWN_MAX = 100;

/** `/console/:part/models`: what the app may call, and what it costs. */
export function modelsPage(services: ConsoleHomeServices): PageMethods {
  return forApp(services, {
    GET: (asked) => {
      const offers = offersTo(asked.app, services.catalogue);
      const shown = offers.slice(0, SHOWN_MAX);
      const rows = shown.map((offer) => rowOf(services, asked, offer));
      const body = html`<p class="soft">${TEXTS.what}</p>
${card(
  table({
    caption: TEXTS.caption,
    columns: TEXTS.columns.map((name, at) => ({ name, isNumeric: at > 0 })),
    rows,
    empty: TEXTS.none,
  }),
  offers.length > shown.length ? html`<p class="soft">${TEXTS.more(offers.length - shown.length)}</p>` : undefined,
  html`<p class="soft">${TEXTS.asData} <code>GET /prices</code></p>`,
)}`;
      return showAppPage(services, asked, { title: TEXTS.title, body, page: 'models' });
    },
  });
}

function rowOf(services: ConsoleHomeServices, asked: AppRequest, { name, model, prices }: Offer): readonly Html[] {
  const { formats } = asked.request;
  const amount = (micros: Micros) => formats.amount(micros, services.currency);
  const [usual, ...others] = prices;
  const count = new Intl.NumberFormat('en');
  return [
    html`<code>${name}</code>${name === model.id ? undefined : html`<br><span class="soft">${TEXTS.aliasOf} ${model.id}</span>`}`,
    html`${lines(usual, (tier) => amount(tier.input))}`,
    html`${lines(usual, (tier) => amount(tier.cachedInput))}`,
    html`${lines(usual, (tier) => amount(tier.output))}`,
    html`${feesOf(usual, amount)}${others.length === 0 ? undefined : html`<br><span class="soft">${TEXTS.alsoAt(others.length)}</span>`}`,
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
