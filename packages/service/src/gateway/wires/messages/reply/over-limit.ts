import type { LoweredCall } from '#gateway/call/wire.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';

/**
 * An output limit above the most that can be had, in the vendor's words: Claude Code reads the number in them, and asks for that. It
 * follows no number below 4,096 and shows the message, so that says when money is the reason.
 */
export function overLimit(call: LoweredCall, most: number): Refusal<'BAD_REQUEST'> {
  const { model, outputTokensAsked, outputTokensMax } = call;
  const words = `max_tokens: ${outputTokensAsked} > ${most}, which is the maximum allowed number of output tokens for ${model.id}`;
  const reason = most < outputTokensMax ? '. Balance, cap or budget pay for no more: top up, or ask for less' : '';
  return refuse('BAD_REQUEST', words + reason, { param: 'max_tokens' });
}
