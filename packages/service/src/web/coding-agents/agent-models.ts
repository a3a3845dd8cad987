import { type Catalogue, isAmong } from '#catalogue/catalogue.ts';
import { type Offer, offersTo } from '#catalogue/shown-price.ts';

/** What an agent may call: models that chat. */
export interface AgentModels {
  readonly names: readonly string[];
  /** The one that its lines name. Undefined if there is none. */
  readonly model: string | undefined;
  /** The cheapest, for titles and the like. The same, if none costs less. */
  readonly smallModel: string | undefined;
}

/** A page that lists more would be too heavy for a phone. */
export const NAMES_MAX = 100;

/** `models`: those that the key may call, or null if it may call all of its app. `chosen`: by the reader. */
export function agentModels(
  app: { readonly isFirstParty: boolean },
  catalogue: Pick<Catalogue, 'find' | 'list'>,
  { models, chosen }: { readonly models: readonly string[] | null; readonly chosen: string | undefined },
): AgentModels {
  const offers = offersTo(app, catalogue)
    .filter(({ model }) => model.dimensionsMax === undefined)
    .filter(({ model }) => models === null || isAmong(catalogue, models, model));
  const names = offers.map(({ name }) => name);
  // An alias is a name without a dot in it, and is what an operator means people to write.
  const usual = models?.find((name) => names.includes(name)) ?? names.find((name) => !name.includes('.')) ?? names[0];
  const model = chosen !== undefined && names.includes(chosen) ? chosen : usual;
  const main = offers.find(({ name }) => name === model);
  const [cheapest] = offers.toSorted((one, other) => Number(outputPriceOf(one) - outputPriceOf(other)));
  const isCheaper = main && cheapest && outputPriceOf(cheapest) < outputPriceOf(main);
  return { names: names.slice(0, NAMES_MAX), model, smallModel: isCheaper ? cheapest.name : model };
}

function outputPriceOf({ prices: [usual] }: Offer): bigint {
  return usual.tiers[0]?.output ?? 0n;
}
