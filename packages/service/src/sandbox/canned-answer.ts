import type { JsonObject } from '#kernel/json.ts';

/** The answer of every sandbox call, in the pieces in which it is streamed (SB-02). One piece counts as one token. */
const PIECES = ['This', ' is', ' a', ' sandbox', ' answer', '.', ' No', ' provider', ' was', ' called', '.'] as const;
/** Fixed, so that the answer is the same whenever it is asked for: 2026-01-01 UTC. */
const CREATED = 1_767_225_600;

interface CannedCall {
  readonly callId: string;
  readonly promptTokens: number;
  /** The answer is cut there, as a provider would. */
  readonly outputTokensMax: number;
}

export function cannedCompletion(call: CannedCall): JsonObject {
  const { pieces, finishReason } = cut(call);
  return {
    id: `chatcmpl-${call.callId}`,
    object: 'chat.completion',
    created: CREATED,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: pieces.join(''), refusal: null },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    usage: usageOf(call, pieces),
  };
}

export function cannedChunks(call: CannedCall): readonly JsonObject[] {
  const { pieces, finishReason } = cut(call);
  const head = { id: `chatcmpl-${call.callId}`, object: 'chat.completion.chunk', created: CREATED };
  const chunk = (delta: JsonObject, reason: string | null): JsonObject => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  return [
    chunk({ role: 'assistant', content: '', refusal: null }, null),
    ...pieces.map((content) => chunk({ content }, null)),
    chunk({}, finishReason),
    { ...head, choices: [], usage: usageOf(call, pieces) },
  ];
}

function cut({ outputTokensMax }: CannedCall): { readonly pieces: readonly string[]; readonly finishReason: string } {
  const pieces = PIECES.slice(0, outputTokensMax);
  return { pieces, finishReason: pieces.length < PIECES.length ? 'length' : 'stop' };
}

function usageOf({ promptTokens }: CannedCall, pieces: readonly string[]): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: pieces.length,
    total_tokens: promptTokens + pieces.length,
  };
}
