import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Completion, UsageReport } from '#providers/port/completion.ts';
import { inputsOf } from '#providers/embeddings/inputs.ts';
import { usageReportOf } from '#providers/answers/usage.ts';
import { type ProviderCall, UpstreamError } from '#providers/port/provider.ts';

/** An answer with a choice that says nothing, because nothing is generated, and the vectors in the form of OpenAI. */
export function completionOfVectors(
  data: unknown,
  usage: UsageReport | undefined,
  { request }: ProviderCall,
): Completion {
  if (!Array.isArray(data)) throw malformed('did not answer with embeddings');
  if (data.length !== inputsOf(request)) throw malformed('sent another number of vectors than it was asked for');
  return {
    choices: [{ index: 0, message: { role: 'assistant', content: '' }, finish_reason: 'stop' }],
    usage,
    extra: {},
    native: { object: 'list', data: data.map(vectorOf) },
  };
}

/** What callers get of a vector: numbers, or the text that holds them in base64. */
function vectorOf(item: unknown, place: number): JsonObject {
  const { embedding, index } = isJsonObject(item) ? item : {};
  const isVector = typeof embedding === 'string' || (Array.isArray(embedding) && embedding.every(Number.isFinite));
  if (!isVector || embedding.length === 0) throw malformed('sent an embedding that is no vector');
  return { object: 'embedding', index: Number.isSafeInteger(index) ? index : place, embedding };
}

/** The usage of a vendor that counts tokens in words of its own. No count, and one of nothing, is no report. */
export function usageOfTokens(tokens: unknown): UsageReport | undefined {
  if (typeof tokens !== 'number' || !(tokens > 0)) return undefined;
  return inputAlone(usageReportOf({ prompt_tokens: Math.ceil(tokens), total_tokens: Math.ceil(tokens) }));
}

/** A report in which all tokens are of the input. */
export function inputAlone(report: UsageReport | undefined): UsageReport | undefined {
  return report && { ...report, counts: { completion: 0, ...report.counts } };
}

export function tooLarge(): never {
  // Without all of its vectors, an answer is of no use, and nothing in it says how many are missing.
  throw new UpstreamError('too-large', 'The provider sent larger vectors than its catalogue entry says.');
}

function malformed(what: string): UpstreamError {
  return new UpstreamError('malformed', `The provider ${what}.`);
}
