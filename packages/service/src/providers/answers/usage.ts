import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { sumOfChoices } from '#providers/answers/usages-of-choices.ts';
import { TOKEN_COUNTS, TOKENS_MAX, type TokenCounts, type UsageReport } from '#providers/port/completion.ts';

type Path = readonly string[];

/**
 * Where each count may be in a `usage` field. If several places have one, the largest counts: a server in between fills the places of
 * the format with zeros and leaves the vendor's own as they were. A new kind of token is a line here and one in `TOKEN_COUNTS`.
 */
const PATHS: Readonly<Record<keyof TokenCounts, readonly Path[]>> = {
  prompt: [['prompt_tokens'], ['input_tokens']],
  cached: [
    ['prompt_tokens_details', 'cached_tokens'],
    ['cached_tokens'], // Moonshot, StepFun
    ['cache_read_input_tokens'], // Anthropic
    ['prompt_cache_hit_tokens'], // DeepSeek
    ['num_cached_tokens'], // Mistral, the same in the next place
    ['prompt_token_details', 'cached_tokens'],
  ],
  // The format has no place for writes to a cache.
  cacheWrite: [
    ['prompt_tokens_details', 'cache_write_tokens'], // OpenRouter
    ['prompt_tokens_details', 'cache_creation_tokens'], // LiteLLM
    ['prompt_tokens_details', 'cache_creation_input_tokens'], // Qwen
    ['cache_creation_input_tokens'], // Anthropic
  ],
  cacheWriteLong: [
    ['cache_creation', 'ephemeral_1h_input_tokens'], // Anthropic
    ['prompt_tokens_details', 'cache_creation_token_details', 'ephemeral_1h_input_tokens'], // LiteLLM
  ],
  audioInput: [['prompt_tokens_details', 'audio_tokens']],
  imageInput: [['prompt_tokens_details', 'image_tokens']],
  completion: [['completion_tokens'], ['output_tokens']],
  reasoning: [
    ['completion_tokens_details', 'reasoning_tokens'],
    ['reasoning_tokens'], // Perplexity
  ],
  audioOutput: [['completion_tokens_details', 'audio_tokens']],
  imageOutput: [['completion_tokens_details', 'image_tokens']],
  total: [['total_tokens']],
  searches: [
    ['num_search_queries'], // Perplexity
    ['server_tool_use', 'web_search_requests'], // Anthropic
  ],
};

/** What Responses calls the places of chat completions. */
const IN_RESPONSES: ReadonlyMap<string, string> = new Map([
  ['prompt_tokens_details', 'input_tokens_details'],
  ['completion_tokens_details', 'output_tokens_details'],
]);

/** The same as a tree, so that reading a report takes one look at each of its fields. */
interface Place {
  count?: keyof TokenCounts;
  readonly parts: Map<string, Place>;
}

const PLACES = placesOf();

function placesOf(): Place {
  const root: Place = { parts: new Map() };
  for (const name of TOKEN_COUNTS) {
    for (const path of PATHS[name].flatMap((one) => [one, one.map((step) => IN_RESPONSES.get(step) ?? step)])) {
      let place = root;
      for (const step of path) {
        const next = place.parts.get(step) ?? { parts: new Map() };
        place.parts.set(step, next);
        place = next;
      }
      place.count = name;
    }
  }
  return root;
}

/** Counts that are the sum of others, for vendors that leave the sum out. */
const DEEPSEEK_PROMPT: readonly Path[] = [['prompt_cache_hit_tokens'], ['prompt_cache_miss_tokens']];
/** In Anthropic's own format, the prompt is without what was read from the cache and written to it. */
const ANTHROPIC_PROMPT: readonly Path[] = [
  ['input_tokens'],
  ['cache_read_input_tokens'],
  ['cache_creation_input_tokens'],
];

/** The usage that an answer or a chunk reports, wherever it has it. Undefined if it has none. */
export function reportIn(answer: JsonObject): UsageReport | undefined {
  const { usage, choices, x_groq: groq, timings } = answer;
  return (
    usageReportOf(usage) ??
    usageOfChoices(choices) ?? // Moonshot, in streams
    usageReportOf(isJsonObject(groq) ? groq['usage'] : undefined) ??
    usageReportOf(usageOfTimings(timings))
  );
}

function hasUsage(choice: unknown): choice is JsonObject {
  return isJsonObject(choice) && isJsonObject(choice['usage']);
}

function usageOfChoices(choices: unknown): UsageReport | undefined {
  if (!Array.isArray(choices) || !choices.some(hasUsage)) return undefined;
  return sumOfChoices(choices.filter(hasUsage).flatMap(({ usage }) => usageReportOf(usage) ?? []));
}

/**
 * Returns usage from the times that llama.cpp measures for each call, because its older versions report no usage in
 * streams.
 */
function usageOfTimings(timings: unknown): JsonObject | undefined {
  if (!isJsonObject(timings)) return undefined;
  const { prompt_n: fresh, cache_n: cached, predicted_n: completion } = timings;
  // Without `cache_n`, nothing says how much of the prompt was in the cache and so is not in `prompt_n`.
  if (typeof fresh !== 'number' || typeof cached !== 'number' || typeof completion !== 'number') return undefined;
  return {
    prompt_tokens: fresh + cached,
    completion_tokens: completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}

/** Reads a `usage` field. Undefined if it is no object: then the provider reported nothing. */
export function usageReportOf(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const counts: Counts = {};
  const isContradictory = readInto(counts, usage, PLACES);
  // A server in between may fill the place of the format with zero or null.
  if ((countOf(usage['prompt_tokens']) ?? 0) === 0) counts.prompt = sumAt(usage, ANTHROPIC_PROMPT) ?? counts.prompt;
  counts.prompt ??= sumAt(usage, DEEPSEEK_PROMPT);
  // All places of `cacheWrite` have the sum of both lifetimes.
  const { cacheWrite, cacheWriteLong } = counts;
  if (cacheWrite !== undefined && cacheWriteLong !== undefined)
    counts.cacheWrite = Math.max(0, cacheWrite - cacheWriteLong);
  return { counts, extra: usage, isContradictory };
}

type Counts = { -readonly [Name in keyof TokenCounts]: TokenCounts[Name] };

/** Reads the counts of an object. Returns whether one of them is no number of tokens. */
function readInto(counts: Counts, object: JsonObject, { parts }: Place): boolean {
  let isContradictory = false;
  for (const field of Object.keys(object)) {
    const place = parts.get(field);
    const value = object[field];
    if (place === undefined || value === undefined || value === null) continue;
    if (place.count === undefined) {
      if (isJsonObject(value) && readInto(counts, value, place)) isContradictory = true;
      continue;
    }
    const count = countOf(value);
    if (count !== value) isContradictory = true;
    if (count !== undefined) counts[place.count] = Math.max(counts[place.count] ?? 0, count);
  }
  return isContradictory;
}

/** The sum of the counts at these places; undefined if the first one has none. */
function sumAt(usage: JsonObject, paths: readonly Path[]): number | undefined {
  const counts = paths.map((path) => countOf(valueAt(usage, path)));
  if (counts[0] === undefined) return undefined;
  return Math.min(
    counts.reduce<number>((sum, count) => sum + (count ?? 0), 0),
    TOKENS_MAX,
  );
}

function valueAt(usage: JsonObject, path: Path): unknown {
  let value: unknown = usage;
  for (const name of path) value = isJsonObject(value) ? value[name] : undefined;
  return value;
}

/** The nearest count of tokens to a number; undefined for anything else. */
function countOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
  return Math.min(Math.max(0, Math.ceil(value)), TOKENS_MAX);
}
