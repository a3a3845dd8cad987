import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { isFinished } from '#providers/answers/choice-shape.ts';
import { meaningOfReason } from '#providers/answers/finish-reasons.ts';
import type { AnswerFit } from '#providers/dialect/fit-answer.ts';
import { OUTPUT_COUNTS, UNTOLD } from '#providers/dialect/usage.ts';

const PARTS = ['promptTokenCount', 'toolUsePromptTokenCount', 'candidatesTokenCount', 'thoughtsTokenCount'];

/** Gives the library the largest report of each count, of which it takes the last, and ends a stream whose reason has come. */
export function createGeminiFit(): AnswerFit {
  let usage: JsonObject | undefined;
  let hasReason = false;
  const isWhole = (): boolean => hasReason && usage !== undefined;

  function eventOf(event: JsonObject): JsonObject {
    const { usageMetadata, candidates } = event;
    const candidate = firstOf(candidates);
    hasReason ||= isFinished({ finish_reason: candidate['finishReason'] });
    if (isJsonObject(usageMetadata)) {
      usage = usage === undefined ? usageMetadata : largest(usage, usageMetadata);
      return usage === usageMetadata ? event : { ...event, usageMetadata: usage };
    }
    // An earlier report tells nothing of this text.
    const isTold = usage === undefined || !saysAnything(candidate);
    return isTold ? event : { ...event, usageMetadata: { ...usage, [UNTOLD]: OUTPUT_COUNTS } };
  }

  return {
    names: NAMES,
    event: (event) => (isWhole() && isJsonObject(event['error']) ? [] : [eventOf(readable(event))]),
    rest: () => (isWhole() ? [] : undefined),
    whole: (answer) => withReason(readable(answer)),
  };
}

const NAMES: ReadonlySet<unknown> = new Set(['message', 'error']);

/** The event or answer in the form that Google documents: some servers send nulls in lists, or the reason in small letters. */
function readable(answer: JsonObject): JsonObject {
  const { candidates } = answer;
  if (!Array.isArray(candidates)) return answer;
  const fitted = candidates.filter(isJsonObject).map(readableCandidate);
  const isSame = fitted.length === candidates.length && fitted.every((one, place) => one === candidates[place]);
  return isSame ? answer : { ...answer, candidates: fitted };
}

function readableCandidate(candidate: JsonObject): JsonObject {
  const { content, finishReason: word } = candidate;
  const parts = isJsonObject(content) ? content['parts'] : undefined;
  const hasParts = parts === undefined || parts === null || (Array.isArray(parts) && parts.every(isJsonObject));
  const reason = typeof word === 'string' && meaningOfReason(word) === 'stop' ? 'STOP' : word;
  if (hasParts && reason === word) return candidate;
  const known = { role: 'model', parts: Array.isArray(parts) ? parts.filter(isJsonObject) : [] };
  return { ...candidate, finishReason: reason, ...(!hasParts && { content: known }) };
}

/** An answer that says something and not why it ended is whole all the same: it was billed (CC-11). */
function withReason(answer: JsonObject): JsonObject {
  const { candidates } = answer;
  const candidate = firstOf(candidates);
  if (typeof candidate['finishReason'] === 'string' || !saysAnything(candidate)) return answer;
  return { ...answer, candidates: [{ ...candidate, finishReason: 'STOP' }] };
}

function firstOf(candidates: unknown): JsonObject {
  const [first] = Array.isArray(candidates) ? (candidates as unknown[]) : [];
  return isJsonObject(first) ? first : {};
}

function saysAnything({ content }: JsonObject): boolean {
  const parts = isJsonObject(content) ? content['parts'] : undefined;
  if (!Array.isArray(parts)) return false;
  return parts.some(
    (part) =>
      isJsonObject(part) &&
      (isJsonObject(part['functionCall']) || isJsonObject(part['inlineData']) || isText(part['text'])),
  );
}

function isText(text: unknown): boolean {
  return typeof text === 'string' && text !== '';
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
