/** A price that both lists and the catalogue may have, in each one's spelling. */
interface RateNames {
  readonly field: string;
  /** The name in models.dev's `cost`. */
  readonly listed: string;
  /** The name in genai-prices. */
  readonly second: string;
  readonly words: string;
  /** What such tokens cost if the rate is left out. */
  readonly otherwise?: 'input' | 'output';
}

/** The rates of the catalogue that price lists know. The catalogue's other rates are for a person to set. */
export const RATES = {
  input: { field: 'inputMicrosPerMillion', listed: 'input', second: 'input_mtok', words: 'input' },
  cachedInput: {
    field: 'cachedInputMicrosPerMillion',
    listed: 'cache_read',
    second: 'cache_read_mtok',
    words: 'cached input',
    otherwise: 'input',
  },
  cacheWrite: {
    field: 'cacheWriteMicrosPerMillion',
    listed: 'cache_write',
    second: 'cache_write_mtok',
    words: 'cache write',
    otherwise: 'input',
  },
  output: { field: 'outputMicrosPerMillion', listed: 'output', second: 'output_mtok', words: 'output' },
  reasoning: {
    field: 'reasoningMicrosPerMillion',
    listed: 'reasoning',
    second: 'output_reasoning_mtok',
    words: 'reasoning',
    otherwise: 'output',
  },
  audioInput: {
    field: 'audioInputMicrosPerMillion',
    listed: 'input_audio',
    second: 'input_audio_mtok',
    words: 'audio input',
    otherwise: 'input',
  },
  audioOutput: {
    field: 'audioOutputMicrosPerMillion',
    listed: 'output_audio',
    second: 'output_audio_mtok',
    words: 'audio output',
    otherwise: 'output',
  },
} as const satisfies Readonly<Record<string, RateNames>>;

export type RateName = keyof typeof RATES;
export const RATE_NAMES = Object.keys(RATES) as readonly RateName[];

/** What such tokens cost if a rate is left out. Undefined for the two that every price has. */
export function otherwiseOf(name: RateName): 'input' | 'output' | undefined {
  const names: RateNames = RATES[name];
  return names.otherwise;
}

/** Micros for a million tokens. A rate that is left out costs as much as input or output. */
export type Rates = Readonly<Partial<Record<RateName, bigint>>>;

/** The rates of prompts above a number of tokens. 0 for those that hold from the first token. */
export interface Tier {
  readonly aboveInputTokens: number;
  readonly rates: Rates;
}

/** What a model costs. The tiers are in ascending order, and the first is the one above 0. */
export type RateCard = readonly [Tier, ...Tier[]];

/** The rates that hold for prompts of more than so many tokens. */
export function ratesAbove(card: RateCard, inputTokens: number): Rates {
  return (card.findLast(({ aboveInputTokens }) => aboveInputTokens <= inputTokens) ?? card[0]).rates;
}

/** What tokens cost, with the rate that applies in place of one that is left out. */
export function effective(rates: Rates, name: RateName): bigint | undefined {
  const otherwise = otherwiseOf(name);
  return rates[name] ?? (otherwise === undefined ? undefined : rates[otherwise]);
}
