import type { TokenUsage } from '#catalogue/price.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';

/** Thrice the largest output of 128 choices, and small enough that a billion receipts still add up in 64 bits. */
export const TOKENS_MAX = 4_000_000_000;

/** What a provider has reported of a call so far. README.md has the table of what is made of it. */
export interface UsageReport {
  /** Undefined where it told none. */
  readonly counts: Readonly<Record<CountName, number | undefined>>;
  /** The `usage` object as it came last. */
  readonly fields: JsonObject;
  /** It held what is no count of tokens, or a count fell that can only rise. */
  readonly isContradictory: boolean;
}

type CountName = 'prompt' | 'cached' | 'completion' | 'reasoning' | 'total';

/** The usage that a call is charged for. */
interface UsageTaken {
  readonly usage: TokenUsage;
  /** The prompt, the completion or both are our own count, because the provider told none (CC-11). */
  readonly isEstimated: boolean;
  /** The report contradicted itself, and what was taken is the nearest that does not. */
  readonly isClamped: boolean;
}

/** A report with what a later `usage` field adds: each count as the largest told. What is no object tells nothing. */
export function laterReport(before: UsageReport | undefined, usage: unknown): UsageReport | undefined {
  const next = isJsonObject(usage) ? reportOf(usage) : undefined;
  if (before === undefined || next === undefined) return next ?? before;
  const most = (name: CountName) => larger(before.counts[name], next.counts[name]);
  const counts = {
    prompt: most('prompt'),
    cached: most('cached'),
    completion: most('completion'),
    reasoning: most('reasoning'),
    total: most('total'),
  };
  const names = Object.keys(counts) as CountName[];
  const hasFallen = names.some((name) => next.counts[name] !== undefined && next.counts[name] !== counts[name]);
  const isContradictory = before.isContradictory || next.isContradictory || hasFallen;
  return { counts, fields: next.fields, isContradictory };
}

function larger(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined || right === undefined ? (left ?? right) : Math.max(left, right);
}

function reportOf(usage: JsonObject): UsageReport {
  const told = {
    prompt: usage['prompt_tokens'],
    cached: partOf(usage['prompt_tokens_details'], 'cached_tokens'),
    completion: usage['completion_tokens'],
    reasoning: partOf(usage['completion_tokens_details'], 'reasoning_tokens'),
    total: usage['total_tokens'],
  };
  const counts = {
    prompt: countOf(told.prompt),
    cached: countOf(told.cached),
    completion: countOf(told.completion),
    reasoning: countOf(told.reasoning),
    total: countOf(told.total),
  };
  const isConsistent =
    isTold(told.prompt, counts.prompt) &&
    isTold(told.cached, counts.cached) &&
    isTold(told.completion, counts.completion) &&
    isTold(told.reasoning, counts.reasoning) &&
    isTold(told.total, counts.total);
  return { counts, fields: usage, isContradictory: !isConsistent };
}

function partOf(details: unknown, name: string): unknown {
  return isJsonObject(details) ? details[name] : undefined;
}

/** A number as the nearest count of tokens; what is no number is none. */
function countOf(value: unknown): number | undefined {
  if (typeof value !== 'number' || Number.isNaN(value)) return undefined;
  return Math.min(Math.max(0, Math.ceil(value)), TOKENS_MAX);
}

/** It was a count as it stands, or absent. */
function isTold(value: unknown, count: number | undefined): boolean {
  return count === value || isAbsent(value);
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

/** The usage to charge for: what was reported, made consistent, and `own`, our count, for what was not. */
export function usageTaken(report: UsageReport | undefined, own: TokenUsage): UsageTaken {
  if (report === undefined) return { usage: own, isEstimated: true, isClamped: false };
  const { prompt, completion, total } = report.counts;
  if (prompt === undefined && completion === undefined) return { usage: own, isEstimated: true, isClamped: true };
  const promptTokens = prompt ?? without(total, completion) ?? own.promptTokens;
  const visibleTokens = completion ?? without(total, prompt) ?? own.completionTokens;
  const { cached = 0, reasoning = 0 } = report.counts;
  // Some providers report hidden reasoning beside the completion, and only their total tells: both are billed.
  const isBeside = reasoning > 0 && total === promptTokens + visibleTokens + reasoning;
  const completionTokens = Math.min(isBeside ? visibleTokens + reasoning : visibleTokens, TOKENS_MAX);
  const isHalf = prompt === undefined || completion === undefined;
  const isUnequal = total !== undefined && total !== promptTokens + completionTokens;
  return {
    usage: {
      promptTokens,
      completionTokens,
      cachedTokens: Math.min(cached, promptTokens),
      reasoningTokens: Math.min(reasoning, completionTokens),
    },
    isEstimated: isHalf && without(total, prompt ?? completion) === undefined,
    isClamped: report.isContradictory || isHalf || isUnequal || cached > promptTokens || reasoning > completionTokens,
  };
}

function without(total: number | undefined, part: number | undefined): number | undefined {
  return total === undefined || part === undefined || total < part ? undefined : total - part;
}

/** Usage in the format of the wire: what the provider reported, where there is a report, with the counts that were taken. */
export function usageToWire(usage: TokenUsage, report?: UsageReport): JsonObject {
  const fields = report?.fields ?? {};
  return {
    ...fields,
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    ...detailsToWire(fields, 'prompt_tokens_details', { part: 'cached_tokens', taken: usage.cachedTokens }),
    ...detailsToWire(fields, 'completion_tokens_details', { part: 'reasoning_tokens', taken: usage.reasoningTokens }),
  };
}

interface TakenDetail {
  readonly part: string;
  readonly taken: number;
}

/** Details are corrected where there are any, never added. */
function detailsToWire(fields: JsonObject, name: string, { part, taken }: TakenDetail): JsonObject | undefined {
  const details = fields[name];
  if (!isJsonObject(details) || isAbsent(details[part]) || details[part] === taken) return undefined;
  return { [name]: { ...details, [part]: taken } };
}
