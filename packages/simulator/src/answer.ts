import { randomUUID } from 'node:crypto';
import type { ChatRequest } from './chat-request.ts';
import { echoOf, writeProse } from './prose.ts';
import { instanceOf } from './schema-instance.ts';
import { countTokens, cutToTokens } from './tokens.ts';
import { fitToolCalls, planToolCalls, type ToolCall } from './tool-call.ts';

export interface Choice {
  readonly index: number;
  /** Null when the answer is tool calls. */
  readonly content: string | null;
  readonly toolCalls: readonly ToolCall[];
  /** Null when the answer was broken off. */
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | null;
}

export interface Usage {
  readonly promptTokens: number;
  readonly cachedTokens: number;
  readonly completionTokens: number;
  readonly reasoningTokens: number;
}

/** One whole answer, made before the first byte of it is sent. */
export interface Answer {
  readonly id: string;
  readonly createdSeconds: number;
  readonly model: string;
  readonly choices: readonly Choice[];
  readonly usage: Usage;
  readonly logprobAlternatives: number | undefined;
}

/** What a model does besides answering: it thinks first, and it remembers part of the prompt. */
export interface Habits {
  /** Hidden tokens before each choice, counted as completion and held to the same limit. */
  readonly reasoningTokens: number;
  /** The part of the prompt that counts as cached, 0 to 1. */
  readonly cachedShare: number;
}

/** Answers the request. The same request with the same habits has the same choices and the same usage. */
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

/** A stop text ends the answer just before it; the token limit, if it comes first, cuts it there. */
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

/** The answer as JSON, or undefined when prose will do. */
function writeJson({ format, messages }: ChatRequest): string | undefined {
  if (format.type === 'text') return undefined;
  if (format.type === 'json_schema') return JSON.stringify(instanceOf(format.schema));
  return JSON.stringify({ answer: 'Hello from the built-in simulator!', echo: echoOf(messages) });
}
