import type { ChatCall } from '#gateway/call/call.ts';
import { outputTokensWithin } from '#gateway/usage/hold-request.ts';
import type { Hold } from '#gateway/call/lane.ts';
import type { Mode } from '#kernel/ids.ts';

/** What a hold pays for, over all choices. The provider was told not to exceed it (WA-07). */
export interface OutputLimit {
  readonly tokens: number;
  /** No honest answer of that many tokens has more bytes. */
  readonly bytesMax: number;
}

/**
 * Without the model's own tokenizer we can only count bytes. The bound must be one that no honest answer reaches, because
 * reaching it charges the whole hold. Prose has about four bytes a token, and a CJK character three bytes in one or two
 * tokens. Runs of spaces, dashes or line ends pack most into a token: vocabularies have long ones.
 */
const BYTES_PER_TOKEN_MAX = 128;
/** For data beside the output: citations, sealed reasoning, the same reasoning under a second name. */
const BYTES_BESIDE_MAX = 16 * 1024;

export function outputLimitOf({ call, granted }: Pick<Hold<Mode>, 'call' | 'granted'>): OutputLimit {
  return outputLimitFor(call, outputTokensWithin(call, granted));
}

/** The same for a known limit of each choice. */
export function outputLimitFor({ choices }: ChatCall, outputTokens: number): OutputLimit {
  const tokens = outputTokens * choices;
  return { tokens, bytesMax: tokens * BYTES_PER_TOKEN_MAX + BYTES_BESIDE_MAX };
}
