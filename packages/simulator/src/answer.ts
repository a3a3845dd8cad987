import { randomUUID } from 'node:crypto';
import type { ChatRequest } from './chat-request.ts';
import { echoOf, writeProse } from './prose.ts';
import { instanceOf } from './schema-instance.ts';
import { countTokens, cutToTokens } from './tokens.ts';
import { fitToolCalls, planToolCalls, type ToolCall } from './tool-call.ts';

/** One of the answers that a request asks for. */
export interface Choice {
  readonly index: number;
  /** The content of the answer. It is null if the answer is tool calls. */
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** The reason for the end of the answer. It is null if the answer was cut off. */
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | null;
}

/** Token counts of the whole request. `cachedTokens` are part of the prompt, `reasoningTokens` part of the completion. */
export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/** A complete answer, composed before its first byte is sent. Its usage is the same whether it is streamed or not. */
export interface Answer {
  readonly id: string;
  readonly createdSeconds: number;
  readonly model: string;
  readonly choices: readonly Choice[];
  readonly usage: Usage;
  readonly logprobAlternatives: number | undefined;
}

/** What a model does besides answering: it reasons first, and finds part of the prompt in its cache. */
export interface Habits {
  /** Hidden tokens before each choice. They count as completion tokens, within the same limit. */
  readonly reasoningTokens: number;
  /** The share of the prompt that counts as cached, 0 to 1. */
  readonly cachedShare: number;
}

/** Composes an answer. The same request with the same habits always has the same choices and the same usage. */
export function composeAnswer(request: ChatRequest, habits: Habits): Answer {
  const limit = request.completionTokensMax ?? Number.MAX_SAFE_INTEGER;
  const reasoningTokens = Math.min(habits.reasoningTokens, limit);
  const composed = composeChoices(request, limit - reasoningTokens);
  const tokens = composed.map((choice) => choice.tokens + reasoningTokens);
  return {
    id: `chatcmpl-${randomUUID().replaceAll('-', '')}`,
    createdSeconds: Math.floor(Date.now() / 1000),
    model: request.model,
    choices: composed.map(({ choice }) => choice),
    usage: {
      promptTokens: request.promptTokens,
      cachedTokens: Math.floor(request.promptTokens * habits.cachedShare),
      completionTokens: tokens.reduce((sum, count) => sum + count, 0),
      reasoningTokens: reasoningTokens * composed.length,
    },
    logprobAlternatives: request.logprobAlternatives,
  };
}

interface ComposedChoice {
  readonly choice: Choice;
  readonly tokens: number;
}

/** Composes all choices. Tool calls and JSON are the same in each; prose differs, so that choices can be told apart. */
function composeChoices(request: ChatRequest, tokensMax: number): readonly ComposedChoice[] {
  const indexes = Array.from({ length: request.choiceCount }, (_, index) => index);
  const planned = planToolCalls(request);
  if (planned.length === 0) {
    const fixed = writeJson(request);
    return indexes.map((index) =>
      composeText(request, { index, tokensMax, text: fixed ?? writeProse(request.messages, index) }),
    );
  }
  return indexes.map((index) => {
    const { calls, tokens, isCut } = fitToolCalls(planned, tokensMax);
    return {
      choice: { index, content: null, toolCalls: calls, finishReason: isCut ? 'length' : 'tool_calls' },
      tokens,
    };
  });
}

/** A stop text ends the answer just before it. The token limit cuts the answer if it is reached earlier. */
function composeText(
  { stopTexts }: ChatRequest,
  { index, tokensMax, text }: { readonly index: number; readonly tokensMax: number; readonly text: string },
): ComposedChoice {
  const ends = stopTexts.map((stop) => text.indexOf(stop)).filter((end) => end >= 0);
  const stopped = text.slice(0, Math.min(text.length, ...ends));
  const content = cutToTokens(stopped, tokensMax);
  const finishReason = content.length < stopped.length ? 'length' : 'stop';
  return { choice: { index, content, toolCalls: [], finishReason }, tokens: countTokens(content) };
}

/** The answer as JSON, or undefined if the request allows prose. */
function writeJson({ format, messages }: ChatRequest): string | undefined {
  if (format.type === 'text') return undefined;
  if (format.type === 'json_schema') return JSON.stringify(instanceOf(format.schema));
  return JSON.stringify({ answer: 'Hello from the built-in simulator!', echo: echoOf(messages) });
}
