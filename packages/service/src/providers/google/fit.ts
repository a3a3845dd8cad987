import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { isFinished } from '#providers/openai-compatible/answer-shape.ts';
import type { AnswerFit } from '#providers/translated/fit-answer.ts';

const PARTS = ['promptTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'];

/** Gives the library the largest report of each count, of which it takes the last, and ends a stream whose reason has come. */
export function createGeminiFit(): AnswerFit {
  let usage: JsonObject | undefined;
  let hasReason = false;
  return {
    event: (event) => {
      const { usageMetadata, candidates } = event;
      const [candidate] = Array.isArray(candidates) ? (candidates as unknown[]) : [];
      hasReason ||= isJsonObject(candidate) && isFinished({ finish_reason: candidate['finishReason'] });
      if (!isJsonObject(usageMetadata)) return event;
      usage = usage === undefined ? usageMetadata : largest(usage, usageMetadata);
      return usage === usageMetadata ? event : { ...event, usageMetadata: usage };
    },
    rest: () => (hasReason && usage !== undefined ? [] : undefined),
    whole: (answer) => answer,
  };
}

function largest(earlier: JsonObject, later: JsonObject): JsonObject {
  const usage: Record<string, unknown> = { ...earlier, ...later };
  for (const [name, count] of Object.entries(earlier))
    if (typeof count === 'number') usage[name] = Math.max(count, countIn(later, name));
  // A total of one report says nothing of the counts of another.
  const sum = PARTS.reduce((all, name) => all + countIn(usage, name), 0);
  if (countIn(usage, 'totalTokenCount') < sum) usage['totalTokenCount'] = sum;
  return usage;
}

function countIn(usage: JsonObject, name: string): number {
  const count = usage[name];
  return typeof count === 'number' ? count : 0;
}
