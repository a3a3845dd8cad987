import { converted, type Decimal, inUnits } from '#price-lists/decimal.ts';
import type { ListedModel } from '#price-lists/models-dev.ts';
import {
  effective,
  otherwiseOf,
  RATE_NAMES,
  type RateCard,
  RATES,
  type RateName,
  type Rates,
  ratesAbove,
  type Tier,
} from '#price-lists/rate-card.ts';
import type { SecondPrice } from '#price-lists/second-list.ts';

/** The hundredths by which the two lists may differ, because some lists round. */
const TOLERANCE_PERCENT = 1n;
/** Prices change by less. Lists that confuse units differ by 100, 1,000 or 1,000,000. */
const JUMP = 50n;

/** What the catalogue says today, in its own currency. */
export interface OldPrice {
  /** The rate card. It is undefined for a model that has no price yet. */
  readonly card: RateCard | undefined;
  /** Rates for a million tokens that no list has, such as those of images. */
  readonly others: readonly string[];
}

export interface Evidence {
  readonly old: OldPrice;
  readonly listed: ListedModel;
  /** The price in the second list. It is undefined if that list does not know the model. */
  readonly second: SecondPrice | undefined;
  /** How much of the catalogue's currency a US dollar is. */
  readonly exchangeRate: Decimal;
  /** Tells whether a person has said that this price need not be confirmed by the second list. */
  readonly isUnchecked: boolean;
}

/** One line of a diff, in the catalogue's currency. */
export interface Row {
  readonly words: string;
  readonly old: bigint | undefined;
  readonly listed: bigint | undefined;
  readonly second: bigint | undefined;
  /** What the price would be. It differs from the list's if that is not taken. */
  readonly next: bigint | undefined;
}

export interface Judgement {
  readonly verdict: 'same' | 'change' | 'refused';
  /** The new price in the catalogue's currency. Undefined if it is refused. */
  readonly card: RateCard | undefined;
  readonly rows: readonly Row[];
  readonly faults: readonly string[];
  readonly notes: readonly string[];
}

/** Decides whether a listed price may replace the catalogue's. It applies nothing (MO-10). */
export function judge(evidence: Evidence): Judgement {
  const { old, listed, second, isUnchecked, exchangeRate } = evidence;
  const faults = [...listed.faults];
  const notes = [...listed.notes];
  if (listed.card === undefined) return { verdict: 'refused', card: undefined, rows: [], faults, notes };
  const left = new Set<RateName>();
  if (!isUnchecked) compare(listed.card, second, { faults, notes, left });
  if (second !== undefined && second.others.length > 0) {
    notes.push(`the second list has prices that are not imported (dollars): ${second.others.join(', ')}`);
  }
  const inCurrency = listed.card.map(({ aboveInputTokens, rates }) => ({
    aboveInputTokens,
    rates: mapRates(rates, (amount) => converted(amount, exchangeRate)),
  })) as unknown as RateCard;
  const card = nextCard(old, inCurrency, { faults, notes, left });
  findJumps(old.card, card, faults);
  const rows = rowsOf({ old: old.card, listed: inCurrency, second: second?.card, next: card }, exchangeRate);
  if (faults.length > 0) return { verdict: 'refused', card: undefined, rows, faults, notes };
  return { verdict: isSame(old.card, card) ? 'same' : 'change', card, rows, faults, notes };
}

interface Findings {
  readonly faults: string[];
  readonly notes: string[];
  /** The optional rates that are not taken from the list. */
  readonly left: Set<RateName>;
}

/** Compares the lists at every length of a prompt at which either changes its price. */
function compare(card: RateCard, second: SecondPrice | undefined, findings: Findings): void {
  if (second === undefined) {
    findings.faults.push('the second list does not know this model, so the price is not confirmed');
    return;
  }
  const lengths = new Set([...card, ...second.card].map(({ aboveInputTokens }) => aboveInputTokens));
  for (const length of [...lengths].toSorted((one, other) => one - other)) {
    const where = length === 0 ? '' : ` above ${length} tokens`;
    const pair = { first: ratesAbove(card, length), second: ratesAbove(second.card, length) };
    for (const name of RATE_NAMES) compareRate(name, where, pair, findings);
  }
}

function compareRate(
  name: RateName,
  where: string,
  { first, second }: { readonly first: Rates; readonly second: Rates },
  { faults, notes, left }: Findings,
): void {
  const [stated, confirmed] = [first[name], second[name]];
  if (stated === undefined && confirmed === undefined) return;
  const words = `${RATES[name].words}${where}`;
  const [one, other] = [effective(first, name), effective(second, name)];
  if (one === undefined || other === undefined) {
    faults.push(`${words} is not in the second list, so the price is not confirmed`);
    return;
  }
  if (isClose(one, other)) return;
  const amounts = `the list says ${inUnits(one)} dollars, the second list ${inUnits(other)}`;
  if (stated !== undefined && confirmed !== undefined) {
    faults.push(`${words}: ${amounts}${isJump(one, other) ? ', which looks like another unit' : ''}`);
  } else if (stated === undefined) {
    // Without a rate of its own, such a token would cost as much as any other: too little if the second list is right.
    if (other > one) faults.push(`${words} is not in the list, and the second list has ${inUnits(other)} dollars`);
    else notes.push(`${words} is ${inUnits(other)} dollars in the second list alone, and is not taken`);
  } else if (one > other) {
    faults.push(`${words} is not in the second list, so ${inUnits(one)} dollars is not confirmed`);
  } else {
    left.add(name);
    notes.push(`${words} is not in the second list, so ${inUnits(one)} dollars is not taken`);
  }
}

/** Joins the list's price with what only the catalogue has. */
function nextCard(old: OldPrice, listed: RateCard, { faults, notes, left }: Findings): RateCard {
  const before = old.card?.[0].rates ?? {};
  const base: Partial<Record<RateName, bigint>> = { ...listed[0].rates };
  for (const name of RATE_NAMES) {
    if (left.has(name)) delete base[name];
    const kept = before[name];
    const otherwise = otherwiseOf(name);
    if (base[name] !== undefined || kept === undefined || otherwise === undefined) continue;
    if (kept === before[otherwise]) continue; // It only repeats what applies without it.
    base[name] = kept;
    notes.push(`${RATES[name].words} stays as it is`);
  }
  const [, ...listedTiers] = listed;
  const [, ...oldTiers] = old.card ?? [];
  if (listedTiers.length === 0 && oldTiers.length > 0)
    notes.push('the list has no tiers, so those of the catalogue stay');
  const known = new Set(oldTiers.map(({ aboveInputTokens }) => aboveInputTokens));
  if (old.others.length > 0 && listedTiers.some(({ aboveInputTokens }) => !known.has(aboveInputTokens))) {
    faults.push(
      `the list has a tier that the catalogue lacks, and no ${old.others.join(', ')} for it: add the tier by hand`,
    );
  }
  const tiers = listedTiers.length === 0 ? oldTiers : listedTiers;
  return [{ aboveInputTokens: 0, rates: base }, ...tiers.map((tier) => completed(tier, base))];
}

/** A tier must name each rate that the price names. One that it lacks costs as much as input or output in that tier. */
function completed({ aboveInputTokens, rates }: Tier, base: Rates): Tier {
  const all = RATE_NAMES.flatMap((name) => {
    const amount = effective(rates, name);
    return base[name] === undefined || amount === undefined ? [] : [[name, amount] as const];
  });
  return { aboveInputTokens, rates: Object.fromEntries(all) };
}

function findJumps(old: RateCard | undefined, next: RateCard, faults: string[]): void {
  if (old === undefined) return;
  for (const { aboveInputTokens, rates } of next) {
    const before = ratesAbove(old, aboveInputTokens);
    for (const name of RATE_NAMES) {
      const [was, is] = [before[name], rates[name]];
      if (was === undefined || is === undefined || was === 0n || !isJump(was, is)) continue;
      const where = aboveInputTokens === 0 ? '' : ` above ${aboveInputTokens} tokens`;
      faults.push(
        `${RATES[name].words}${where} would jump from ${inUnits(was)} to ${inUnits(is)}, as if the unit had changed`,
      );
    }
  }
}

/** Returns true if every token costs the same, even if one of the two spells out what the other leaves out. */
function isSame(old: RateCard | undefined, next: RateCard): boolean {
  return (
    old?.length === next.length &&
    next.every(({ aboveInputTokens, rates }, place) => {
      const before = old[place];
      return (
        before?.aboveInputTokens === aboveInputTokens &&
        RATE_NAMES.every((name) => effective(before.rates, name) === effective(rates, name))
      );
    })
  );
}

interface Cards {
  readonly old: RateCard | undefined;
  readonly listed: RateCard;
  /** The rate card of the second list in dollars. */
  readonly second: RateCard | undefined;
  readonly next: RateCard;
}

function rowsOf({ old, listed, second, next }: Cards, exchangeRate: Decimal): readonly Row[] {
  const lengths = new Set([...(old ?? []), ...listed, ...next].map(({ aboveInputTokens }) => aboveInputTokens));
  return [...lengths]
    .toSorted((one, other) => one - other)
    .flatMap((length) => {
      const where = length === 0 ? '' : ` above ${length}`;
      const [was, said, is] = [old, listed, next].map(
        (card) => card?.find((tier) => tier.aboveInputTokens === length)?.rates ?? {},
      );
      const confirmed = second === undefined ? {} : ratesAbove(second, length);
      return RATE_NAMES.flatMap((name): Row[] => {
        if (was?.[name] === undefined && said?.[name] === undefined && is?.[name] === undefined) return [];
        const other = confirmed[name];
        return [
          {
            words: `${RATES[name].words}${where}`,
            old: was?.[name],
            listed: said?.[name],
            second: other === undefined ? undefined : converted(other, exchangeRate),
            next: is?.[name],
          },
        ];
      });
    });
}

function mapRates(rates: Rates, change: (amount: bigint) => bigint): Rates {
  return Object.fromEntries(Object.entries(rates).map(([name, amount]) => [name, change(amount)]));
}

function isClose(one: bigint, other: bigint): boolean {
  const [less, more] = one < other ? [one, other] : [other, one];
  return (more - less) * 100n <= more * TOLERANCE_PERCENT;
}

function isJump(one: bigint, other: bigint): boolean {
  const [less, more] = one < other ? [one, other] : [other, one];
  return more >= less * JUMP;
}
