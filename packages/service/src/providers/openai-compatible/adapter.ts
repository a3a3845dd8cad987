import type { BufferedResponse, HttpClient, LargeBody } from '@purser/upstream-http/client.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { Completion, CompletionChoice } from '#providers/completion.ts';
import { wholeChoice } from '#providers/openai-compatible/answer-shape.ts';
import { closeCutJson } from '#providers/openai-compatible/cut-json.ts';
import { checkChoices, errorOfFrame, errorOfStatus } from '#providers/openai-compatible/error.ts';
import { ChunkStream } from '#providers/openai-compatible/chunk-stream.ts';
import { createKeyedEndpoint } from '#providers/openai-compatible/keyed-endpoint.ts';
import { toRequest } from '#providers/openai-compatible/to-request.ts';
import { usageReportOf } from '#providers/openai-compatible/usage.ts';
import { ANSWER_BYTES_MAX, type Provider, UpstreamError } from '#providers/provider.ts';
import { upstreamFailureOf } from '#providers/request-failure.ts';

interface AdapterOptions {
  readonly http: HttpClient;
  /** Up to and including the version, as in `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly key: KeySource | undefined;
}

/** A provider that speaks the compatible chat-completions format. */
export function createOpenAiCompatible({ http, baseUrl, key }: AdapterOptions): Provider {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/chat/completions`);
  // Built from scratch, so that no header of the caller's request can reach the provider.
  const headers = {
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'purser/1',
  };

  // One endpoint for each `accept`, so that the head of the request is built once and not for each call.
  const endpoint = (accept: string) =>
    createKeyedEndpoint({ http, url, headers: { ...headers, accept }, key, keyHeader: undefined });
  const plain = endpoint('application/json');
  const streamed = endpoint('text/event-stream');

  return {
    complete: async (call) => {
      const body = toRequest(call, false);
      const limits = { timeoutMs: call.timeoutMs, bytesMax: ANSWER_BYTES_MAX };
      try {
        const at = plain();
        const response = await (at instanceof Promise ? await at : at).postBuffered(body, limits);
        const { status, text, large } = response;
        if (text === undefined) throw errorOfStatus(status);
        return large === undefined ? answerOf(response, text) : await largeAnswerOf(response, text, large);
      } catch (fault) {
        throw upstreamFailureOf(fault);
      }
    },
    stream: async (call, signal) => {
      const body = toRequest(call, true);
      try {
        const at = streamed();
        const response = await (at instanceof Promise ? await at : at).postStreamed(body, {
          silenceMsMax: call.timeoutMs,
          signal,
        });
        if (response.status === 200) return new ChunkStream(response);
        response.discard(); // The body is not read: it may hold anything.
        throw errorOfStatus(response.status);
      } catch (fault) {
        throw upstreamFailureOf(fault);
      }
    },
  };
}

function answerOf({ isCut }: BufferedResponse, text: string): Completion {
  return isCut ? cutCompletionOf(parseJson(closeCutJson(text))) : completionOf(parseJson(text));
}

/** A large answer is read while no other one is, and keeps its place until the gateway has made the caller's answer of it. */
async function largeAnswerOf(response: BufferedResponse, text: string, large: LargeBody): Promise<Completion> {
  try {
    await large.nextStep();
    return { ...answerOf(response, text), large };
  } catch (fault) {
    large.leave();
    throw fault;
  }
}

/** Reads a whole completion. Throws the error that a provider may send in its place. */
function completionOf(answer: unknown): Completion {
  if (!isJsonObject(answer)) throw new UpstreamError('malformed', 'The provider did not answer with JSON.');
  // Some providers send errors with status 200.
  if (isJsonObject(answer['error'])) throw errorOfFrame(answer['error']);
  const { choices, usage } = answer;
  if (!Array.isArray(choices) || choices.length === 0) throw notCompletion();
  checkChoices(choices);
  return { choices: choices.map(choiceOf), usage: usageReportOf(usage), extra: answer };
}

/**
 * What had arrived of an answer that is too large. The provider bills it, so it is delivered as far as it came, like any answer that
 * reached its limit (CC-11).
 */
function cutCompletionOf(answer: unknown): Completion {
  const choices = isJsonObject(answer) && Array.isArray(answer['choices']) ? answer['choices'] : [];
  const begun = choices.filter((choice) => isJsonObject(choice) && isJsonObject(choice['message']));
  const cut = begun.map((choice, place) => {
    const isWhole = place < begun.length - 1;
    return isWhole ? choice : { ...choice, logprobs: null, finish_reason: 'length' };
  });
  return completionOf(isJsonObject(answer) ? { ...answer, choices: cut } : answer);
}

function choiceOf(choice: JsonObject, place: number): CompletionChoice {
  const { message, finish_reason: reason } = choice;
  if (!isJsonObject(message) || typeof reason !== 'string' || reason === '') throw notCompletion();
  return wholeChoice(choice, place, message);
}

function notCompletion(): UpstreamError {
  return new UpstreamError('malformed', 'The provider did not answer with a completion.');
}
