import { priceToWire } from '#catalogue/price-row.ts';
import type { PastPrice } from '#catalogue/price-history.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { micros } from '#kernel/values/micros.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { badge } from '#web/components/badge.ts';
import { moment } from '#web/figures/moment.ts';
import { section } from '#web/components/section.ts';
import { table } from '#web/figures/table.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { amountIn } from '#web/ops/catalogue/parts.ts';
import type { OpsCatalogueServices } from '#web/ops/catalogue/services.ts';
import { CATALOGUE_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

const ROWS_MAX = 30;

/** The prices that a model has had, has and will have, the newest first. */
export async function pricesPart(services: OpsCatalogueServices, asked: OpsRequest, id: string): Promise<Html> {
  const found = await services.operator.catalogue.prices(id);
  const prices = found instanceof Refusal ? [] : found;
  return section({
    id: 'prices',
    heading: TEXTS.history,
    body: [
      table({
        caption: html`<span class="soft">${prices.length > ROWS_MAX ? TEXTS.historyMost(ROWS_MAX) : CATALOGUE_TEXTS.perMillion}</span>`,
        columns: TEXTS.historyColumns.map((name, at) => ({ name, isNumeric: at > 1 })),
        rows: prices.slice(0, ROWS_MAX).map((price) => rowOf(services, asked, price)),
        empty: TEXTS.noHistory,
      }),
    ],
  });
}

function rowOf(
  services: OpsCatalogueServices,
  asked: OpsRequest,
  { price, fromMs, untilMs, state }: PastPrice,
): readonly (Html | string)[] {
  const { formats } = asked.request;
  const amount = amountIn(asked, services);
  const { inputMicrosPerMillion, outputMicrosPerMillion, marginBasisPoints, marginMicrosPerCall, version } =
    priceToWire(price);
  const share = CATALOGUE_TEXTS.basisPoints(marginBasisPoints);
  const perCall =
    marginMicrosPerCall === undefined
      ? ''
      : CATALOGUE_TEXTS.and + CATALOGUE_TEXTS.aCall(amount(BigInt(marginMicrosPerCall)));
  const until = untilMs === undefined ? undefined : html`<br>${TEXTS.until} ${moment(untilMs, formats)}`;
  return [
    html`${stateWords(state)}<br>${TEXTS.since} ${moment(fromMs, formats)}${until}`,
    price.provider === null ? '' : `${price.provider}/${price.provider_model ?? ''}`,
    formats.amount(micros(BigInt(inputMicrosPerMillion)), services.currency),
    formats.amount(micros(BigInt(outputMicrosPerMillion)), services.currency),
    share + perCall,
    String(version),
  ];
}

function stateWords(state: PastPrice['state']): Html {
  const words = TEXTS.historyStates[state];
  if (state === 'current') return badge(words, 'good');
  return state === 'future' ? badge(words, 'warn') : html`<span class="soft">${words}</span>`;
}
