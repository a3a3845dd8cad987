import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import { isFinished, wholeChoice } from '#providers/answers/choice-shape.ts';
import { createChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { checkChoices, checkForError } from '#providers/errors/errors.ts';
import { type Address, createJsonProvider } from '#providers/openai-compatible/json-provider.ts';
import { saysAnything } from '#providers/answers/missing-reasons.ts';
import { createToRequest, type ToRequest } from '#providers/openai-compatible/to-request.ts';
import { reportIn } from '#providers/answers/usage.ts';
import { type Provider, type ProviderCall, UpstreamError } from '#providers/port/provider.ts';

interface AdapterOptions extends Address {
  readonly toRequest?: ToRequest | undefined;
}

/** A provider that speaks the compatible chat-completions format. */
export function createOpenAiCompatible({ toRequest = createToRequest(), ...address }: AdapterOptions): Provider {
  return createJsonProvider(address, {
    toRequest,
    completionOf: (answer, call) => completionOf(answer, outputTokensOf(call)),
    cutCompletionOf: (answer, call) => cutCompletionOf(answer, outputTokensOf(call)),
    readerOf: (call) => createChunkReader(outputTokensOf(call), choicesOf(call)),
  });
}

/** The limit that is sent, over all choices. */
function outputTokensOf(call: ProviderCall): number {
  return call.outputTokens * choicesOf(call);
}

function choicesOf({ request }: ProviderCall): number {
  return Number(request['n'] ?? 1);
}

/** Reads a whole completion. Throws the error that a provider may send in its place. */
function completionOf(answer: unknown, limit: number): Completion {
  checkForError(answer); // Some providers send errors with status 200.
  if (!isJsonObject(answer)) throw new UpstreamError('malformed', 'The provider did not answer with JSON.');
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0) throw notCompletion();
  checkChoices(choices);
  // An answer without a reason to finish is whole all the same if it says anything: the provider bills it (CC-11).
  if (!choices.every(isFinished) && !choices.some(hasContent)) throw notCompletion();
  const report = reportIn(answer);
  const isAtLimit = (report?.counts.completion ?? 0) >= limit;
  const completed = choices.map((choice, place) => wholeChoice(choice, messageOf(choice), { place, isAtLimit }));
  return { choices: completed, usage: report, extra: answer };
}

/**
 * What had arrived of an answer that is too large. The provider bills it, so it is delivered as far as it came, like any answer that
 * reached its limit (CC-24).
 */
function cutCompletionOf(answer: unknown, limit: number): Completion {
  const choices = isJsonObject(answer) && Array.isArray(answer['choices']) ? answer['choices'] : [];
  const begun = choices.filter((choice) => isJsonObject(choice) && isJsonObject(choice['message']));
  const cut = begun.map((choice, place) => {
    const isWhole = place < begun.length - 1;
    return isWhole ? choice : { ...choice, logprobs: null, finish_reason: 'length' };
  });
  return completionOf(isJsonObject(answer) ? { ...answer, choices: cut } : answer, limit);
}

function messageOf({ message }: JsonObject): JsonObject {
  if (!isJsonObject(message)) throw notCompletion();
  return message;
}

function hasContent(choice: JsonObject): boolean {
  return saysAnything(messageOf(choice));
}

function notCompletion(): UpstreamError {
  return new UpstreamError('malformed', 'The provider did not answer with a completion.');
}
