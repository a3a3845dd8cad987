import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { TokenCounts, UsageReport } from '#providers/port/completion.ts';
import { UNTOLD, unifiedCounts, usageReportFrom } from '#providers/dialect/usage.ts';

/** What Anthropic says of the tokens of an answer, the same for answers that are translated and those that are passed through. */

const UNBILLED = 'purser_unbilled';
const NOTHING: JsonObject = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  [UNBILLED]: true,
  [UNTOLD]: [],
};

/** Returns true for the usage of an answer that Anthropic does not bill: Claude refused before it had said anything. */
export function isUnbilled(raw: unknown): boolean {
  return isJsonObject(raw) && raw[UNBILLED] === true;
}

/** The usage of one stream, as its library gets it. */
export function createUsage() {
  let usage: JsonObject = {};
  let hasOutput = false;
  /** The output was counted behind its text. Before it, a server can only guess. */
  let isCounted = false;
  return {
    followText: (said: JsonObject): void => {
      if (!saysAnything(said)) return;
      hasOutput = true;
      isCounted = false;
    },
    isCounted: () => isCounted,
    first: (told: unknown): JsonObject => {
      usage = knownUsage(told);
      return wholeUsage(usage, false);
    },
    later: (told: unknown, reason: unknown): JsonObject => {
      const known = knownUsage(told);
      isCounted ||= known['output_tokens'] !== undefined;
      usage = largerUsage(usage, known);
      return reason === 'refusal' && !hasOutput ? NOTHING : wholeUsage(usage, isCounted);
    },
  };
}

/** The usage of a whole answer, as its library gets it. */
export function usageOfWhole(told: unknown, isFree: boolean): JsonObject {
  const usage = knownUsage(told);
  return isFree ? NOTHING : wholeUsage(usage, usage['output_tokens'] !== undefined);
}

/** The report of an answer that no library has read. It is what its library would have made of it. */
export function reportOf(raw: JsonObject): UsageReport | undefined {
  return usageReportFrom({ countsOf, isUnbilled: ({ raw: told }) => isUnbilled(told) }, unifiedOf(raw));
}

/** Every count in a usage that the library has read. */
export function countsOf(usage: LanguageModelV4Usage): TokenCounts {
  const long = longCacheWrite(usage.raw);
  const counts = { ...unifiedCounts(usage), ...searchesIn(usage.raw) };
  return long === undefined ? counts : { ...counts, ...splitCacheWrite(counts.cacheWrite, long) };
}

/** The text of a block or a delta, a call, or reasoning that is sealed. */
const OUTPUT = ['text', 'thinking', 'partial_json', 'name', 'data'];

export function saysAnything(said: JsonObject): boolean {
  return OUTPUT.some((name) => typeof said[name] === 'string' && said[name] !== '');
}

const PROMPT = ['input_tokens', 'cache_read_input_tokens', 'cache_creation_input_tokens'];
const COUNTS = [...PROMPT, 'output_tokens'];

/** The counts of a usage, without what is new in it or no count. */
function knownUsage(told: unknown): JsonObject {
  const known: Record<string, unknown> = {};
  if (!isJsonObject(told)) return known;
  for (const name of COUNTS) if (typeof told[name] === 'number') known[name] = told[name];
  for (const name of PARTS) if (isJsonObject(told[name])) known[name] = told[name];
  const { iterations } = told;
  const steps = Array.isArray(iterations) ? iterations.filter(isKnownIteration) : [];
  if (steps.length > 0) known['iterations'] = steps;
  return known;
}

function isKnownIteration(iteration: unknown): boolean {
  return (
    isJsonObject(iteration) &&
    ITERATIONS.has(iteration['type']) &&
    typeof iteration['input_tokens'] === 'number' &&
    typeof iteration['output_tokens'] === 'number'
  );
}

const PARTS = ['cache_creation', 'server_tool_use', 'output_tokens_details'];
const ITERATIONS: ReadonlySet<unknown> = new Set(['compaction', 'message', 'advisor_message', 'fallback_message']);

/** The usage with the two counts that the library needs, and which of them nobody has told. */
function wholeUsage(usage: JsonObject, isCounted: boolean): JsonObject {
  const untold: (keyof TokenCounts)[] = [];
  if (usage['input_tokens'] === undefined) untold.push('prompt');
  if (!isCounted) untold.push('completion', 'reasoning');
  return {
    ...usage,
    input_tokens: usage['input_tokens'] ?? 0,
    output_tokens: usage['output_tokens'] ?? 0,
    [UNTOLD]: untold,
  };
}

/**
 * The later report of a stream with what the earlier one has more of: some servers write zeros over a prompt that they have counted. A
 * later prompt of the same length counts, because it may tell the cached part apart.
 */
function largerUsage(earlier: JsonObject, later: JsonObject): JsonObject {
  const joined = { ...earlier, ...later };
  const isLess = promptOf(joined) < promptOf(earlier);
  const prompt = isLess ? Object.fromEntries(PROMPT.map((name) => [name, earlier[name]])) : {};
  const creation = isLess ? { cache_creation: earlier['cache_creation'] } : {};
  const output_tokens = Math.max(countIn(earlier, 'output_tokens'), countIn(later, 'output_tokens'));
  return { ...joined, ...prompt, ...creation, output_tokens };
}

function promptOf(usage: JsonObject): number {
  return PROMPT.reduce((sum, name) => sum + countIn(usage, name), 0);
}

function countIn(usage: JsonObject, name: string): number {
  const count = usage[name];
  return typeof count === 'number' ? count : 0;
}

/** A usage as the library reads it: a compaction is a part of the answer, and what a fallback has said is the answer. */
function unifiedOf(raw: JsonObject): LanguageModelV4Usage {
  const iterations = Array.isArray(raw['iterations']) ? (raw['iterations'] as readonly JsonObject[]) : [];
  const isFallback = iterations.some(({ type }) => type === 'fallback_message');
  const own = isFallback ? [] : iterations.filter(({ type }) => type === 'compaction' || type === 'message');
  const sumOf = (name: string): number =>
    own.length === 0 ? countIn(raw, name) : own.reduce((sum, iteration) => sum + countIn(iteration, name), 0);
  const [noCache, output] = [sumOf('input_tokens'), sumOf('output_tokens')];
  const cacheRead = countIn(raw, 'cache_read_input_tokens');
  const cacheWrite = countIn(raw, 'cache_creation_input_tokens');
  const details = raw['output_tokens_details'];
  const reasoning = isJsonObject(details) ? details['thinking_tokens'] : undefined;
  return {
    inputTokens: { total: noCache + cacheWrite + cacheRead, noCache, cacheRead, cacheWrite },
    outputTokens: {
      total: output,
      text: undefined,
      reasoning: typeof reasoning === 'number' ? reasoning : undefined,
    },
    raw: raw as NonNullable<LanguageModelV4Usage['raw']>,
  };
}

/**
 * Returns the tokens that were written to the cache for an hour. V4 adds them up with those for 5 minutes, but they are
 * billed apart.
 */
function longCacheWrite(raw: unknown): number | undefined {
  const creation = isJsonObject(raw) ? raw['cache_creation'] : undefined;
  const long = isJsonObject(creation) ? creation['ephemeral_1h_input_tokens'] : undefined;
  return typeof long === 'number' && long > 0 ? long : undefined;
}

/** Searches of a server that makes them by itself. */
function searchesIn(raw: unknown) {
  const used = isJsonObject(raw) ? raw['server_tool_use'] : undefined;
  const searches = isJsonObject(used) ? used['web_search_requests'] : undefined;
  return typeof searches === 'number' && searches > 0 ? { searches } : {};
}

function splitCacheWrite(all: number | undefined, long: number) {
  return { cacheWrite: Math.max(0, (all ?? long) - long), cacheWriteLong: long };
}
