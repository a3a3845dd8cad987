/**
 * What the Claude models take of a request. `@ai-sdk/anthropic` has the same table, but leaves out silently what a model does not take,
 * and is not loaded when a request is checked. `claude.test.ts` holds the two against each other.
 */
export interface Claude {
  /** Takes `temperature` and `top_p`. Newer models answer 400. */
  readonly hasSampling: boolean;
  /** Takes a JSON schema for the answer and strict tools. */
  readonly hasSchema: boolean;
  /** How thinking is asked for: by an effort, by a budget of tokens, or not at all. */
  readonly thinking: 'effort' | 'budget' | 'none';
  readonly hasXhigh: boolean;
  readonly canStopThinking: boolean;
  readonly takesForcedTools: boolean;
}

const MODERN: Claude = {
  hasSampling: false,
  hasSchema: true,
  thinking: 'effort',
  hasXhigh: true,
  canStopThinking: true,
  takesForcedTools: true,
};
const ALWAYS_THINKING: Claude = { ...MODERN, canStopThinking: false };
const UNFORCED: Claude = { ...ALWAYS_THINKING, takesForcedTools: false };
const FIRST_EFFORT: Claude = { ...MODERN, hasSampling: true, hasXhigh: false };
const BUDGET: Claude = { ...FIRST_EFFORT, thinking: 'budget' };
const BUDGET_WITHOUT_SCHEMA: Claude = { ...BUDGET, hasSchema: false };
const PLAIN: Claude = { ...BUDGET_WITHOUT_SCHEMA, thinking: 'none' };

/** The first row that fits counts. */
const FAMILIES: readonly (readonly [pattern: RegExp, claude: Claude])[] = [
  [/claude-(sonnet|opus)-5-5/, UNFORCED],
  [/claude-haiku-5-5/, MODERN],
  [/claude-opus-5/, MODERN],
  [/claude-fable-5-1/, UNFORCED],
  [/claude-fable-5/, ALWAYS_THINKING],
  [/claude-(opus-4-[78]|sonnet-5)/, MODERN],
  [/claude-(sonnet|opus)-4-6/, FIRST_EFFORT],
  [/claude-((sonnet|opus|haiku)-4-5|opus-4-1)/, BUDGET],
  [/claude-(sonnet|opus)-4[-@]/, BUDGET_WITHOUT_SCHEMA],
  [/claude-(instant(-|$)|v?2(?=$|[-.:])|3(?=$|[-.]))/, PLAIN],
  // Newer than this table: most likely like the newest.
  [/claude-/, MODERN],
];

/** More names than the entries of a catalogue have. */
const KNOWN_MAX = 1_000;
/** What was found for a name: it is looked up several times for each call. */
const known = new Map<string, Claude | undefined>();

/** Returns undefined for a model that is no Claude, such as one behind a server that speaks Anthropic's format. */
export function claudeOf(providerModel: string): Claude | undefined {
  if (known.has(providerModel)) return known.get(providerModel);
  if (known.size >= KNOWN_MAX) known.clear();
  const claude = FAMILIES.find(([pattern]) => pattern.test(providerModel))?.[1];
  known.set(providerModel, claude);
  return claude;
}

const BUDGET_MIN = 1_024;
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.9,
  max: 0.95,
};

/**
 * The tokens of the output limit that a model may think with, for models that take a budget. Undefined if the limit is too small
 * for the smallest budget and an answer: then the model answers without thinking.
 */
export function budgetOf(effort: string, outputTokens: number): number | undefined {
  if (outputTokens < 2 * BUDGET_MIN) return undefined;
  const share = Math.floor(outputTokens * (SHARES[effort] ?? 0));
  return Math.min(Math.max(BUDGET_MIN, share), outputTokens - 1);
}
