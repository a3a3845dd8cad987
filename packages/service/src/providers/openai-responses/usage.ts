import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { UsageReport } from '#providers/port/completion.ts';
import { usageReportOf } from '#providers/answers/usage.ts';

/** The counts of Responses and their names in chat completions. */
const NAMES = [
  ['input_tokens', 'prompt_tokens'],
  ['output_tokens', 'completion_tokens'],
  ['input_tokens_details', 'prompt_tokens_details'],
  ['output_tokens_details', 'completion_tokens_details'],
] as const;

/** The usage that a response reports, in the form of chat completions. `searches`: those of the web that it made. */
export function usageOfResponse({ usage }: JsonObject, searches = 0): UsageReport | undefined {
  const report = usageReportOf(usage);
  if (report === undefined || !isJsonObject(usage)) {
    return searches > 0 ? { counts: { searches }, extra: {}, isContradictory: false } : undefined;
  }
  const extra: Record<string, unknown> = { ...usage };
  for (const [name, ours] of NAMES) if (usage[name] !== undefined) extra[ours] = usage[name];
  // Vendors bill searches and report none: each stands in the answer.
  const counts =
    searches > 0 ? { ...report.counts, searches: Math.max(report.counts.searches ?? 0, searches) } : report.counts;
  return { ...report, counts, extra };
}
