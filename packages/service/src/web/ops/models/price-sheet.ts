import { type CatalogueModel, type CataloguePrice, statedPrice } from '@purser/contract/catalogue.ts';
import { changeInForce } from '#catalogue/price-row.ts';
import { epochMsOf } from '#kernel/time/clock.ts';

/** The rates and fees of the form. A price may have more, which it keeps. */
export const FORM_RATES = [
  'inputMicrosPerMillion',
  'cachedInputMicrosPerMillion',
  'cacheWriteMicrosPerMillion',
  'outputMicrosPerMillion',
  'reasoningMicrosPerMillion',
  'microsPerCall',
] as const;
export type FormRate = (typeof FORM_RATES)[number];

/** The price of a model, or of one of its upstreams that has a price of its own. */
export interface Sheet {
  /** The index of the upstream whose price it is. It is undefined for the model's own price. */
  readonly upstream: number | undefined;
  /** The price that is in force now. It is undefined for a free model. */
  readonly price: CataloguePrice | undefined;
  readonly marginBasisPoints: number;
  readonly marginMicrosPerCall: number;
}

/** The prices of an entry that can be changed. */
export function sheetsOf(model: CatalogueModel, nowMs: number): readonly Sheet[] {
  const { upstreams = [] } = model;
  const own = sheetOf(model, undefined, statedPrice(model), nowMs);
  const others = upstreams.flatMap((one, at) =>
    one.price === undefined ? [] : [sheetOf(model, at, one.price, nowMs)],
  );
  const isOwnUsed = upstreams.length === 0 || upstreams.some(({ price }) => price === undefined);
  return isOwnUsed ? [own, ...others] : others;
}

function sheetOf(
  model: CatalogueModel,
  upstream: number | undefined,
  stated: CataloguePrice | undefined,
  nowMs: number,
): Sheet {
  const own = upstream === undefined ? undefined : model.upstreams?.[upstream];
  const change = changeInForce((own ?? model).priceChanges, nowMs);
  return {
    upstream,
    price: change?.price ?? stated,
    marginBasisPoints: change?.marginBasisPoints ?? own?.marginBasisPoints ?? model.marginBasisPoints,
    marginMicrosPerCall: change?.marginMicrosPerCall ?? own?.marginMicrosPerCall ?? model.marginMicrosPerCall ?? 0,
  };
}

/** A price as it was typed. */
export interface NewSheet {
  readonly rates: Readonly<Partial<Record<FormRate, number>>>;
  readonly marginBasisPoints: number;
  readonly marginMicrosPerCall: number;
  /** The time from which it holds, in ISO 8601 to the second. It is undefined if it holds at once. */
  readonly from: string | undefined;
}

/** The entry with a new price. What the form does not show of the price stays, and so do prices for later. */
export function withSheet(model: CatalogueModel, sheet: Sheet, typed: NewSheet, nowMs: number): object {
  const { upstream } = sheet;
  if (upstream === undefined) return changed(model, sheet, typed, nowMs);
  const upstreams = (model.upstreams ?? []).map((one, at) =>
    at === upstream ? changed(one, sheet, typed, nowMs) : one,
  );
  return { ...model, upstreams };
}

type Priced = Pick<CatalogueModel, 'priceChanges'>;

function changed(entry: Priced, sheet: Sheet, { rates, from, ...margins }: NewSheet, nowMs: number): object {
  const kept = Object.entries(sheet.price ?? {}).filter(([name]) => !FORM_RATES.some((rate) => rate === name));
  const price = { ...rates, ...Object.fromEntries(kept) };
  const { priceChanges = [], ...rest } = entry;
  if (from !== undefined) return { ...entry, priceChanges: [...priceChanges, { from, price, ...margins }] };
  // A price that was set for later and is in force would count instead of the new one.
  const later = priceChanges.filter((change) => epochMsOf(change.from) > nowMs);
  const { cacheWriteMicrosPerMillion: _old, ...others } = rest as typeof rest & { cacheWriteMicrosPerMillion?: number };
  const { marginMicrosPerCall, marginBasisPoints } = margins;
  return {
    ...others,
    price,
    marginBasisPoints,
    ...(marginMicrosPerCall === 0 && !('marginMicrosPerCall' in rest) ? {} : { marginMicrosPerCall }),
    ...(later.length === 0 ? {} : { priceChanges: later }),
  };
}
