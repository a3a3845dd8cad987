import { apisOf } from '@purser/contract/apis.ts';
import {
  type Api,
  type CatalogueFile,
  type CataloguePrice,
  RATES as CATALOGUE_RATES,
  statedPrice,
  upstreamsOf,
} from '@purser/contract/catalogue.ts';
import { parseCatalogueFile } from '#catalogue/catalogue-file.ts';
import { changeInForce } from '#catalogue/price-row.ts';
import { epochMsOf, systemClock } from '#kernel/time/clock.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/text/json.ts';
import type { OldPrice } from '#price-lists/judge.ts';
import { effective, RATE_NAMES, type RateCard, RATES, type RateName, type Rates } from '#price-lists/rate-card.ts';

/** One upstream of a model in a catalogue file, with its price and its place in the file. */
export interface PricedUpstream {
  readonly model: string;
  /** The catalogue's name of the provider, and what it says of it. */
  readonly provider: string;
  readonly definition: CatalogueFile['providers'][string];
  readonly providerModel: string;
  /** The interfaces that it serves. */
  readonly apis: readonly Api[];
  readonly isFree: boolean;
  readonly old: OldPrice;
  /** How many prices are set for later, and do not count yet. */
  readonly laterPrices: number;
  /** When the file was read: the prices of that time are compared. Milliseconds since 1970 UTC. */
  readonly readAtMs: number;
  readonly contextTokens: number;
  readonly maxOutputTokens: number;
  readonly place: { readonly model: number; readonly upstream: number | undefined };
}

/** Stands in for a price that the file does not have yet, so that everything else can be checked. */
const PLACEHOLDER = { inputMicrosPerMillion: 1, outputMicrosPerMillion: 1 };
const OURS = new Set<string>(RATE_NAMES.map((name) => RATES[name].field));

/**
 * Reads the upstreams of a catalogue file. It must be valid, except that models may lack a price: this is where they get one.
 * The prices are those in force at `nowMs`. Throws `CatalogueFileError`.
 */
export function readUpstreams(text: string, nowMs = systemClock.nowMs()): readonly PricedUpstream[] {
  const raw = parseJson(text);
  const unpriced = new Set<number>();
  const models = isJsonObject(raw) && Array.isArray(raw['models']) ? (raw['models'] as unknown[]) : [];
  for (const [index, model] of models.entries()) {
    if (!isJsonObject(model) || model['free'] === true || model['price'] !== undefined) continue;
    const upstreams = Array.isArray(model['upstreams']) ? (model['upstreams'] as unknown[]) : [undefined];
    if (upstreams.every((one) => isJsonObject(one) && one['price'] !== undefined)) continue;
    unpriced.add(index);
    models[index] = { ...model, price: PLACEHOLDER };
  }
  const file = parseCatalogueFile(raw === undefined ? text : JSON.stringify(raw));
  return file.models.flatMap((model, index) =>
    upstreamsOfModel(file, model, { index, isPriced: !unpriced.has(index), nowMs }),
  );
}

function upstreamsOfModel(
  file: CatalogueFile,
  model: CatalogueFile['models'][number],
  { index, isPriced, nowMs }: { readonly index: number; readonly isPriced: boolean; readonly nowMs: number },
): readonly PricedUpstream[] {
  return upstreamsOf(model).flatMap((upstream, number) => {
    const definition = file.providers[upstream.provider];
    if (definition === undefined) return []; // Never: the file was checked.
    const { priceChanges: changes = [] } = upstream.price === undefined ? model : upstream;
    const stated = upstream.price ?? (isPriced ? statedPrice(model) : undefined);
    const price = changeInForce(changes, nowMs)?.price ?? stated;
    return [
      {
        model: model.id,
        provider: upstream.provider,
        definition,
        providerModel: upstream.providerModel,
        apis: apisOf(definition, model, upstream),
        isFree: model.free,
        old: {
          card: price === undefined ? undefined : cardOf(price),
          others: price === undefined ? [] : othersOf(price),
        },
        laterPrices: changes.filter(({ from }) => epochMsOf(from) > nowMs).length,
        readAtMs: nowMs,
        contextTokens: model.contextTokens,
        maxOutputTokens: model.maxOutputTokens,
        place: { model: index, upstream: model.upstreams === undefined ? undefined : number },
      },
    ];
  });
}

function cardOf(price: CataloguePrice): RateCard {
  const tiers = (price.tiers ?? []).map(({ aboveInputTokens, ...rates }) => ({
    aboveInputTokens,
    rates: ratesOf(rates),
  }));
  return [{ aboveInputTokens: 0, rates: ratesOf(price) }, ...tiers];
}

function ratesOf(price: JsonObject): Rates {
  const rates: Partial<Record<RateName, bigint>> = {};
  for (const name of RATE_NAMES) {
    const amount = price[RATES[name].field];
    if (typeof amount === 'number') rates[name] = BigInt(amount);
  }
  return rates;
}

/** The prices of a million tokens that no list has. */
function othersOf(price: CataloguePrice): readonly string[] {
  return CATALOGUE_RATES.filter((field) => !OURS.has(field) && price[field] !== undefined);
}

/** New prices for some upstreams of a catalogue. */
interface NewPrice {
  readonly upstream: PricedUpstream;
  readonly card: RateCard;
}

/**
 * Writes prices into the text of a catalogue file and leaves everything else as it is. With `from`, the present prices stay in
 * force until that moment. Throws `CatalogueFileError` if the result is no valid catalogue, for example because a model still
 * has no price.
 */
export function withPrices(text: string, prices: readonly NewPrice[], from: string | undefined): string {
  const raw = structuredClone(parseJson(text)) as { readonly models: Record<string, unknown>[] };
  for (const { upstream, card } of prices) {
    const model = raw.models[upstream.place.model] ?? {};
    const { upstream: number } = upstream.place;
    const target = number === undefined ? model : ((model['upstreams'] as Record<string, unknown>[])[number] ?? {});
    makeOwn(target, model, upstream.readAtMs);
    const old = priceIn(target) ?? {};
    const next = priceObject(old, card);
    if (from === undefined || upstream.old.card === undefined) {
      target['price'] = next;
      delete target['cacheWriteMicrosPerMillion']; // The old place. The new price has it.
      continue;
    }
    const changes = (target['priceChanges'] ?? []) as unknown[];
    target['priceChanges'] = [...changes, { from, price: next }];
  }
  const written = `${JSON.stringify(raw, undefined, 2)}\n`;
  parseCatalogueFile(written);
  return written;
}

type Change = Readonly<Record<string, unknown>> & { readonly from: string };
const MARGINS = ['marginBasisPoints', 'marginMicrosPerCall'] as const;

/**
 * Gives an entry a price of its own, with the changes to it: what it has followed its model in. A price that was set for later and is in
 * force becomes its `price`, with its margins, because a new price beside it would not count.
 */
function makeOwn(target: Record<string, unknown>, model: Record<string, unknown>, nowMs: number): void {
  const hasFollowed = target !== model && target['price'] === undefined;
  const changes = ((hasFollowed ? model : target)['priceChanges'] ?? []) as readonly Change[];
  // An upstream's own margin counts for the changes of its model too.
  const own = changes.map((change) => (hasFollowed ? without(change, target) : change));
  const current = changeInForce(own, nowMs);
  if (hasFollowed) target['price'] = priceIn(model);
  const later = own.filter(({ from }) => epochMsOf(from) > nowMs).map((change) => ({ ...change }));
  if (current !== undefined) {
    target['price'] = current['price'];
    delete target['cacheWriteMicrosPerMillion'];
    for (const name of MARGINS) {
      if (current[name] === undefined) continue;
      const before = target[name] ?? model[name] ?? 0;
      // What a change leaves out of the margin is as before the change that is in force.
      for (const change of later) (change as Record<string, unknown>)[name] ??= before;
      target[name] = current[name];
    }
  }
  if (later.length > 0) target['priceChanges'] = later;
  else delete target['priceChanges'];
}

/** A change of the model without the margins that the upstream has of its own. */
function without(change: Change, target: Readonly<Record<string, unknown>>): Change {
  const kept = Object.entries(change).filter(
    ([name]) => !MARGINS.some((margin) => margin === name && margin in target),
  );
  return { ...Object.fromEntries(kept), from: change.from };
}

/** The price of an entry, with what the old place beside it says. */
function priceIn(entry: JsonObject): JsonObject | undefined {
  const { price, cacheWriteMicrosPerMillion } = entry;
  if (!isJsonObject(price)) return undefined;
  return cacheWriteMicrosPerMillion === undefined ? price : { ...price, cacheWriteMicrosPerMillion };
}

/** The rates of the card, and from the old price what no list has. */
function priceObject(old: JsonObject, [base, ...tiers]: RateCard): JsonObject {
  const { tiers: oldTiers, ...flat } = old;
  const known = Array.isArray(oldTiers) ? (oldTiers as JsonObject[]) : [];
  const price = { ...fieldsOf(base.rates), ...withoutOurs(flat) };
  if (tiers.length === 0) return price;
  return {
    ...price,
    tiers: tiers.map(({ aboveInputTokens, rates }) => {
      const before = known.find((tier) => tier['aboveInputTokens'] === aboveInputTokens) ?? {};
      return { aboveInputTokens, ...fieldsOf(rates), ...withoutOurs(before) };
    }),
  };
}

/** Prices of a catalogue are below 2^53, so the numbers are exact. */
function fieldsOf(rates: Rates): JsonObject {
  const entries = RATE_NAMES.flatMap((name) =>
    rates[name] === undefined ? [] : [[RATES[name].field, Number(effective(rates, name))]],
  );
  return Object.fromEntries(entries) as JsonObject;
}

function withoutOurs(price: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(price).filter(([field]) => !OURS.has(field) && field !== 'aboveInputTokens'),
  );
}
