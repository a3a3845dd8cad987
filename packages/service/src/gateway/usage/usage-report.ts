import type { TokenUsage } from '#catalogue/price.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { TOKEN_COUNTS, type TokenCounts, TOKENS_MAX, type UsageReport } from '#providers/completion.ts';
import { visibleUsage } from '#providers/visible-fields.ts';

/** The usage that a call is charged for. */
interface UsageTaken {
  readonly usage: TokenUsage;
  /** The prompt, the completion or both are our own count, because the provider reported none (CC-11). */
  readonly isEstimated: boolean;
  /** The report contradicted itself, and what was taken is the nearest that does not. */
  readonly isClamped: boolean;
}

/** Adds a later report of the same call: each count is the largest that was reported (README.md has the table). */
export function laterReport(before: UsageReport | undefined, next: UsageReport | undefined): UsageReport | undefined {
  if (before === undefined || next === undefined) return next ?? before;
  const counts = { ...next.counts };
  let isContradictory = before.isContradictory || next.isContradictory;
  for (const name of TOKEN_COUNTS) {
    counts[name] = larger(before.counts[name], next.counts[name]);
    isContradictory ||= next.counts[name] !== undefined && next.counts[name] !== counts[name]; // A count can only rise.
  }
  return { counts, extra: next.extra, isContradictory };
}

/** The larger count, or the only one. */
function larger(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.max(left, right);
}

/** The usage to charge for: the report, made consistent, and our own count for what was not reported (CC-11). */
export function usageTaken(report: UsageReport | undefined, countOwn: () => TokenUsage): UsageTaken {
  if (report === undefined) return { usage: countOwn(), isEstimated: true, isClamped: false };
  const { prompt, completion, total } = report.counts;
  if (prompt === undefined && completion === undefined)
    return { usage: countOwn(), isEstimated: true, isClamped: true };
  const promptGiven = prompt ?? without(total, completion) ?? countOwn().promptTokens;
  const visibleTokens = completion ?? without(total, prompt) ?? countOwn().completionTokens;
  const { cached = 0, cacheWrite = 0, cacheWriteLong = 0, reasoning = 0 } = report.counts;
  // Some providers report hidden reasoning beside the completion, and only their total tells: both are billed.
  const isBeside = reasoning > 0 && total === promptGiven + visibleTokens + reasoning;
  const completionTokens = Math.min(isBeside ? visibleTokens + reasoning : visibleTokens, TOKENS_MAX);
  // In Anthropic's own counts, the prompt is without what was read from the cache and written to it.
  const besidePrompt = cached + cacheWrite + cacheWriteLong;
  const isPromptBeside =
    cacheWrite + cacheWriteLong > 0 && !isBeside && total === promptGiven + visibleTokens + besidePrompt;
  const promptTokens = Math.min(isPromptBeside ? promptGiven + besidePrompt : promptGiven, TOKENS_MAX);
  const cachedTokens = Math.min(cached, promptTokens);
  const cacheWriteTokens = Math.min(cacheWrite, promptTokens - cachedTokens);
  const reasoningTokens = Math.min(reasoning, completionTokens);
  const rare = rareUsageOf(report.counts, {
    promptLeft: promptTokens - cachedTokens - cacheWriteTokens,
    completionLeft: completionTokens - reasoningTokens,
  });
  const isHalf = prompt === undefined || completion === undefined;
  const isUnequal = total !== undefined && total !== promptTokens + completionTokens;
  const usage = { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens };
  return {
    usage: rare === undefined ? usage : { ...usage, rare },
    isEstimated: isHalf && without(total, prompt ?? completion) === undefined,
    isClamped:
      report.isContradictory || isHalf || isUnequal || besidePrompt > promptTokens || reasoning > completionTokens,
  };
}

/**
 * The rare counts, each at most what the kinds before it leave of its whole. Undefined if there are none. A provider of the
 * compatible format may count cached audio twice, as cached and as audio: then it is cached.
 */
function rareUsageOf(
  counts: TokenCounts,
  { promptLeft, completionLeft }: { readonly promptLeft: number; readonly completionLeft: number },
): TokenUsage['rare'] {
  const { cacheWriteLong = 0, audioInput = 0, imageInput = 0, audioOutput = 0, imageOutput = 0, searches = 0 } = counts;
  if (cacheWriteLong + audioInput + imageInput + audioOutput + imageOutput + searches === 0) return undefined;
  const cacheWriteLongTokens = Math.min(cacheWriteLong, promptLeft);
  const audioInputTokens = Math.min(audioInput, promptLeft - cacheWriteLongTokens);
  const audioOutputTokens = Math.min(audioOutput, completionLeft);
  return {
    cacheWriteLongTokens,
    audioInputTokens,
    imageInputTokens: Math.min(imageInput, promptLeft - cacheWriteLongTokens - audioInputTokens),
    audioOutputTokens,
    imageOutputTokens: Math.min(imageOutput, completionLeft - audioOutputTokens),
    searches,
  };
}

/** What a total leaves for the other part; undefined if it was not reported or cannot be true. */
function without(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

/** Usage in the format of the wire: what callers may see of the provider's report (CC-21), with the counts that were taken. */
export function usageToWire(usage: TokenUsage, report?: UsageReport): JsonObject {
  const extra = visibleUsage(report?.extra ?? {});
  return {
    ...extra,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...detailsToWire(extra, 'prompt_tokens_details', {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
    }),
    ...detailsToWire(extra, 'completion_tokens_details', { reasoning_tokens: usage.reasoningTokens }),
  };
}

/** Corrects details that the provider reported. Adds none: clients take a detail for something that was counted. */
function detailsToWire(
  extra: JsonObject,
  name: string,
  taken: Readonly<Record<string, number>>,
): JsonObject | undefined {
  const details = extra[name];
  if (!isJsonObject(details)) return undefined;
  const isTold = ([part]: [string, number]) => details[part] !== undefined && details[part] !== null;
  return { [name]: { ...details, ...Object.fromEntries(Object.entries(taken).filter(isTold)) } };
}
