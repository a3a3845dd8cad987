import { CatalogueFileError } from '#catalogue/catalogue-fault.ts';
import { epochMsOf } from '#kernel/time/clock.ts';
import { readDecimal } from '#price-lists/decimal.ts';
import { readModelsDev } from '#price-lists/models-dev.ts';
import { PriceListError } from '#price-lists/price-list-error.ts';
import { readUpstreams, withPrices } from '#price-lists/priced-upstreams.ts';
import { type Proposal, proposePrices } from '#price-lists/propose.ts';
import { reportOf } from '#price-lists/report.ts';
import { loadSecondList } from '#price-lists/second-list.ts';

/** A price list as a person has sent it, and the catalogue that it is compared with. */
export interface ListComparison {
  readonly catalogue: string;
  /** The list, which is the `api.json` of models.dev. */
  readonly list: string;
  /** How much of the catalogue's currency a US dollar is, such as `0.92`. */
  readonly dollar: string;
  /** When the new prices come into force. If it is undefined, they are in force at once. */
  readonly from: string | undefined;
  /** Models whose prices the second list need not confirm. */
  readonly unchecked: readonly string[];
  readonly nowMs: number;
}

/** What the lists say. `catalogue`: with the new prices; undefined if there are none. */
export interface ComparedList {
  readonly catalogue: string | undefined;
  readonly report: string;
}

/** Why a list cannot be used, for the person who sent it. */
export interface ComparisonFault {
  readonly fault: string;
}

/** Compares a catalogue with a price list and the second list, as `purser catalogue prices` does (MO-10). It changes nothing. */
export async function compareWithLists(options: ListComparison): Promise<ComparedList | ComparisonFault> {
  const { catalogue, from, unchecked, nowMs } = options;
  const exchangeRate = readDecimal(options.dollar);
  if (exchangeRate === undefined || exchangeRate.digits <= 0n)
    return { fault: 'The rate of the dollar must be a number above 0.' };
  if (from !== undefined && !(epochMsOf(from) > nowMs))
    return { fault: 'The new prices must begin in the future, or at once.' };
  try {
    const upstreams = readUpstreams(catalogue, nowMs);
    const list = readModelsDev(options.list);
    const second = await loadSecondList(nowMs);
    const asked = { aliases: new Map(), exchangeRate, unchecked: new Set(unchecked), only: undefined };
    const proposals = proposePrices(upstreams, { list, second }, asked);
    return { catalogue: written(catalogue, proposals, from), report: reportOf(proposals) };
  } catch (fault) {
    if (fault instanceof PriceListError || fault instanceof CatalogueFileError) return { fault: fault.message };
    throw fault;
  }
}

/** The catalogue with every price that was not refused. */
function written(catalogue: string, proposals: readonly Proposal[], from: string | undefined): string | undefined {
  const prices = proposals.flatMap(({ upstream, judgement }) =>
    judgement?.verdict === 'change' && judgement.card !== undefined ? [{ upstream, card: judgement.card }] : [],
  );
  return prices.length === 0 ? undefined : withPrices(catalogue, prices, from);
}
