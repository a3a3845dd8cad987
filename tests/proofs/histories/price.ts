import type { ModelPrice, ReportedUsage } from './history-log.ts';

const SCALE = 1_000_000n * 10_000n;

/**
 * MO-06, WA-07: returns the tokens at their prices plus the margin on the sum, rounded up once to a whole micro. The
 * integers are exact.
 */
export function chargeOf(price: ModelPrice, usage: ReportedUsage): number {
  const tokens =
    BigInt(usage.prompt - usage.cached) * BigInt(price.input) +
    BigInt(usage.cached) * BigInt(price.cachedInput) +
    BigInt(usage.completion) * BigInt(price.output);
  return up(tokens, price);
}

/**
 * WA-07: returns the most that a call can cost. Every token is at least one byte, so the bytes of the body bound the
 * prompt.
 */
export function ceilingOf(price: ModelPrice, bodyBytes: number, outputTokens: number): number {
  const dearest = BigInt(Math.max(price.input, price.cachedInput));
  const prompt = BigInt(bodyBytes + price.promptOverhead) * dearest;
  return Math.max(2, up(prompt + BigInt(outputTokens) * BigInt(price.output), price));
}

function up(tokenMicros: bigint, { marginBasisPoints }: ModelPrice): number {
  const scaled = tokenMicros * BigInt(10_000 + marginBasisPoints);
  return Number((scaled + SCALE - 1n) / SCALE);
}

interface Counted {
  readonly bodyBytes: number;
  readonly promptTokens: number;
  readonly outputTokensMax: number;
}

/**
 * CC-11: returns our own count if the provider reported none: the prompt as estimated, and 0.255 of a token for each
 * small letter, at most the limit that its hold pays for (WA-07).
 */
export function ownCount(price: ModelPrice, call: Counted, held: number, generatedBytes: number): ReportedUsage {
  const counted = Math.ceil((generatedBytes * 255) / 1_000);
  return { prompt: call.promptTokens, cached: 0, completion: Math.min(counted, limitWithin(price, call, held)) };
}

/** The most output, up to the call's own limit, that a hold pays for. */
function limitWithin(price: ModelPrice, { bodyBytes, outputTokensMax }: Counted, held: number): number {
  let [least, most] = [0, outputTokensMax];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (ceilingOf(price, bodyBytes, middle) <= held) least = middle;
    else most = middle - 1;
  }
  return least;
}
