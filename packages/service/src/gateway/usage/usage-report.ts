import { NO_RARE_USAGE, type TokenUsage } from '#catalogue/price.ts';
import type { ToldUsage } from '#gateway/call/wire.ts';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { TOKEN_COUNTS, type TokenCounts, TOKENS_MAX, type UsageReport } from '#providers/port/completion.ts';
import { visibleUsage } from '#providers/answers/visible-fields.ts';

/** The usage that a call is charged for. */
interface UsageTaken {
  readonly usage: TokenUsage;
  /** The prompt, the completion or both are our own count, because the provider reported none (CC-23). */
  readonly isEstimated: boolean;
  /** The report contradicted itself, and what was taken is the nearest that does not. */
  readonly isClamped: boolean;
}

export const NO_USAGE: TokenUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** Adds a later report of the same call: each count is the largest that was reported (README.md has the table). */
export function laterReport(earlier: UsageReport | undefined, later: UsageReport | undefined): UsageReport | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  const before = withLifetimes(earlier, later);
  const next = withLifetimes(later, earlier);
  const counts = { ...next.counts };
  let isContradictory = before.isContradictory || next.isContradictory;
  for (const name of TOKEN_COUNTS) {
    counts[name] = larger(before.counts[name], next.counts[name]);
    isContradictory ||= next.counts[name] !== undefined && next.counts[name] !== counts[name]; // A count can only rise.
  }
  return { ...next, counts, isContradictory };
}

/**
 * One of two reports, with writes to a cache told apart by their lifetime as the other tells them. Anthropic tells the lifetimes in the
 * first report of a stream alone: without this, the same tokens would count for both.
 */
function withLifetimes(report: UsageReport, other: UsageReport): UsageReport {
  const { cacheWrite, cacheWriteLong } = report.counts;
  const { cacheWriteLong: long } = other.counts;
  if (cacheWrite === undefined || cacheWriteLong !== undefined || long === undefined) return report;
  const counts = { ...report.counts, cacheWrite: Math.max(0, cacheWrite - long), cacheWriteLong: long };
  return { ...report, counts };
}

/** Whether a report has both counts and a total, and they agree in everything. */
export function addsUp(report: UsageReport | undefined): boolean {
  if (report?.counts.total === undefined) return false;
  const { isEstimated, isClamped } = usageTaken(report, () => NO_USAGE);
  return !isEstimated && !isClamped;
}

/** The larger count, or the only one. */
function larger(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.max(left, right);
}

/**
 * The usage to charge for: the report, made consistent, and our own count for what was not reported (CC-23). `outputTokensMax`: the
 * limit that was sent, over all choices.
 */
export function usageTaken(
  report: UsageReport | undefined,
  countOwn: () => TokenUsage,
  outputTokensMax = TOKENS_MAX,
): UsageTaken {
  if (report === undefined) return { usage: countOwn(), isEstimated: true, isClamped: false };
  const { prompt, completion, total } = report.counts;
  if (prompt === undefined && completion === undefined)
    return { usage: withSearches(countOwn(), report.counts.searches), isEstimated: true, isClamped: true };
  const promptGiven = prompt ?? without(total, completion) ?? countOwn().promptTokens;
  const toldTokens = completion ?? without(total, prompt);
  const own = toldTokens === undefined ? countOwn() : undefined;
  const visibleTokens = toldTokens ?? own?.completionTokens ?? 0;
  const { cached = 0, cacheWrite = 0, cacheWriteLong = 0, reasoning = 0 } = report.counts;
  const fromCache = cached + cacheWrite + cacheWriteLong;
  const beside = besideOf((total ?? 0) - promptGiven - visibleTokens, { promptGiven, reasoning, fromCache });
  // Gemini counts its thoughts in the total alone, and bills them as output.
  const room = Math.max(0, Math.min(outputTokensMax, TOKENS_MAX) - visibleTokens);
  const hidden = Math.min(beside.unexplained, room);
  const completionTokens = Math.min(visibleTokens + beside.reasoning + hidden, TOKENS_MAX);
  const promptTokens = Math.min(promptGiven + beside.fromCache, TOKENS_MAX);
  const cachedTokens = Math.min(cached, promptTokens);
  const cacheWriteTokens = Math.min(cacheWrite, promptTokens - cachedTokens);
  const reasoningTokens = Math.min(reasoning + hidden, completionTokens);
  const usage = { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens };
  // Pictures of our own count have their own price, as without any report.
  const drawn = own?.rare && { imageOutput: report.counts.imageOutput ?? own.rare.imageOutputTokens };
  const rare = rareUsageOf(drawn === undefined ? report.counts : { ...report.counts, ...drawn }, {
    promptLeft: promptTokens - cachedTokens - cacheWriteTokens,
    completionLeft: completionTokens - reasoningTokens,
  });
  const isHalf = prompt === undefined || completion === undefined;
  const isUnequal = total !== undefined && total !== promptTokens + completionTokens;
  return {
    usage: rare === undefined ? usage : { ...usage, rare },
    isEstimated: isHalf && without(total, prompt ?? completion) === undefined,
    isClamped:
      report.isContradictory || isHalf || isUnequal || fromCache > promptTokens || reasoning > completionTokens,
  };
}

/**
 * The usage of a stream whose report may lack what came after it: the caller left, the provider was cut, or it counted early and never
 * again. A prompt that was counted stays as it is. The output is the larger of the report and our own count (CC-11). A finished stream
 * whose report, though early, has room for all of its text is charged by it.
 */
export function usageOfPart(
  report: UsageReport | undefined,
  own: TokenUsage,
  { isFinished, outputTokensMax }: { readonly isFinished: boolean; readonly outputTokensMax: number },
): UsageTaken {
  if (report === undefined) return { usage: own, isEstimated: true, isClamped: false };
  const taken = usageTaken(report, () => own, outputTokensMax);
  const { usage: told } = taken;
  if (isFinished && !taken.isEstimated && told.completionTokens >= own.completionTokens) return taken;
  // Zeros are the places of a count that is still to come.
  const prompt = told.promptTokens > 0 && report.counts.prompt !== undefined ? told : own;
  const output = told.completionTokens >= own.completionTokens ? told : own;
  const { promptTokens, cachedTokens, cacheWriteTokens } = prompt;
  const { completionTokens, reasoningTokens } = output;
  const rare = (told.rare ?? own.rare) && {
    cacheWriteLongTokens: prompt.rare?.cacheWriteLongTokens ?? 0,
    audioInputTokens: prompt.rare?.audioInputTokens ?? 0,
    imageInputTokens: prompt.rare?.imageInputTokens ?? 0,
    audioOutputTokens: output.rare?.audioOutputTokens ?? 0,
    imageOutputTokens: output.rare?.imageOutputTokens ?? 0,
    searches: told.rare?.searches ?? 0,
  };
  const usage = { promptTokens, cachedTokens, cacheWriteTokens, completionTokens, reasoningTokens };
  return {
    usage: rare === undefined ? usage : { ...usage, rare },
    isEstimated: true,
    isClamped: report.isContradictory,
  };
}

/**
 * What a total counts that neither the prompt nor the completion does: some providers report hidden reasoning beside the completion,
 * and Anthropic the prompt without its cache. What is left is unexplained, if the provider tells of no reasoning.
 */
function besideOf(left: number, parts: { promptGiven: number; reasoning: number; fromCache: number }): Beside {
  const { promptGiven, reasoning, fromCache } = parts;
  if (left <= 0) return NOTHING_BESIDE;
  if (left === reasoning) return { ...NOTHING_BESIDE, reasoning };
  // More than the prompt can only lie beside it, as far as the total has room.
  const isBeside = left === fromCache || left === reasoning + fromCache || fromCache > promptGiven;
  if (isBeside) {
    const found = Math.min(left, fromCache);
    return { ...besideOf(left - found, { promptGiven, reasoning, fromCache: 0 }), fromCache: found };
  }
  return reasoning > 0 ? NOTHING_BESIDE : { ...NOTHING_BESIDE, unexplained: left };
}

interface Beside {
  readonly reasoning: number;
  readonly fromCache: number;
  readonly unexplained: number;
}

const NOTHING_BESIDE: Beside = { reasoning: 0, fromCache: 0, unexplained: 0 };

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

/** Our own count with the searches, which a provider may tell of without a count of tokens. */
function withSearches(own: TokenUsage, searches = 0): TokenUsage {
  return searches === 0 ? own : { ...own, rare: { ...(own.rare ?? NO_RARE_USAGE), searches } };
}

/** What a total leaves for the other part; undefined if it was not reported or cannot be true. */
function without(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

/**
 * Returns usage in the format of the wire: what callers may see of the provider's report (CC-21), with the counts that
 * were taken.
 */
export function usageToWire(usage: TokenUsage, report?: UsageReport): JsonObject {
  const counted = {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
  if (report === undefined) return counted;
  const { cached, cacheWrite, reasoning } = report.counts;
  const told: Record<string, unknown> = { ...visibleUsage(report.extra), ...counted };
  addDetail(told, 'prompt_tokens_details', 'cached_tokens', usage.cachedTokens, cached);
  addDetail(told, 'prompt_tokens_details', 'cache_write_tokens', usage.cacheWriteTokens, cacheWrite);
  addDetail(told, 'completion_tokens_details', 'reasoning_tokens', usage.reasoningTokens, reasoning);
  return told;
}

/** The usage of a call, as its caller learns it. */
export function toldUsage(usage: TokenUsage, report: UsageReport | undefined): ToldUsage {
  const isReported = report !== undefined;
  return { isReported, usage: usageToWire(usage, report), cacheWriteLong: usage.rare?.cacheWriteLongTokens };
}

/**
 * Adds a part of a count that was taken in the place where the format has it. Only one that the provider counted anywhere, or that its
 * total shows: clients take a detail for something that was counted.
 */
function addDetail(
  told: Record<string, unknown>,
  name: string,
  part: string,
  taken: number,
  reported: number | undefined,
): void {
  const details = isJsonObject(told[name]) ? told[name] : undefined;
  const isTold = details?.[part] !== undefined && details[part] !== null;
  if (taken > 0 || reported !== undefined || isTold) told[name] = { ...details, [part]: taken };
}
