import type { ChatCall } from '#gateway/call/call.ts';
import { outputTokensWithin } from '#gateway/usage/hold-request.ts';
import type { Hold } from '#gateway/call/lane.ts';
import type { Mode } from '#kernel/ids.ts';

/** What a hold pays for, over all choices: what the provider was told not to exceed (WA-07). */
export interface OutputLimit {
  readonly tokens: number;
  /** No answer of so many tokens has more bytes. */
  readonly bytesMax: number;
}

/**
 * Without the model's own tokenizer only bytes can be counted, so the bound must be one that no honest answer reaches:
 * it would charge a whole hold for a part of it. Prose has about four bytes a token, a CJK character three in one token
 * or two; what packs most into a token is a run of spaces, dashes or line ends, of which vocabularies have long ones.
 */
const BYTES_PER_TOKEN_MAX = 128;
/** For what rides along and is no output: citations, sealed reasoning, the same reasoning under a second name. */
const BYTES_BESIDE_MAX = 16 * 1024;

export function outputLimitOf({ call, granted }: Pick<Hold<Mode>, 'call' | 'granted'>): OutputLimit {
  return outputLimitFor(call, outputTokensWithin(call, granted));
}

/** The same where it is known already what each choice was limited to. */
export function outputLimitFor({ choices }: ChatCall, outputTokens: number): OutputLimit {
  const tokens = outputTokens * choices;
  return { tokens, bytesMax: tokens * BYTES_PER_TOKEN_MAX + BYTES_BESIDE_MAX };
}
