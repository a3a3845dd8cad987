import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { TOKEN_COUNTS, TOKENS_MAX, type TokenCounts, type UsageReport } from '#providers/completion.ts';

type Path = readonly [field: string, part?: string];

/**
 * Where each count may be in a `usage` field: the first place that has one counts. The format has no place for writes to a
 * cache: OpenRouter, LiteLLM and Anthropic have one each. A new kind of token is a line here and one in `TOKEN_COUNTS`.
 */
const PATHS: Readonly<Record<keyof TokenCounts, readonly Path[]>> = {
  prompt: [['prompt_tokens']],
  cached: [['prompt_tokens_details', 'cached_tokens'], ['cache_read_input_tokens'], ['prompt_cache_hit_tokens']],
  cacheWrite: [
    // Anthropic's sum has both lifetimes in it, so its part counts if there is one.
    ['cache_creation', 'ephemeral_5m_input_tokens'],
    ['prompt_tokens_details', 'cache_write_tokens'],
    ['prompt_tokens_details', 'cache_creation_tokens'],
    ['cache_creation_input_tokens'],
  ],
  cacheWriteLong: [['cache_creation', 'ephemeral_1h_input_tokens']],
  audioInput: [['prompt_tokens_details', 'audio_tokens']],
  imageInput: [['prompt_tokens_details', 'image_tokens']],
  completion: [['completion_tokens']],
  reasoning: [['completion_tokens_details', 'reasoning_tokens']],
  audioOutput: [['completion_tokens_details', 'audio_tokens']],
  imageOutput: [['completion_tokens_details', 'image_tokens']],
  total: [['total_tokens']],
  // Perplexity's place, and Anthropic's.
  searches: [['num_search_queries'], ['server_tool_use', 'web_search_requests']],
};

/** Reads a `usage` field. Undefined if it is no object: then the provider reported nothing. */
export function usageReportOf(usage: unknown): UsageReport | undefined {
  if (!isJsonObject(usage)) return undefined;
  const counts: { -readonly [Name in keyof TokenCounts]: TokenCounts[Name] } = {};
  let isContradictory = false;
  for (const name of TOKEN_COUNTS) {
    const value = firstAt(usage, PATHS[name]);
    const count = countOf(value);
    counts[name] = count;
    isContradictory ||= count !== value && value !== undefined;
  }
  return { counts, extra: usage, isContradictory };
}

/** The value at the first place that says anything; undefined if none does. */
function firstAt(usage: JsonObject, paths: readonly Path[]): unknown {
  for (const path of paths) {
    const value = valueAt(usage, path);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

function valueAt(usage: JsonObject, [field, part]: Path): unknown {
  const value = usage[field];
  if (part === undefined) return value;
  return isJsonObject(value) ? value[part] : undefined;
}

/** The nearest count of tokens to a number; undefined for anything else. */
function countOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
  return Math.min(Math.max(0, Math.ceil(value)), TOKENS_MAX);
}
