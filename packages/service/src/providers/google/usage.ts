import type { LanguageModelV4Usage } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { TokenCounts } from '#providers/port/completion.ts';

/**
 * Every count of Gemini's `usageMetadata`. Thoughts lie beside the candidates and are billed as output. What a tool of Google's put into
 * the prompt is input too. A modality's cached tokens count as cached alone, because no price is for both.
 */
export function countsOf({ raw }: LanguageModelV4Usage): TokenCounts {
  if (!isJsonObject(raw)) return {};
  const prompt = countIn(raw, 'promptTokenCount');
  const thoughts = countIn(raw, 'thoughtsTokenCount');
  const cachedOf = modalities(raw, 'cacheTokensDetails');
  const promptOf = modalities(raw, 'promptTokensDetails');
  const outputOf = modalities(raw, 'candidatesTokensDetails');
  const uncached = (modality: string) => difference(promptOf.get(modality), cachedOf.get(modality));
  return {
    prompt: sum(prompt, countIn(raw, 'toolUsePromptTokenCount')),
    cached: countIn(raw, 'cachedContentTokenCount'),
    audioInput: uncached('AUDIO'),
    imageInput: uncached('IMAGE'),
    // A count of zero is left out of Google's JSON. Without any count of the prompt there is no report.
    completion: prompt === undefined ? undefined : (sum(countIn(raw, 'candidatesTokenCount'), thoughts) ?? 0),
    reasoning: thoughts,
    audioOutput: outputOf.get('AUDIO'),
    imageOutput: outputOf.get('IMAGE'),
    total: countIn(raw, 'totalTokenCount'),
  };
}

function countIn(raw: JsonObject, name: string): number | undefined {
  const value = raw[name];
  return typeof value === 'number' ? value : undefined;
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined ? right : left + (right ?? 0);
}

function difference(all: number | undefined, part = 0): number | undefined {
  return all === undefined ? undefined : Math.max(0, all - part);
}

function modalities(raw: JsonObject, name: string): ReadonlyMap<unknown, number> {
  const details = raw[name];
  const counts = new Map<unknown, number>();
  for (const detail of Array.isArray(details) ? details.filter(isJsonObject) : []) {
    const count = countIn(detail, 'tokenCount');
    if (count !== undefined) counts.set(detail['modality'], (counts.get(detail['modality']) ?? 0) + count);
  }
  return counts;
}
