import { type Refusal, refuse } from '#kernel/refusal.ts';

/** An output limit above the most that can be had, in the vendor's words: Claude Code reads the number in them, and asks for that. */
export function overLimit(asked: number, most: number, model: string): Refusal<'BAD_REQUEST'> {
  const message = `max_tokens: ${asked} > ${most}, which is the maximum allowed number of output tokens for ${model}`;
  return refuse('BAD_REQUEST', message, { param: 'max_tokens' });
}
