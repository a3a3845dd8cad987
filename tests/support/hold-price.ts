import { createTokenCounter } from '../../packages/service/src/gateway/usage/token-counter.ts';
import { estimatedPromptOf, sentBytesOf } from './prompt-size.ts';

// The hold of a call on the catalogue of `catalogueAt`, calculated in integers independently of the service's code:
// input costs 1 micro a token, output 4, plus a margin of a tenth. A prompt has at most a token per byte sent plus 512.

const PROMPT_OVERHEAD_TOKENS = 512n;
const INPUT_MICROS = 1n;
const OUTPUT_MICROS = 4n;

/** The most that a call of this body can cost when `outputTokens` may be generated in all. */
export function holdFor(body: string, outputTokens: number): number {
  const prompt = (BigInt(sentBytesOf(body)) + PROMPT_OVERHEAD_TOKENS) * INPUT_MICROS;
  return withMargin(prompt + BigInt(outputTokens) * OUTPUT_MICROS);
}

/** The most output tokens whose hold is within `amount`, found by trying. Undefined if even no output costs too much. */
export function outputAffordedBy(amount: number, body: string, outputTokensMax: number): number | undefined {
  for (let tokens = outputTokensMax; tokens >= 0; tokens -= 1) {
    if (holdFor(body, tokens) <= amount) return tokens;
  }
  return undefined;
}

/** How much of what is left a call gets on hold: at most three quarters, unless its smallest hold is more (WA-13). */
export function shareOf(left: number, least: number): number {
  return Math.max(least, left - Math.floor(left / 4));
}

/** The smallest amount of which a call gets `hold`. */
export function leftFor(hold: number): number {
  let left = hold;
  while (shareOf(left, 0) < hold) left += 1;
  return left;
}

/** The charge of an abandoned stream: a token for every four bytes of its texts, and our own count of what was generated (CC-11). */
export function estimatedCharge(body: string, generated: string): number {
  const prompt = BigInt(estimatedPromptOf(body));
  const counter = createTokenCounter('o200k');
  counter.add(generated);
  const output = BigInt(counter.tokens());
  return withMargin(prompt * INPUT_MICROS + output * OUTPUT_MICROS);
}

function withMargin(micros: bigint): number {
  return Number((micros * 11n + 9n) / 10n);
}
