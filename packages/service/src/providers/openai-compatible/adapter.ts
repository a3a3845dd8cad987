import type { BufferedResponse, HttpClient, LargeBody } from '@purser/upstream-http/client.ts';
import { isJsonObject, type JsonObject, parseJson } from '#kernel/json.ts';
import type { Completion } from '#providers/completion.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { isFinished, wholeChoice } from '#providers/openai-compatible/answer-shape.ts';
import { closeCutJson } from '#providers/openai-compatible/cut-json.ts';
import { checkChoices, checkForError, errorOfResponse } from '#providers/openai-compatible/error.ts';
import { ChunkStream } from '#providers/openai-compatible/chunk-stream.ts';
import { createKeyedEndpoints } from '#providers/openai-compatible/keyed-endpoints.ts';
import { saysAnything } from '#providers/openai-compatible/missing-reasons.ts';
import { createToRequest, type ToRequest } from '#providers/openai-compatible/to-request.ts';
import { reportIn } from '#providers/openai-compatible/usage.ts';
import { ANSWER_BYTES_MAX, type Provider, type ProviderCall, UpstreamError } from '#providers/provider.ts';
import { upstreamFailureOf } from '#providers/request-failure.ts';

const UNAUTHORIZED = 401;

interface AdapterOptions {
  readonly http: HttpClient;
  /** Where calls of a model go. */
  readonly urlOf: (providerModel: string) => URL;
  readonly key: KeySource | undefined;
  /** The header that holds the key alone. If it is undefined, the key is sent in `authorization`, as a token. */
  readonly keyHeader?: string | undefined;
  /** The further headers, which are the same for each call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly toRequest?: ToRequest | undefined;
}

/** A provider that speaks the compatible chat-completions format. */
export function createOpenAiCompatible(options: AdapterOptions): Provider {
  const { toRequest = createToRequest() } = options;
  // Built from scratch, so that no header of the caller's request can reach the provider.
  const headers = {
    ...options.headers,
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'purser/1',
  };

  // One for each `accept`, so that the head of the request is built once and not for each call.
  const plain = createKeyedEndpoints({ ...options, headers: { ...headers, accept: 'application/json' } });
  const streamed = createKeyedEndpoints({ ...options, headers: { ...headers, accept: 'text/event-stream' } });

  return {
    complete: async (call) => {
      const body = toRequest(call, false);
      const limits = { timeoutMs: call.timeoutMs, bytesMax: ANSWER_BYTES_MAX, headers: call.headers };
      try {
        const { postBuffered } = await plain.endpointOf(call.providerModel);
        const response = await postBuffered(body, limits);
        const { status, text, large } = response;
        if (status === UNAUTHORIZED) plain.refused();
        if (text === undefined) throw errorOfResponse(status, response.error, call.request);
        const limit = outputTokensOf(call);
        return large === undefined
          ? answerOf(response, text, limit)
          : await largeAnswerOf(response, { text, limit, large });
      } catch (fault) {
        throw upstreamFailureOf(fault);
      }
    },
    stream: async (call, signal) => {
      const body = toRequest(call, true);
      try {
        const { postStreamed } = await streamed.endpointOf(call.providerModel);
        const response = await postStreamed(body, { silenceMsMax: call.timeoutMs, signal, headers: call.headers });
        if (response.status === 200) return new ChunkStream(response, outputTokensOf(call), choicesOf(call));
        if (response.status === UNAUTHORIZED) streamed.refused();
        throw errorOfResponse(response.status, await response.readError(), call.request);
      } catch (fault) {
        throw upstreamFailureOf(fault);
      }
    },
  };
}

/** The limit that is sent, over all choices. */
function outputTokensOf(call: ProviderCall): number {
  return call.outputTokens * choicesOf(call);
}

function choicesOf({ request }: ProviderCall): number {
  return Number(request['n'] ?? 1);
}

function answerOf({ isCut }: BufferedResponse, text: string, limit: number): Completion {
  return isCut ? cutCompletionOf(parseJson(closeCutJson(text)), limit) : completionOf(parseJson(text), limit);
}

/** A large answer is read while no other one is, and keeps its place until the gateway has made the caller's answer of it. */
async function largeAnswerOf(
  response: BufferedResponse,
  { text, limit, large }: { readonly text: string; readonly limit: number; readonly large: LargeBody },
): Promise<Completion> {
  try {
    await large.nextStep();
    return { ...answerOf(response, text, limit), large };
  } catch (fault) {
    large.leave();
    throw fault;
  }
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
