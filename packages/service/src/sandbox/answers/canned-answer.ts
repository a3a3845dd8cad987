import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { instanceOf } from '@purser/simulator/schema-instance.ts';
import { CANNED, type Outcome } from '#sandbox/answers/outcomes.ts';

/** The time is 2026-01-01 UTC. It is fixed, so that tests of apps get the same answer every time. */
const CREATED = 1_767_225_600;

type FinishReason = Outcome['finishReason'];

interface CannedCall {
  readonly callId: string;
  readonly promptTokens: number;
  /** The answer is cut off at this length, as a provider would do. */
  readonly outputTokensMax: number;
  /** How many choices the request asks for. Each is the same. */
  readonly choices: number;
  /** The tools of the request. An outcome with a tool call calls the first function. */
  readonly tools: unknown;
  /** The `response_format` of the request. An answer in words becomes JSON if it asks for that. */
  readonly format: unknown;
}

/** Builds a buffered answer, in the form in which providers give theirs to the gateway. */
export function cannedCompletion(call: CannedCall, outcome: Outcome) {
  const { pieces, finishReason } = cut(call, outcome);
  const text = pieces.join('');
  const toolCalls = outcome.kind === 'tool-call' ? { tool_calls: [toolCallOf(call, text)] } : {};
  const content = outcome.kind === 'content' ? text : null;
  const refusal = outcome.kind === 'refusal' ? text : null;
  const message = { role: 'assistant', content, refusal, ...toolCalls };
  return {
    choices: indexesOf(call).map((index) => ({ index, message, logprobs: null, finish_reason: finishReason })),
    usage: outcome.reportsUsage ? usageOf(call, pieces) : undefined,
    extra: headOf(call),
  };
}

/** Builds the chunks of a streamed answer, up to the point where the outcome makes it fail. */
export function cannedChunks(call: CannedCall, outcome: Outcome) {
  const { pieces, finishReason } = cut(call, outcome);
  const extra = headOf(call);
  /** A chunk for each choice: they come in turn, as providers send them. */
  const chunks = (delta: JsonObject, reason: FinishReason | null) =>
    indexesOf(call).map((index) => ({
      choices: [{ index, delta, logprobs: null, finish_reason: reason }],
      usage: undefined,
      extra,
    }));
  const isToolCall = outcome.kind === 'tool-call';
  const opening = isToolCall
    ? { role: 'assistant', content: null, refusal: null, tool_calls: [{ index: 0, ...toolCallOf(call, '') }] }
    : { role: 'assistant', content: '', refusal: null };
  const said = pieces.flatMap((piece) => chunks(deltaOf(outcome.kind, piece), null));
  const failsAt = outcome.failure?.at;
  if (failsAt === 'middle') return [...chunks(opening, null), ...said.slice(0, Math.ceil(said.length / 2))];
  if (failsAt === 'end') return [...chunks(opening, null), ...said];
  return [
    ...chunks(opening, null),
    ...said,
    ...chunks({}, finishReason),
    ...(outcome.reportsUsage ? [{ choices: [], usage: usageOf(call, pieces), extra }] : []),
  ];
}

function indexesOf({ choices }: CannedCall): readonly number[] {
  return Array.from({ length: choices }, (_, index) => index);
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
  call: CannedCall,
  outcome: Outcome,
): { readonly pieces: readonly string[]; readonly finishReason: FinishReason } {
  const whole = piecesOf(call, outcome);
  const pieces = whole.slice(0, call.outputTokensMax);
  return { pieces, finishReason: pieces.length < whole.length ? 'length' : outcome.finishReason };
}

const JSON_PIECE = /.{1,4}/gsu;
/** What a request gets that asks for JSON without a schema. */
const JSON_ANSWER = { sandbox: true };

/** The pieces of the outcome. Those of the canned answer are JSON if the request asks for that. */
function piecesOf({ format }: CannedCall, { pieces }: Outcome): readonly string[] {
  if (pieces !== CANNED.pieces || !isJsonObject(format)) return pieces;
  const { type, json_schema: named } = format;
  if (type !== 'json_object' && type !== 'json_schema') return pieces;
  const instance = isJsonObject(named) ? instanceOf(named['schema']) : JSON_ANSWER;
  return JSON.stringify(instance).match(JSON_PIECE) ?? [];
}

function headOf({ callId }: CannedCall): JsonObject {
  return { id: `chatcmpl-${callId}`, created: CREATED };
}

/** One piece counts as one token, so the expected charge of a sandbox call is easy to compute by hand. */
function usageOf({ promptTokens: prompt, choices }: CannedCall, { length }: readonly string[]) {
  const completion = choices * length;
  const counts = { prompt, completion, total: prompt + completion };
  return { counts, extra: {}, isContradictory: false };
}
