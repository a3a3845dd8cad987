import { isDeepStrictEqual } from 'node:util';
import { type CatalogueFile, type CatalogueModel, statedPrice } from '@purser/contract/catalogue.ts';
import { CatalogueFileError } from '#catalogue/catalogue-fault.ts';
import { changeInForce, isSamePrice } from '#catalogue/price-row.ts';
import { epochMsOf } from '#kernel/time/clock.ts';

/** Refuses prices that nobody writes on purpose. Throws `CatalogueFileError`. */
export function refuseUnwantedPrices(before: CatalogueFile, file: CatalogueFile, nowMs: number): void {
  refusePastChanges(before, file, nowMs);
  refuseIdlePrices(before, file, nowMs);
}

/**
 * Refuses a new price whose time has passed already: it would come into force at once, and nobody writes that on purpose. A
 * price that is stored may stay after its time has come.
 */
function refusePastChanges(before: CatalogueFile, file: CatalogueFile, nowMs: number): void {
  const known = new Set(changesIn(before).map(({ name }) => name));
  const past = changesIn(file).find(({ name, from }) => epochMsOf(from) <= nowMs && !known.has(name));
  if (past === undefined) return;
  throw faultAt(past.path, `${past.from} has passed. Write a price that is in force into \`price\``);
}

function faultAt(path: readonly PropertyKey[], message: string): CatalogueFileError {
  return new CatalogueFileError(`The catalogue has faults:\n  ${path.join('.')}: ${message}.`, [{ path, message }]);
}

/**
 * Refuses a new `price` that no call would be charged by, because a price that was set for later has come into force. Without this,
 * calls would go on at the old price, and nobody would notice.
 */
function refuseIdlePrices(before: CatalogueFile, { models }: CatalogueFile, nowMs: number): void {
  const known = new Map(before.models.flatMap((model) => sheetsOf(model).map((sheet) => [sheet.name, sheet])));
  for (const [index, model] of models.entries()) {
    for (const { name, price, priceChanges, path } of sheetsOf(model)) {
      const old = known.get(name);
      const current = changeInForce(priceChanges, nowMs);
      if (old === undefined || current === undefined || price === undefined) continue;
      if (isDeepStrictEqual(price, old.price) || isSamePrice(price, current.price)) continue;
      throw faultAt(
        ['models', index, ...path, 'price'],
        `would not be in force: the price of ${current.from} is. Remove that one from \`priceChanges\` as well`,
      );
    }
  }
}

/** A model's own price and those of its upstreams, each with its changes and a name that it keeps wherever it is in the file. */
function sheetsOf(model: CatalogueModel) {
  const own = { name: model.id, price: statedPrice(model), priceChanges: model.priceChanges, path: [] };
  const others = (model.upstreams ?? []).map(({ provider, providerModel, price, priceChanges }, place) => ({
    name: JSON.stringify([model.id, provider, providerModel]),
    price,
    priceChanges,
    path: ['upstreams', place],
  }));
  return [own, ...others];
}

/** Every price that is set for later, with a name that it keeps wherever it is in the file. */
function changesIn({ models }: CatalogueFile) {
  return models.flatMap((model, index) => [
    ...(model.priceChanges ?? []).map(({ from }, change) => ({
      from,
      name: JSON.stringify([model.id, from]),
      path: ['models', index, 'priceChanges', change, 'from'],
    })),
    ...(model.upstreams ?? []).flatMap(({ provider, providerModel, priceChanges = [] }, place) =>
      priceChanges.map(({ from }, change) => ({
        from,
        name: JSON.stringify([model.id, from, provider, providerModel]),
        path: ['models', index, 'upstreams', place, 'priceChanges', change, 'from'],
      })),
    ),
  ]);
}
