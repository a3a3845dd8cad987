import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { type Decimal, inUnits, NumberText, parseLossless, readDecimal, wholeMicros } from '#price-lists/decimal.ts';
import { PriceListError } from '#price-lists/price-list-error.ts';
import { RATE_NAMES, type RateCard, RATES, type RateName, type Rates, type Tier } from '#price-lists/rate-card.ts';

/** A provider of models.dev's list. */
export interface ListedProvider {
  readonly id: string;
  /** The base address of its service. The list has none for vendors that have a library of their own. */
  readonly api: string | undefined;
  /** Reads the entry of a model by the provider's own name of it. */
  readonly find: (model: string) => ListedModel | undefined;
}

export interface ListedModel {
  /** The rate card. It is undefined if the entry has faults. */
  readonly card: RateCard | undefined;
  /** Why the price cannot be used. */
  readonly faults: readonly string[];
  /** What else a person should know. */
  readonly notes: readonly string[];
  readonly contextTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** The vendor serves it by Responses alone. */
  readonly isResponsesOnly: boolean;
}

/** No vendor asks more for a million tokens than 10,000 dollars, or less than a hundredth of a cent. */
const USD_MICROS_MAX = 10_000_000_000n;
const USD_MICROS_MIN = 100n;
/** The old field for long prompts, which says no threshold of its own. The real one may be higher, and never is lower. */
const LONG_PROMPT = 'context_over_200k';
const LONG_PROMPT_TOKENS = 200_000;
const NOT_RATES = new Set(['tiers', 'tier', LONG_PROMPT]);

/**
 * Reads models.dev's `api.json`: US dollars for a million tokens. Throws `PriceListError` if the text is no such list. The
 * entries are read when they are looked up, so that a fault in one model of thousands concerns nobody who does not use it.
 */
export function readModelsDev(text: string): ReadonlyMap<string, ListedProvider> {
  let list: unknown;
  try {
    list = parseLossless(text);
  } catch {
    throw new PriceListError('The price list is not valid JSON.');
  }
  const providers = new Map<string, ListedProvider>();
  for (const [id, entry] of Object.entries(isJsonObject(list) ? list : {})) {
    const models = isJsonObject(entry) ? entry['models'] : undefined;
    if (!isJsonObject(entry) || !isJsonObject(models)) continue;
    const { api } = entry;
    providers.set(id, {
      id,
      api: typeof api === 'string' ? api : undefined,
      find: (model) => {
        const found = Object.hasOwn(models, model) ? models[model] : undefined;
        return isJsonObject(found) ? readModel(found) : undefined;
      },
    });
  }
  if (providers.size === 0) {
    throw new PriceListError(
      'The price list has no providers with models. It must look like https://models.dev/api.json.',
    );
  }
  return providers;
}

function readModel(entry: JsonObject): ListedModel {
  const faults: string[] = [];
  const notes: string[] = [];
  const { cost, limit, status } = entry;
  const card = isJsonObject(cost) ? readCard(cost, { faults, notes }) : undefined;
  if (!isJsonObject(cost)) faults.push('the list has no price for it');
  if (status === 'deprecated') notes.push('the list calls this model deprecated');
  const limits = isJsonObject(limit) ? limit : {};
  return {
    card: faults.length === 0 ? card : undefined,
    faults,
    notes: [...new Set(notes)],
    contextTokens: tokensOf(limits['context']),
    outputTokens: tokensOf(limits['output']),
    isResponsesOnly: isResponsesOnly(entry),
  };
}

/** In the words of models.dev, or of LiteLLM's list, from which others are made. */
function isResponsesOnly({ provider, mode, supported_endpoints: endpoints }: JsonObject): boolean {
  if (isJsonObject(provider) && provider['shape'] === 'responses') return true;
  if (!Array.isArray(endpoints)) return mode === 'responses';
  return endpoints.includes('/v1/responses') && !endpoints.includes('/v1/chat/completions');
}

interface Findings {
  readonly faults: string[];
  readonly notes: string[];
}

function readCard(cost: JsonObject, findings: Findings): RateCard {
  const base: Tier = { aboveInputTokens: 0, rates: readRates(cost, '', findings) };
  const tiers = readTiers(cost, findings).toSorted((left, right) => left.aboveInputTokens - right.aboveInputTokens);
  const thresholds = new Set(tiers.map(({ aboveInputTokens }) => aboveInputTokens));
  if (thresholds.size < tiers.length) findings.faults.push('two tiers begin at the same length');
  return [base, ...tiers];
}

function readTiers(cost: JsonObject, findings: Findings): readonly Tier[] {
  const { tiers, [LONG_PROMPT]: long } = cost;
  if (tiers === undefined) {
    if (long === undefined) return [];
    if (!isJsonObject(long)) {
      findings.faults.push(`\`${LONG_PROMPT}\` is not an object`);
      return [];
    }
    return [tierOf(long, LONG_PROMPT_TOKENS, findings)];
  }
  if (!Array.isArray(tiers)) {
    findings.faults.push('`tiers` is not a list');
    return [];
  }
  return tiers.flatMap((tier: unknown) => {
    const at = isJsonObject(tier) && isJsonObject(tier['tier']) ? tier['tier'] : {};
    const size = tokensOf(at['size']);
    if (isJsonObject(tier) && at['type'] === 'context' && size !== undefined) return [tierOf(tier, size, findings)];
    findings.faults.push('it has a tier that is not one of context length');
    return [];
  });
}

function tierOf(cost: JsonObject, aboveInputTokens: number, findings: Findings): Tier {
  return { aboveInputTokens, rates: readRates(cost, ` above ${aboveInputTokens} tokens`, findings) };
}

function readRates(cost: JsonObject, where: string, { faults, notes }: Findings): Rates {
  const rates: Partial<Record<RateName, bigint>> = {};
  const known = new Map<string, RateName>(RATE_NAMES.map((name) => [RATES[name].listed, name]));
  for (const [key, value] of Object.entries(cost)) {
    const name = known.get(key);
    if (name === undefined) {
      if (!NOT_RATES.has(key)) notes.push(`the list also prices \`${key}\`, which is not imported`);
      continue;
    }
    const words = `${RATES[name].words}${where}`;
    const amount = readAmount(value);
    if (typeof amount === 'string') faults.push(`${words} ${amount}`);
    else if (amount > 0n) rates[name] = amount;
    else if (name === 'input' || name === 'output') {
      faults.push(`${words} is 0; if the model costs nothing, say \`"free": true\` in the catalogue`);
    } else notes.push(`${words} is 0 in the list and is not taken, because a zero often stands for an unknown price`);
  }
  for (const name of ['input', 'output'] as const) {
    if (!(RATES[name].listed in cost)) faults.push(`${RATES[name].words}${where} is missing`);
  }
  return rates;
}

/** Reads dollars as micros of them, or says what is wrong with the number. 0 is returned as it is. */
function readAmount(value: unknown): bigint | string {
  const decimal: Decimal | undefined = value instanceof NumberText ? readDecimal(value.text) : undefined;
  if (decimal === undefined || !(value instanceof NumberText)) return 'is not a number';
  if (decimal.digits < 0n) return `is negative (${value.text})`;
  const amount = wholeMicros(decimal);
  if (amount === undefined) return `is ${value.text}, which is not a whole number of micros`;
  if (amount > USD_MICROS_MAX) return `is ${value.text} dollars for a million tokens, which looks like another unit`;
  if (amount > 0n && amount < USD_MICROS_MIN)
    return `is only ${inUnits(amount)} dollars for a million tokens, which looks like another unit`;
  return amount;
}

function tokensOf(value: unknown): number | undefined {
  const number = value instanceof NumberText ? Number(value.text) : Number.NaN;
  return Number.isSafeInteger(number) && number > 0 ? number : undefined;
}
