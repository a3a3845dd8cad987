import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import { meaningOfReason } from '#providers/answers/finish-reasons.ts';
import { wholeChoice } from '#providers/answers/choice-shape.ts';
import { checkForError, errorOfFrame } from '#providers/errors/errors.ts';
import { saysAnything } from '#providers/answers/missing-reasons.ts';
import {
  callOf,
  isCall,
  outputOf,
  reasoningDetails,
  saidIn,
  searchesIn,
  thoughtsIn,
} from '#providers/openai-responses/output-items.ts';
import { usageOfResponse } from '#providers/openai-responses/usage.ts';
import { visibleResponse } from '#providers/openai-responses/visible-items.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** Reads a whole response as a completion. `isNative`: its caller gets the response itself as well. */
export function completionOf(answer: unknown, isNative: boolean): Completion {
  checkForError(answer); // Some providers send errors with status 200.
  if (!isJsonObject(answer)) throw new UpstreamError('malformed', 'The provider did not answer with JSON.');
  const reason = reasonOf(answer);
  const output = outputOf(answer);
  const message = messageOf(output);
  // One without a status is whole if it says anything, because the provider bills it (CC-11).
  const isWhole = reason !== undefined && Array.isArray(answer['output']);
  if (!isWhole && !saysAnything(message)) throw notResponse();
  const { id, created_at: created } = answer;
  const choice = { index: 0, message, logprobs: null, finish_reason: reason ?? 'stop' };
  return {
    choices: [wholeChoice(choice, message, { place: 0, isAtLimit: false })],
    usage: usageOfResponse(answer, searchesIn(output)),
    extra: { id, created },
    ...(isNative && { native: visibleResponse(answer) }),
  };
}

/** What had arrived of a response that is too large: it is delivered as far as it came (CC-24). */
export function cutCompletionOf(answer: unknown, isNative: boolean): Completion {
  if (!isJsonObject(answer) || !saysAnything(messageOf(outputOf(answer)))) throw notResponse();
  const cut = { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  return completionOf({ ...answer, ...cut }, isNative);
}

function notResponse(): UpstreamError {
  return new UpstreamError('malformed', 'The provider did not answer with a response.');
}

/** All that an output says, as one message. */
function messageOf(output: readonly JsonObject[]): JsonObject {
  let [content, refusal] = ['', ''];
  const thoughts: string[] = [];
  const annotations: JsonObject[] = [];
  const details: JsonObject[] = [];
  for (const [place, item] of output.entries()) {
    if (item['type'] === 'reasoning') {
      const { summary, text } = thoughtsIn(item);
      thoughts.push(text === '' ? summary : text);
      details.push(...reasoningDetails(place, item));
    } else if (item['type'] === 'message') {
      const said = saidIn(item, content.length);
      content += said.content;
      refusal += said.refusal;
      for (const annotation of said.annotations) annotations.push(annotation);
    }
  }
  const calls = output.filter(isCall).map(callOf);
  const thought = thoughts.filter((text) => text !== '').join('\n\n');
  return {
    role: 'assistant',
    content: content === '' ? null : content,
    refusal: refusal === '' ? null : refusal,
    ...(thought !== '' && { reasoning_content: thought }),
    ...(details.length > 0 && { reasoning_details: details }),
    ...(calls.length > 0 && { tool_calls: calls }),
    ...(annotations.length > 0 && { annotations }),
  };
}

/**
 * Why a response ended, in a word that `wholeChoice` knows. Undefined if it does not say. Throws the failure that it tells of: such a
 * response is free (CC-11).
 */
export function reasonOf(response: JsonObject): string | undefined {
  const { status, error, incomplete_details: details } = response;
  if (status === 'failed' || (isJsonObject(error) && Object.keys(error).length > 0))
    throw errorOfFrame(isJsonObject(error) ? { error } : {});
  const reason = isJsonObject(details) && typeof details['reason'] === 'string' ? details['reason'] : undefined;
  const meaning = reason === undefined ? undefined : meaningOfReason(reason);
  if (status === 'cancelled' || meaning === 'failed')
    throw new UpstreamError('cut', 'The provider broke off its response.');
  if (status === 'incomplete' || meaning !== undefined) return meaning ?? 'length';
  return outputOf(response).some(isCall) ? 'tool_calls' : status === 'completed' ? 'stop' : undefined;
}
