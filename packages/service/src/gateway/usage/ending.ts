import type { Tokenizer } from '@purser/contract/catalogue.ts';
import { chargeOf, type Price, type TokenUsage } from '#catalogue/price.ts';
import type { Upstream } from '#catalogue/catalogue.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import { ceilingFor, type OutputLimit, outputLimitOf } from '#gateway/usage/hold-request.ts';
import type { Ending, Hold } from '#gateway/call/lane.ts';
import { createTokenCounter } from '#gateway/usage/token-counter.ts';
import { usageTaken } from '#gateway/usage/usage-report.ts';
import type { Mode } from '#kernel/ids.ts';
import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import { type Micros, ZERO_MICROS } from '#kernel/micros.ts';
import type { UsageReport } from '#providers/completion.ts';
import { LABELS } from '#providers/labels.ts';

const NO_USAGE: TokenUsage = {
  promptTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  completionTokens: 0,
  reasoningTokens: 0,
};

/** A call that the provider failed costs nothing, before or after the first byte (CC-09, CC-11). */
export const FAILED: Ending = {
  outcome: 'failed',
  charge: ZERO_MICROS,
  priceId: undefined,
  usage: NO_USAGE,
  isEstimated: false,
  isUsageClamped: false,
  isPastLimit: false,
};

/**
 * Returns our own count of a call: the estimated prompt, and the generated text, which is never more than the limit
 * that was sent.
 */
function usageEstimated(call: ChatCall, completionTokens: number): TokenUsage {
  return {
    ...NO_USAGE,
    promptTokens: call.prompt.tokensEstimated,
    completionTokens,
  };
}

/** All that is known of what the provider generated. */
interface Generated {
  /** Who generated it. Its price is charged (CC-16). */
  readonly upstream: Upstream;
  readonly report: UsageReport | undefined;
  /** Returns our own count of what was generated. It is called only if the report leaves a count out. */
  readonly tokens: () => number;
  /** The provider went on past the limit that it was sent. */
  readonly isPastLimit: boolean;
  /** That limit, if the caller of this function has worked it out already: it costs a division of big integers. */
  readonly limit?: OutputLimit;
}

/**
 * Ends a call with the usage that the provider reported, or with our own count if it reported none, at the price of the upstream
 * that served it (CC-16). A charge above the hold says what the provider bills: the ledger takes no more than the hold, and
 * books the rest as our loss (WA-07).
 */
export function endingOf(
  { call, granted }: Pick<Hold<Mode>, 'call' | 'granted'>,
  outcome: 'answered' | 'abandoned',
  { upstream: { price }, report, tokens, isPastLimit, limit = outputLimitOf({ call, granted }) }: Generated,
): Ending {
  const own = (): TokenUsage => usageEstimated(call, isPastLimit ? limit.tokens : Math.min(tokens(), limit.tokens));
  const { usage, isEstimated, isClamped } = usageTaken(report, own, limit.tokens);
  const isAboveBounds = usage.promptTokens > call.prompt.tokensMax || usage.completionTokens > limit.tokens;
  const used = chargeOf(price, usage);
  return {
    outcome,
    charge: isPastLimit ? pastLimit({ call, granted }, price, { used, tokens: limit.tokens }) : used,
    priceId: price.priceId,
    usage,
    isEstimated,
    isUsageClamped: isClamped || isPastLimit || (!isEstimated && isAboveBounds),
    isPastLimit,
  };
}

/**
 * What an answer costs that ran past its limit: the hold, unless more was reported, or the model is free. If a dearer upstream made
 * the hold larger, it is what the hold for this one would have been.
 */
function pastLimit(
  { call, granted }: Pick<Hold<Mode>, 'call' | 'granted'>,
  price: Price,
  { used, tokens }: { readonly used: Micros; readonly tokens: number },
): Micros {
  const ceiling = ceilingFor(call, price, tokens / call.choices);
  if (ceiling === 0n) return used;
  const most = call.upstreams.length > 1 && ceiling < granted ? ceiling : granted;
  return used < most ? most : used;
}

/**
 * Visits the texts of everything that a message or delta says: text, refusal, reasoning, tool calls, and fields that we do not
 * know, because a provider bills for those too. Returns their bytes.
 */
export function visitGenerated(message: unknown, visit: (text: string) => void): number {
  if (!isJsonObject(message)) return 0;
  let bytes = 0;
  for (const name of Object.keys(message)) {
    if (!LABELS.has(name) && !isRepeated(name, message)) bytes += visitValue(message[name], visit);
  }
  return bytes;
}

/**
 * Returns true for reasoning that stands in the message a second time. Many answers have it as a text to show, and in
 * blocks to send back.
 */
function isRepeated(name: string, { reasoning_content: content, reasoning }: JsonObject): boolean {
  return name === 'reasoning_details' && (typeof content === 'string' || typeof reasoning === 'string');
}

function visitValue(value: unknown, visit: (text: string) => void): number {
  if (typeof value === 'string') {
    visit(value);
    return Buffer.byteLength(value);
  }
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + visitValue(item, visit), 0);
  return visitGenerated(value, visit);
}

/** The bytes of what the messages of a whole answer say, and a function that counts their tokens. */
export function generatedIn(
  choices: readonly { readonly message: unknown }[],
  tokenizer: Tokenizer,
): Pick<Generated, 'tokens'> & { readonly bytes: number } {
  let bytes = 0;
  for (const { message } of choices) bytes += visitGenerated(message, ignore);
  const tokens = (): number => {
    const counter = createTokenCounter(tokenizer);
    for (const { message } of choices) visitGenerated(message, counter.add);
    return counter.tokens();
  };
  return { bytes, tokens };
}

function ignore(): void {}
