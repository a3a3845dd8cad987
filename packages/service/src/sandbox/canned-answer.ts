import { isJsonObject, type JsonObject } from '#kernel/json.ts';
import type { Outcome } from '#sandbox/outcomes.ts';

/** 2026-01-01 UTC. Fixed, so that tests of apps get the same answer every time. */
const CREATED = 1_767_225_600;

interface CannedCall {
  readonly callId: string;
  readonly promptTokens: number;
  /** The answer is cut off at this length, as a provider would do. */
  readonly outputTokensMax: number;
  /** The tools of the request. An outcome with a tool call calls the first function. */
  readonly tools: unknown;
}

/** Builds the body of a buffered answer. */
export function cannedCompletion(call: CannedCall, outcome: Outcome): JsonObject {
  const { pieces, finishReason } = cut(call, outcome);
  const text = pieces.join('');
  const toolCalls = outcome.kind === 'tool-call' ? { tool_calls: [toolCallOf(call, text)] } : {};
  const content = outcome.kind === 'content' ? text : null;
  const refusal = outcome.kind === 'refusal' ? text : null;
  return {
    id: `chatcmpl-${call.callId}`,
    object: 'chat.completion',
    created: CREATED,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content, refusal, ...toolCalls },
        logprobs: null,
        finish_reason: finishReason,
      },
    ],
    ...(outcome.reportsUsage ? { usage: usageOf(call, pieces) } : {}),
  };
}

/** Builds the chunks of a streamed answer, up to the point where the outcome makes it fail. */
export function cannedChunks(call: CannedCall, outcome: Outcome): readonly JsonObject[] {
  const { pieces, finishReason } = cut(call, outcome);
  const head = { id: `chatcmpl-${call.callId}`, object: 'chat.completion.chunk', created: CREATED };
  const chunk = (delta: JsonObject, reason: string | null): JsonObject => ({
    ...head,
    choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }],
  });
  const isToolCall = outcome.kind === 'tool-call';
  const opening = isToolCall
    ? { role: 'assistant', content: null, refusal: null, tool_calls: [{ index: 0, ...toolCallOf(call, '') }] }
    : { role: 'assistant', content: '', refusal: null };
  const said = pieces.map((piece) => chunk(deltaOf(outcome.kind, piece), null));
  const failsAt = outcome.failure?.at;
  if (failsAt === 'middle') return [chunk(opening, null), ...said.slice(0, Math.ceil(said.length / 2))];
  if (failsAt === 'end') return [chunk(opening, null), ...said];
  return [
    chunk(opening, null),
    ...said,
    chunk({}, finishReason),
    ...(outcome.reportsUsage ? [{ ...head, choices: [], usage: usageOf(call, pieces) }] : []),
  ];
}

function deltaOf(kind: Outcome['kind'], piece: string): JsonObject {
  return kind === 'tool-call' ? { tool_calls: [{ index: 0, function: { arguments: piece } }] } : { [kind]: piece };
}

function toolCallOf({ callId, tools }: CannedCall, text: string): JsonObject {
  return { id: `call_${callId}`, type: 'function', function: { name: firstFunctionOf(tools), arguments: text } };
}

/** The name of the first function that the request offers. */
function firstFunctionOf(tools: unknown): unknown {
  const tool: unknown = Array.isArray(tools) ? tools[0] : undefined;
  return isJsonObject(tool) && isJsonObject(tool['function']) ? tool['function']['name'] : 'example';
}

/** Cuts the answer at the caller's limit. As with a provider, the finish reason is then `length`. */
function cut(
  { outputTokensMax }: CannedCall,
  outcome: Outcome,
): { readonly pieces: readonly string[]; readonly finishReason: string } {
  const pieces = outcome.pieces.slice(0, outputTokensMax);
  return { pieces, finishReason: pieces.length < outcome.pieces.length ? 'length' : outcome.finishReason };
}

/** One piece counts as one token, so the expected charge of a sandbox call is easy to compute by hand. */
function usageOf({ promptTokens }: CannedCall, pieces: readonly string[]): JsonObject {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: pieces.length,
    total_tokens: promptTokens + pieces.length,
  };
}
