import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isJsonObject } from '#kernel/text/json.ts';
import { TOKEN_COUNTS, type TokenCounts, TOKENS_MAX, type UsageReport } from '#providers/port/completion.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';

/** The counts that V4 has words for. A dialect adds what only `raw` tells. */
export function unifiedCounts({ inputTokens, outputTokens }: LanguageModelV4Usage): TokenCounts {
  const { total: prompt, cacheRead: cached, cacheWrite } = inputTokens;
  const { total: completion, reasoning } = outputTokens;
  return { prompt, cached, cacheWrite, completion, reasoning };
}

/** The field of a vendor's usage that names the counts which are there for its library alone: nothing was counted. */
export const UNTOLD = 'purser_untold';
/** The counts that tell nothing of what came behind them. */
export const OUTPUT_COUNTS: readonly (keyof TokenCounts)[] = [
  'completion',
  'reasoning',
  'audioOutput',
  'imageOutput',
  'total',
];

function toldIn(raw: unknown): (name: keyof TokenCounts) => boolean {
  const untold = isJsonObject(raw) ? raw[UNTOLD] : undefined;
  if (!Array.isArray(untold) || untold.length === 0) return () => true;
  return (name) => !untold.includes(name);
}

/** The report of a call. Undefined if the vendor reported nothing, as in a stream that was cut: then our own count is charged. */
export function usageReportFrom(
  dialect: Pick<Dialect, 'countsOf' | 'isUnbilled'>,
  usage: LanguageModelV4Usage,
): UsageReport | undefined {
  const counted = dialect.countsOf(usage);
  const isTold = toldIn(usage.raw);
  const counts: { -readonly [Name in keyof TokenCounts]: TokenCounts[Name] } = {};
  let [isContradictory, isEmpty] = [false, true];
  for (const name of TOKEN_COUNTS) {
    const given = isTold(name) ? counted[name] : undefined;
    const count = countOf(given);
    counts[name] = count;
    isContradictory ||= count !== given;
    if (given !== undefined && (name === 'prompt' || name === 'completion')) isEmpty = false;
  }
  if (isEmpty) return undefined;
  const report = { counts, extra: wireUsage(counts), isContradictory };
  return dialect.isUnbilled?.(usage) === true ? { ...report, isUnbilled: true } : report;
}

/** The nearest count of tokens to what was reported. */
function countOf(value: number | undefined): number | undefined {
  if (value === undefined || Number.isNaN(value)) return undefined;
  return Math.min(Math.max(0, Math.ceil(value)), TOKENS_MAX);
}

/** The report in the words of the compatible format. */
function wireUsage({ prompt, cached, cacheWrite, completion, reasoning }: TokenCounts): UsageReport['extra'] {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: {
      ...(cached === undefined ? {} : { cached_tokens: cached }),
      ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
    },
    ...(reasoning === undefined ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
  };
}
