import type { Answer, Choice, Usage } from './answer.ts';
import { logprobsOf } from './logprobs.ts';
import type { ToolCall } from './tool-call.ts';

const FINGERPRINT = 'fp_simulator';
const PIECE = /\s*\S{1,16}|\s+$/gu; // A word with the space before it. Text without spaces is cut after 16 characters.

/** Splits text into pieces as a model would stream it. Joined, the pieces are exactly the text again. */
export function piecesOf(text: string): readonly string[] {
  return text.match(PIECE) ?? [];
}

/** The body of a buffered answer. Without `usage`, the field is left out, as some providers leave it out. */
export function completionBody(answer: Answer, usage: Usage | undefined): object {
  return {
    ...headOf(answer, 'chat.completion'),
    choices: answer.choices.map((choice) => ({
      index: choice.index,
      message: messageOf(choice),
      logprobs: logprobsFor(answer, choice, piecesOf(choice.content ?? '')),
      finish_reason: choice.finishReason,
    })),
    ...(usage === undefined ? {} : { usage: usageBody(usage) }),
  };
}

/** What one chunk adds to a choice. Chunks are built from these one by one, because a long answer has many of them. */
export interface Delta {
  readonly choice: Choice;
  readonly delta: object;
  /** The text that it adds; null if it adds something else. */
  readonly piece: string | null;
}

/** All deltas of all choices, in the order of the stream. The choices take turns, so that clients must tell them apart. */
export function deltasOf(answer: Answer): readonly Delta[] {
  const turns = answer.choices.map(deltasOfChoice);
  const turnCount = Math.max(...turns.map((deltas) => deltas.length));
  const indexes = Array.from({ length: turnCount }, (_, index) => index);
  return indexes.flatMap((index) => turns.flatMap((deltas) => deltas[index] ?? []));
}

/** The chunk of one delta. With `hasUsageField`, it says `usage: null`, as the format requires before a usage chunk. */
export function deltaChunk(answer: Answer, { choice, delta, piece }: Delta, hasUsageField: boolean): object {
  const logprobs = piece === null ? null : logprobsFor(answer, choice, [piece]);
  const body = { index: choice.index, delta, logprobs, finish_reason: null };
  return chunkOf(answer, { choice: body, hasUsageField });
}

/** One chunk for each choice that says why it ended. */
export function finishChunks(answer: Answer, hasUsageField: boolean): readonly object[] {
  return answer.choices.map(({ index, finishReason }) => {
    const choice = { index, delta: {}, logprobs: null, finish_reason: finishReason };
    return chunkOf(answer, { choice, hasUsageField });
  });
}

/** The chunk with the usage of the whole request. The format requires it to have no choices. */
export function usageChunk(answer: Answer): object {
  return { ...headOf(answer, 'chat.completion.chunk'), choices: [], usage: usageBody(answer.usage) };
}

function headOf({ id, createdSeconds, model }: Answer, object: 'chat.completion' | 'chat.completion.chunk'): object {
  return { id, object, created: createdSeconds, model, system_fingerprint: FINGERPRINT };
}

function chunkOf(answer: Answer, { choice, hasUsageField }: { choice: object; hasUsageField: boolean }): object {
  const usage = hasUsageField ? { usage: null } : {};
  return { ...headOf(answer, 'chat.completion.chunk'), choices: [choice], ...usage };
}

function messageOf({ content, toolCalls }: Choice): object {
  const calls = toolCalls.map((call) => ({ id: call.id, type: 'function', function: nameAndArguments(call) }));
  return { role: 'assistant', content, refusal: null, ...(calls.length === 0 ? {} : { tool_calls: calls }) };
}

/** The deltas of one choice: the role first, as clients expect, then one piece at a time. */
function deltasOfChoice(choice: Choice): readonly Delta[] {
  const content = choice.content === null ? null : '';
  const opening = { choice, delta: { role: 'assistant', content, refusal: null }, piece: null };
  const words = piecesOf(choice.content ?? '').map((piece) => ({ choice, delta: { content: piece }, piece }));
  const calls = choice.toolCalls.flatMap((call, index) => {
    return callParts(call).map((part) => ({ choice, delta: { tool_calls: [{ index, ...part }] }, piece: null }));
  });
  return [opening, ...words, ...calls];
}

/** The parts of a streamed call: its id and name first, then its arguments in pieces. */
function callParts(call: ToolCall): readonly object[] {
  const opening = { id: call.id, type: 'function', function: { name: call.name, arguments: '' } };
  return [opening, ...piecesOf(call.arguments).map((piece) => ({ function: { arguments: piece } }))];
}

function nameAndArguments(call: ToolCall): object {
  return { name: call.name, arguments: call.arguments };
}

function logprobsFor(answer: Answer, choice: Choice, pieces: readonly string[]): object | null {
  if (answer.logprobAlternatives === undefined || choice.content === null) return null;
  return logprobsOf(pieces, answer.logprobAlternatives);
}

/** Usage in the form of the format. The details that do not apply here are zero rather than missing: clients read them. */
function usageBody(usage: Usage): object {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
