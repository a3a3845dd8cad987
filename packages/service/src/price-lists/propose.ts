import { KINDS_WITH_APIS } from '@purser/contract/apis.ts';
import type { Decimal } from '#price-lists/decimal.ts';
import { type Judgement, judge } from '#price-lists/judge.ts';
import { type Aliases, addressOf, findMatch } from '#price-lists/matching.ts';
import type { ListedModel, ListedProvider } from '#price-lists/models-dev.ts';
import { PriceListError } from '#price-lists/price-list-error.ts';
import type { PricedUpstream } from '#price-lists/priced-upstreams.ts';
import type { SecondList } from '#price-lists/second-list.ts';

/** What the lists say about one upstream of the catalogue. */
export interface Proposal {
  readonly upstream: PricedUpstream;
  /**
   * The provider and model of the list. The next field holds those of the second list. Each is undefined if it is not
   * there.
   */
  readonly listed: string | undefined;
  readonly second: string | undefined;
  /** The reason in words why there is no judgement. */
  readonly skipped: string | undefined;
  readonly judgement: Judgement | undefined;
}

interface Lists {
  readonly list: ReadonlyMap<string, ListedProvider>;
  readonly second: SecondList;
}

interface ProposeOptions {
  readonly aliases: Aliases;
  /** How much of the catalogue's currency a US dollar is. */
  readonly exchangeRate: Decimal;
  /** Models of the catalogue whose prices need no second list. */
  readonly unchecked: ReadonlySet<string>;
  /** Only these models are looked up. If it is undefined, all are. */
  readonly only: ReadonlySet<string> | undefined;
}

/** Looks every upstream of a catalogue up in both lists. Throws `PriceListError` for an option that names no model. */
export function proposePrices(
  upstreams: readonly PricedUpstream[],
  lists: Lists,
  options: ProposeOptions,
): readonly Proposal[] {
  const models = new Set(upstreams.map(({ model }) => model));
  for (const name of [...options.unchecked, ...(options.only ?? [])]) {
    if (!models.has(name)) throw new PriceListError(`The catalogue has no model \`${name}\`.`);
  }
  return upstreams
    .filter(({ model }) => options.only?.has(model) !== false)
    .map((upstream) => proposeFor(upstream, lists, options));
}

function proposeFor(upstream: PricedUpstream, { list, second }: Lists, options: ProposeOptions): Proposal {
  const nothing = { upstream, listed: undefined, second: undefined, judgement: undefined };
  if (upstream.isFree) return { ...nothing, skipped: 'it is free in the catalogue' };
  const match = findMatch(upstream, list, options.aliases);
  if (typeof match === 'string') return { ...nothing, skipped: match };
  const { provider, model } = match;
  const listed = provider.find(model);
  if (listed === undefined) return { ...nothing, skipped: 'the list does not have it' };
  const found = second.find({ provider: provider.id, address: addressOf(upstream) ?? provider.api, model });
  const judgement = judge({
    old: upstream.old,
    listed,
    second: found,
    exchangeRate: options.exchangeRate,
    isUnchecked: options.unchecked.has(upstream.model),
  });
  const notes = [...judgement.notes, ...notesOn(upstream, listed)];
  return {
    upstream,
    listed: `${provider.id}/${model}`,
    second: found?.name,
    skipped: undefined,
    judgement: { ...judgement, notes },
  };
}

/** Limits are shown and never taken: a larger one would make every hold of the model larger. */
export function notesOn(
  upstream: Pick<PricedUpstream, 'definition' | 'apis' | 'contextTokens' | 'maxOutputTokens' | 'laterPrices'>,
  listed: Pick<ListedModel, 'contextTokens' | 'outputTokens' | 'isResponsesOnly'>,
): readonly string[] {
  const { apis, contextTokens, maxOutputTokens, laterPrices } = upstream;
  const notes: string[] = [];
  const context = contextOf(upstream.definition.kind, listed);
  if (context !== undefined && context < contextTokens) {
    notes.push(`the list says a context of ${context} tokens, the catalogue ${contextTokens}`);
  }
  if (listed.outputTokens !== undefined && listed.outputTokens < maxOutputTokens) {
    notes.push(`the list says ${listed.outputTokens} tokens of output at most, the catalogue ${maxOutputTokens}`);
  }
  if (listed.isResponsesOnly && KINDS_WITH_APIS.has(upstream.definition.kind) && apis.includes('chat')) {
    notes.push('the list says that it is served by Responses alone: the entry needs `"apis": ["responses"]`');
  }
  if (laterPrices > 0) notes.push('prices that the catalogue has for later stay as they are');
  return notes;
}

/**
 * Returns how many tokens prompt and answer may have together. For Gemini, lists have the limit of the prompt alone, as
 * Google states it.
 */
function contextOf(
  kind: string,
  { contextTokens, outputTokens }: Pick<ListedModel, 'contextTokens' | 'outputTokens'>,
): number | undefined {
  if (contextTokens === undefined || (kind !== 'google' && kind !== 'vertex')) return contextTokens;
  return contextTokens + (outputTokens ?? 0);
}
