// What a call on the catalogue of `catalogueAt` holds, worked out in whole numbers apart from the service's own code:
// input 1 micro a token, output 4, a tenth of margin on top. A prompt has at most its bytes and 512 tokens.

const PROMPT_OVERHEAD_TOKENS = 512n;
const INPUT_MICROS = 1n;
const OUTPUT_MICROS = 4n;

/** The most that a call of this body can cost when `outputTokens` may be generated in all. */
export function holdFor(body: string, outputTokens: number): number {
  const prompt = (BigInt(Buffer.byteLength(body)) + PROMPT_OVERHEAD_TOKENS) * INPUT_MICROS;
  return withMargin(prompt + BigInt(outputTokens) * OUTPUT_MICROS);
}

/** The most output tokens whose hold is within `amount`, found by trying; undefined where even none is too much. */
export function outputAffordedBy(amount: number, body: string, outputTokensMax: number): number | undefined {
  for (let tokens = outputTokensMax; tokens >= 0; tokens -= 1) {
    if (holdFor(body, tokens) <= amount) return tokens;
  }
  return undefined;
}

/** What an abandoned stream is charged: a token for each four bytes of its body, and of what was generated (CC-11). */
export function estimatedCharge(body: string, generated: string): number {
  const prompt = BigInt(Math.ceil(Buffer.byteLength(body) / 4));
  const output = BigInt(Math.ceil(Buffer.byteLength(generated) / 4));
  return withMargin(prompt * INPUT_MICROS + output * OUTPUT_MICROS);
}

function withMargin(micros: bigint): number {
  return Number((micros * 11n + 9n) / 10n);
}
