import { isJsonObject, type JsonObject } from '#kernel/text/json.ts';
import { fieldsIn, wholeAnswer } from '#providers/anthropic/fit.ts';
import { reportOf } from '#providers/anthropic/usage.ts';
import { visibleMessage } from '#providers/anthropic/visible.ts';
import type { Completion, FinishReason } from '#providers/port/completion.ts';
import { meaningOfReason } from '#providers/answers/finish-reasons.ts';
import { isFinished, wholeChoice } from '#providers/answers/choice-shape.ts';
import { checkForError } from '#providers/errors/errors.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** Reads a whole message as a completion, beside which its caller gets the message itself. */
export function completionOf(answer: unknown): Completion {
  checkForError(answer); // Some servers send errors with status 200.
  if (!isJsonObject(answer) || !Array.isArray(answer['content'])) throw notMessage();
  const whole = wholeAnswer(answer);
  const blocks = whole['content'] as readonly JsonObject[];
  const message = messageOf(blocks);
  const reason = finishReasonOf(whole['stop_reason'], message['tool_calls'] !== undefined);
  const choice = { index: 0, message, logprobs: null, finish_reason: reason };
  return {
    choices: [wholeChoice(choice, message, { place: 0, isAtLimit: false })],
    usage: reportOf(fieldsIn(whole, 'usage')),
    extra: { id: answer['id'] },
    native: visibleMessage({ ...answer, stop_reason: whole['stop_reason'] }),
  };
}

/** What had arrived of a message that is too large: it is delivered as far as it came (CC-24). */
export function cutCompletionOf(answer: unknown): Completion {
  if (!isJsonObject(answer)) throw notMessage();
  return completionOf({ ...answer, stop_reason: 'max_tokens', stop_sequence: null, stop_details: null });
}

function notMessage(): UpstreamError {
  return new UpstreamError('malformed', 'The provider did not answer with a message.');
}

/** The reason to finish as the translation gives it. A failure is thrown, and never becomes "stop" (CC-11). */
export function finishReasonOf(word: unknown, hasCalls: boolean): FinishReason {
  const meaning = isFinished({ finish_reason: word }) ? meaningOfReason(String(word)) : 'failed';
  if (meaning === 'failed') throw new UpstreamError('cut', 'The provider broke off its response.');
  if (meaning === 'length' || meaning === 'content_filter') return meaning;
  // A word that is new here means at least that the answer has ended.
  return meaning === 'tool_calls' && hasCalls ? meaning : 'stop';
}

/** All that the blocks say, as one message. It is counted, and nobody is shown it. */
function messageOf(blocks: readonly JsonObject[]): JsonObject {
  const textOf = (name: string): string =>
    blocks.map((block) => (typeof block[name] === 'string' ? block[name] : '')).join('');
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => ({ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }));
  const [content, thinking] = [textOf('text'), textOf('thinking')];
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...(thinking !== '' && { reasoning_content: thinking }),
    ...(calls.length > 0 && { tool_calls: calls }),
  };
}
