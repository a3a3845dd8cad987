import { speaksResponses } from '#providers/capabilities/capabilities.ts';
import { type Address, createJsonProvider } from '#providers/openai-compatible/json-provider.ts';
import type { ToRequest } from '#providers/openai-compatible/to-request.ts';
import { completionOf, cutCompletionOf } from '#providers/openai-responses/answer.ts';
import { createResponseEvents } from '#providers/openai-responses/event-reader.ts';
import type { Provider, ProviderCall } from '#providers/port/provider.ts';

interface AdapterOptions extends Address {
  readonly toRequest: ToRequest;
}

/** A provider that speaks OpenAI's Responses. */
export function createOpenAiResponses({ toRequest, ...address }: AdapterOptions): Provider {
  return createJsonProvider(address, {
    toRequest,
    completionOf: (answer, call) => completionOf(answer, isNative(call)),
    cutCompletionOf: (answer, call) => cutCompletionOf(answer, isNative(call)),
    readerOf: (call) => createResponseEvents({ isNative: isNative(call), outputTokensMax: call.outputTokens }),
  });
}

interface ByApi {
  readonly chat: Provider;
  readonly responses: Provider;
  /** Only a caller of that interface asks for them. */
  readonly embeddings: Provider;
}

/** A provider that serves all interfaces of OpenAI's format, or some of them: the call and its upstream say which. */
export function byApi({ chat, responses, embeddings }: ByApi): Provider {
  const of = ({ apis, native }: ProviderCall): Provider => {
    if (native?.api === 'embeddings') return embeddings;
    return apis !== undefined && speaksResponses({ apis, wire: native?.api }) ? responses : chat;
  };
  return { complete: (call) => of(call).complete(call), stream: (call, signal) => of(call).stream(call, signal) };
}

function isNative({ native }: ProviderCall): boolean {
  return native?.api === 'responses';
}
