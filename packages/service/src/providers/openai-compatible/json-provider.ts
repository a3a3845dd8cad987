import type { BufferedResponse, Endpoint, HttpClient, LargeBody } from '@purser/upstream-http/client.ts';
import { parseJson } from '#kernel/text/json.ts';
import type { Completion } from '#providers/port/completion.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import type { ChunkReader } from '#providers/openai-compatible/chunk-reader.ts';
import { ChunkStream } from '#providers/openai-compatible/chunk-stream.ts';
import { closeTruncatedJson } from '#providers/answers/truncated-json.ts';
import { errorOfResponse } from '#providers/errors/errors.ts';
import type { ToRequest } from '#providers/openai-compatible/to-request.ts';
import { ANSWER_BYTES_MAX, type Provider, type ProviderCall } from '#providers/port/provider.ts';
import { upstreamFailureOf } from '#providers/errors/request-failure.ts';

const UNAUTHORIZED = 401;

/** Where the calls of a provider go, and how. */
export interface Address {
  readonly http: HttpClient;
  /** Where calls of a model go. */
  readonly urlOf: (providerModel: string) => URL;
  readonly key: KeySource | undefined;
  /** The header that holds the key alone. If it is undefined, the key is sent in `authorization`, as a token. */
  readonly keyHeader?: string | undefined;
  /** The further headers, which are the same for each call. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

/** How calls and answers are written in one of the interfaces of OpenAI's format. */
export interface Interface {
  readonly toRequest: ToRequest;
  /** Reads a whole answer. Throws the error that a provider may send in its place. */
  readonly completionOf: (answer: unknown, call: ProviderCall) => Completion;
  /** Reads what had arrived of an answer that is too large. Its JSON was closed. */
  readonly cutCompletionOf: (answer: unknown, call: ProviderCall) => Completion;
  /** A reader for the chunks of one stream. */
  readonly readerOf: (call: ProviderCall) => ChunkReader;
  /** The failure behind another status than 200, for vendors with codes of their own. */
  readonly errorOf?: typeof errorOfResponse;
  /** Streams are binary frames, of which the reader gets each byte as one character. */
  readonly hasFrames?: boolean;
}

/** A provider that takes JSON and answers with JSON, or with events of JSON. */
export function createJsonProvider(address: Address, words: Interface): Provider {
  // Built from scratch, so that no header of the caller's request can reach the provider.
  const headers = {
    ...address.headers,
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'purser/1',
  };

  const { errorOf = errorOfResponse, hasFrames: isBinary = false } = words;
  const accept = isBinary ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  // One for each `accept`, so that the head of the request is built once and not for each call.
  const plain = createKeyedEndpoints({ ...address, headers: { ...headers, accept: 'application/json' } });
  const streamed = createKeyedEndpoints({ ...address, headers: { ...headers, accept } });

  return {
    complete: async (call) => {
      const body = words.toRequest(call, false);
      const limits = { timeoutMs: call.timeoutMs, bytesMax: ANSWER_BYTES_MAX, headers: call.headers };
      try {
        const endpoint = plain.endpointOf(call.providerModel);
        // Nearly every key is here: a promise is only waited for where there is one.
        const { postBuffered } = endpoint instanceof Promise ? await endpoint : endpoint;
        const response = await postBuffered(body, limits);
        const { status, text, large } = response;
        if (status === UNAUTHORIZED) plain.refused();
        if (text === undefined) throw errorOf(status, response.error, call.request);
        const answered = { response, text, call };
        return large === undefined ? readAnswer(words, answered) : await largeAnswerOf(large, words, answered);
      } catch (fault) {
        throw upstreamFailureOf(fault);
      }
    },
    stream: async (call, signal) => {
      const body = words.toRequest(call, true);
      try {
        const endpoint = streamed.endpointOf(call.providerModel);
        const { postStreamed } = endpoint instanceof Promise ? await endpoint : endpoint;
        const response = await postStreamed(body, {
          silenceMsMax: call.timeoutMs,
          signal,
          headers: call.headers,
          isBinary,
        });
        if (response.status === 200) return new ChunkStream(response, words.readerOf(call));
        if (response.status === UNAUTHORIZED) streamed.refused();
        throw errorOf(response.status, await response.readError(), call.request);
      } catch (fault) {
        throw upstreamFailureOf(fault);
      }
    },
  };
}

interface Answered {
  readonly response: BufferedResponse;
  readonly text: string;
  readonly call: ProviderCall;
}

function readAnswer(words: Interface, { response, text, call }: Answered): Completion {
  if (response.isCut) return words.cutCompletionOf(parseJson(closeTruncatedJson(text)), call);
  return words.completionOf(parseJson(text), call);
}

/** A large answer is read while no other one is, and keeps its place until the gateway has made the caller's answer of it. */
async function largeAnswerOf(large: LargeBody, words: Interface, answered: Answered): Promise<Completion> {
  try {
    await large.nextStep();
    return { ...readAnswer(words, answered), large };
  } catch (fault) {
    large.leave();
    throw fault;
  }
}

/** Heads that are kept for models with addresses of their own. An operator has far fewer. */
const ENDPOINTS_MAX = 1_000;

interface KeyedEndpointsOptions {
  readonly http: HttpClient;
  /** Where calls of a model go. */
  readonly urlOf: (providerModel: string) => URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly key: KeySource | undefined;
  /** The header of a key that is no token, which holds the key alone. If it is undefined, the key is sent in `authorization`, as a token. */
  readonly keyHeader?: string | undefined;
}

interface KeyedEndpoints {
  /** The endpoint of a model, whose head has the present key. */
  readonly endpointOf: (providerModel: string) => Endpoint | Promise<Endpoint>;
  /** The provider has refused the key. */
  readonly refused: () => void;
}

/** The endpoints of a provider. The head of each is built once for each key, and not for each call. */
export function createKeyedEndpoints(options: KeyedEndpointsOptions): KeyedEndpoints {
  const { http, urlOf, headers, key, keyHeader } = options;
  const built = new Map<string, Endpoint>();
  let builtFor: string | undefined;

  function keyed(text: string | undefined): Readonly<Record<string, string>> {
    if (text === undefined) return headers;
    const isAlone = keyHeader !== undefined && key?.isToken === false;
    return { ...headers, ...(isAlone ? { [keyHeader]: text } : { authorization: `Bearer ${text}` }) };
  }

  function endpointWith(text: string | undefined, providerModel: string): Endpoint {
    if (text !== builtFor || built.size >= ENDPOINTS_MAX) built.clear();
    builtFor = text;
    const known = built.get(providerModel);
    if (known !== undefined) return known;
    const endpoint = http.endpoint(urlOf(providerModel), keyed(text));
    built.set(providerModel, endpoint);
    return endpoint;
  }

  return {
    endpointOf: (providerModel) => {
      const current = key?.current();
      if (current === undefined || typeof current === 'string') return endpointWith(current, providerModel);
      return current.then((text) => endpointWith(text, providerModel));
    },
    refused: () => {
      if (builtFor !== undefined) key?.refused(builtFor);
    },
  };
}
