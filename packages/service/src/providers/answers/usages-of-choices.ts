import type { Chunk, TokenCounts, UsageReport } from '#providers/port/completion.ts';

/** The counts of what was generated. The others are of the prompt, which all choices share. */
const OUTPUT = ['completion', 'reasoning', 'audioOutput', 'imageOutput', 'searches'] as const;

/** One usage for all of several reports, each of another choice: their output adds up, and the prompt counts once. */
export function sumOfChoices(reports: readonly UsageReport[]): UsageReport | undefined {
  const [first] = reports;
  if (first === undefined || reports.length === 1) return first;
  // The choice that was asked first has computed the prompt. The others find it in the cache.
  const prompt = reports.reduce((most, one) => (freshOf(one) > freshOf(most) ? one : most));
  const counts: { -readonly [Name in keyof TokenCounts]: TokenCounts[Name] } = { ...prompt.counts };
  for (const name of OUTPUT) counts[name] = sumOf(reports.map((one) => one.counts[name]));
  const beside = reports.map(({ counts: { total, prompt: own } }) =>
    total === undefined || own === undefined || total < own ? undefined : total - own,
  );
  const output = beside.includes(undefined) ? undefined : sumOf(beside);
  counts.total = output === undefined || counts.prompt === undefined ? undefined : counts.prompt + output;
  return { ...prompt, counts, isContradictory: reports.some(({ isContradictory }) => isContradictory) };
}

function freshOf({ counts: { prompt = 0, cached = 0 } }: UsageReport): number {
  return prompt - cached;
}

function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

/**
 * Follows the usages of a stream with several choices. llama.cpp sends one for each choice, behind its reason to finish; others send one
 * for each beside it, or all of them behind all reasons; most send one for all. A usage behind or beside the reason of one choice, while
 * another has none or has a usage of its own, is that of this choice. `outputTokensMax`: the limit that was sent, over all choices.
 */
export function createChoiceUsages(
  choices: number,
  outputTokensMax = Infinity,
): (chunk: Chunk) => UsageReport | undefined {
  if (choices < 2) return ({ usage }) => usage;
  const own = new Map<number, UsageReport>();
  const reasons = new Map<number, string>();
  /** Usages that came without a choice, each behind a reason of its own. */
  const alone: UsageReport[] = [];
  /** Choices that have finished since the last usage. */
  let waiting: number[] = [];

  /** The choice that a usage belongs to; undefined if it is that of all. */
  function choiceOf(said: Chunk['choices']): number | undefined {
    const [one] = said;
    if (said.length === 1 && one !== undefined) return one.finish_reason === null ? undefined : one.index;
    const [last] = waiting;
    return waiting.length === 1 && (own.size > 0 || reasons.size < choices) ? last : undefined;
  }

  /** Whether as many usages as choices came, and are no repetitions of one: they differ, or each is that of a choice at its limit. */
  function isOneForEach(): boolean {
    if (alone.length !== choices || reasons.size !== choices) return false;
    const [first, ...others] = alone.map(({ counts }) => counts.completion);
    if (others.some((count) => count !== first)) return true;
    return first === outputTokensMax / choices && Array.from(reasons.values()).every((reason) => reason === 'length');
  }

  return (chunk) => {
    const { choices: said, usage } = chunk;
    for (const { index, finish_reason: reason } of said) {
      if (reason === null || reasons.has(index)) continue;
      reasons.set(index, reason);
      waiting.push(index);
    }
    if (usage === undefined) return undefined;
    const index = choiceOf(said);
    waiting = [];
    // A running count comes before its reasons.
    if (said.length === 0 && (alone.length < reasons.size || reasons.size === choices)) alone.push(usage);
    if (index === undefined) return isOneForEach() ? sumOfChoices(alone) : usage;
    own.set(index, usage);
    return sumOfChoices([...own.values()]);
  };
}
