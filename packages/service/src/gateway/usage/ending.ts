import { chargeOf, NO_RARE_USAGE, type Price, type TokenUsage } from '#catalogue/price.ts';
import type { Upstream } from '#catalogue/catalogue.ts';
import type { ChatCall } from '#gateway/call/call.ts';
import { ceilingFor, type OutputLimit, outputLimitOf } from '#gateway/usage/hold-request.ts';
import type { Ending, Hold } from '#gateway/call/lane.ts';
import type { OwnCount } from '#gateway/usage/generated.ts';
import { NO_USAGE, usageOfPart, usageTaken } from '#gateway/usage/usage-report.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { Mode } from '#kernel/values/ids.ts';
import { type Micros, ZERO_MICROS } from '#kernel/values/micros.ts';
import type { UsageReport } from '#providers/port/completion.ts';

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
 * What a picture counts if its provider has not said it: as Gemini bills one of 1,024 pixels. An image costs most of its call, and would
 * be free for a caller who leaves once they have it.
 */
const TOKENS_PER_PICTURE = 1_290;

/** Our own count of a call: the estimated prompt, and what was generated, which is never more than the limit that was sent. */
function usageEstimated(call: ChatCall, { textTokens, pictures }: OwnCount, tokensMax: number): TokenUsage {
  const imageOutputTokens = Math.min(pictures * TOKENS_PER_PICTURE, tokensMax);
  const completionTokens = Math.min(textTokens + imageOutputTokens, tokensMax);
  const usage = { ...NO_USAGE, promptTokens: call.prompt.tokensEstimated, completionTokens };
  return imageOutputTokens === 0 ? usage : { ...usage, rare: { ...NO_RARE_USAGE, imageOutputTokens } };
}

/** All that is known of what the provider generated. */
interface Generated {
  /** Who generated it. Its price is charged (CC-16). */
  readonly upstream: Upstream;
  readonly report: UsageReport | undefined;
  /** The report tells of all that was generated. If it is false, the provider went on, or had not come to its end. */
  readonly isReportLast: boolean;
  /** The provider has said why it ended. */
  readonly isFinished: boolean;
  /** Returns our own count of what was generated. It is called only if the report does not tell all. */
  readonly count: () => OwnCount;
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
  {
    upstream: { price },
    report,
    isReportLast,
    isFinished,
    count,
    isPastLimit,
    limit = outputLimitOf({ call, granted }),
  }: Generated,
): Ending {
  assert(
    call.upstreams[0].price === price || call.upstreams.some((one) => one.price.priceId === price.priceId),
    'a call is charged by a price that its hold was sized by',
  );
  const counted = (): OwnCount => (isPastLimit ? { textTokens: limit.tokens, pictures: 0 } : count());
  const own = (): TokenUsage => usageEstimated(call, counted(), limit.tokens);
  const { usage, isEstimated, isClamped } = isReportLast
    ? usageTaken(report, own, limit.tokens)
    : usageOfPart(report, own(), { isFinished, outputTokensMax: limit.tokens });
  const isAboveBounds = usage.promptTokens > call.prompt.tokensMax || usage.completionTokens > limit.tokens;
  const used = report?.isUnbilled === true ? ZERO_MICROS : chargeOf(price, usage);
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
