import type { CatalogueModel } from '@purser/contract/catalogue.ts';
import { priceToWire } from '#catalogue/price-row.ts';
import type { PastPrice } from '#catalogue/price-history.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { type Html, html } from '#kernel/text/html.ts';
import { Refusal } from '#kernel/faults/refusal.ts';
import { hiddenField } from '#web/fields/fields.ts';
import { badge, button, fold, list } from '#web/components/parts.ts';
import type { OpsRequest } from '#web/ops/frame/asked.ts';
import { part, soft } from '#web/ops/frame/details.ts';
import { changeFields } from '#web/ops/catalogue/changes.ts';
import { CATALOGUE_TEXTS, MODEL_TEXTS as TEXTS } from '#web/ops/catalogue/texts.ts';

const ROWS_MAX = 30;

/** The prices that a model has had, has and will have, the newest first. */
export async function pricesPart(asked: OpsRequest, id: string): Promise<Html> {
  const found = await asked.operator.catalogue.prices(id);
  const prices = found instanceof Refusal ? [] : found;
  return part('prices', 'Prices', {
    note: prices.length > ROWS_MAX ? `Only the newest ${ROWS_MAX} are shown.` : CATALOGUE_TEXTS.perMillion,
    columns: ['In force', 'Upstream', 'Input', 'Output', 'Margin', 'Row'],
    numbers: [2, 3, 4, 5],
    rows: prices.slice(0, ROWS_MAX).map((price) => cellsOf(asked, price)),
    empty: 'It has no price yet.',
  });
}

function cellsOf({ amount, moment }: OpsRequest, { price, fromMs, untilMs, state }: PastPrice) {
  const { inputMicrosPerMillion, outputMicrosPerMillion, marginBasisPoints, marginMicrosPerCall, version } =
    priceToWire(price);
  const share = CATALOGUE_TEXTS.basisPoints(marginBasisPoints);
  const perCall =
    marginMicrosPerCall === undefined
      ? ''
      : CATALOGUE_TEXTS.and + CATALOGUE_TEXTS.aCall(amount(BigInt(marginMicrosPerCall)));
  const until = untilMs === undefined ? undefined : html`<br>until ${moment(untilMs)}`;
  return [
    html`${stateWords(state)}<br>from ${moment(fromMs)}${until}`,
    price.provider === null ? '' : `${price.provider}/${price.provider_model ?? ''}`,
    amount(BigInt(inputMicrosPerMillion)),
    amount(BigInt(outputMicrosPerMillion)),
    share + perCall,
    String(version),
  ];
}

function stateWords(state: PastPrice['state']): Html {
  const words = TEXTS.historyStates[state];
  if (state === 'current') return badge(words, 'good');
  return state === 'future' ? badge(words, 'warn') : soft(words);
}

/** The prices that are set for later. Taking one back is a change of the entry, so the next page shows what it does first. */
export function laterPricesPart(asked: OpsRequest, model: CatalogueModel, version: bigint): Html | undefined {
  const items = laterPricesOf(model, asked.clock.nowMs()).map(({ fromMs, upstream, without }, at) => {
    const words = TEXTS.laterFrom(asked.formats.moment(fromMs), upstream);
    if (!asked.may('model-edit')) return words;
    const fields = html`${hiddenField('entry', JSON.stringify(without, undefined, 2))}
${changeFields(version, { of: `-later-${at}` })}
${button('Show what withdrawing it does')}`;
    const form = asked.form('model-edit', fields, { query: { id: model.id } });
    return html`${words}\n${fold('Withdraw it', form)}`;
  });
  return items.length === 0 ? undefined : part('later', 'Planned prices', list(items));
}

/**
 * The prices that are set for later, each with the entry without it. `upstream`: whose price it is; undefined for the price of every upstream
 * without a price of its own.
 */
function laterPricesOf(model: CatalogueModel, nowMs: number) {
  const own = withoutEach(model, nowMs).map(({ fromMs, entry }) => ({ fromMs, upstream: undefined, without: entry }));
  const { upstreams = [] } = model;
  const ofUpstreams = upstreams.flatMap((one, at) =>
    withoutEach(one, nowMs).map(({ fromMs, entry }) => ({
      fromMs,
      upstream: `${one.provider}/${one.providerModel}`,
      without: { ...model, upstreams: upstreams.map((other, place) => (place === at ? entry : other)) },
    })),
  );
  return [...own, ...ofUpstreams].toSorted((left, right) => left.fromMs - right.fromMs);
}

/** An entry without each of its later prices. The last one takes the empty list with it. */
function withoutEach<Entry extends Pick<CatalogueModel, 'priceChanges'>>(entry: Entry, nowMs: number) {
  const { priceChanges = [], ...rest } = entry;
  return priceChanges.flatMap((change, at) => {
    const fromMs = epochMsOf(change.from);
    const others = priceChanges.filter((_one, place) => place !== at);
    return fromMs > nowMs ? [{ fromMs, entry: others.length === 0 ? rest : { ...rest, priceChanges: others } }] : [];
  });
}
