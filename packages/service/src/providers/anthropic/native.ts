import { takesOwnMessages } from '#providers/capabilities.ts';
import { createCount } from '#providers/anthropic/count.ts';
import { completionOf, cutCompletionOf } from '#providers/anthropic/native-answer.ts';
import { createMessageEvents } from '#providers/anthropic/native-events.ts';
import type { HttpClient } from '@purser/upstream-http/client.ts';
import type { KeySource } from '#providers/keys/key-source.ts';
import { createJsonProvider } from '#providers/openai-compatible/json-provider.ts';
import type { Provider, ProviderCall } from '#providers/provider.ts';

const VERSION = '2023-06-01';

/** A server of Messages, for callers who speak it: their own request goes out, and its answer comes back beside what is counted. */
export function createNativeMessages(
  http: HttpClient,
  { baseUrl }: { readonly baseUrl: string },
  key: KeySource | undefined,
): Provider {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/messages`);
  const countUrl = new URL(`${url.href}/count_tokens`);
  const address = { http, urlOf: () => url, key, keyHeader: 'x-api-key' };
  const words = { toRequest, completionOf, cutCompletionOf, readerOf: createMessageEvents };
  const provider = createJsonProvider(address, words);
  const count = createCount({ ...address, urlOf: () => countUrl });
  return {
    complete: (call) => provider.complete(withHeaders(call)),
    stream: (call, signal) => provider.stream(withHeaders(call), signal),
    countPrompt: (call) => count(withHeaders(call)),
  };
}

/** A provider whose Claude serves callers of Messages by their own form. All else is a translation. */
export function byMessages(translated: Provider, native: Provider): Provider {
  const of = ({ native: own, providerModel }: ProviderCall): Provider =>
    own?.api === 'messages' && takesOwnMessages(providerModel) ? native : translated;
  return {
    complete: (call) => of(call).complete(call),
    stream: (call, signal) => of(call).stream(call, signal),
    countPrompt: async (call) => of(call).countPrompt?.(call),
  };
}

function withHeaders(call: ProviderCall): ProviderCall {
  return { ...call, headers: { 'anthropic-version': VERSION, ...call.native?.headers, ...call.headers } };
}

/** Joined as text: it may be megabytes, and has been written as JSON once, to measure it. */
function toRequest({ providerModel, outputTokens, native }: ProviderCall, isStream: boolean): string {
  const stream = isStream ? ',"stream":true' : '';
  const ours = `{"model":${JSON.stringify(providerModel)},"max_tokens":${outputTokens}${stream}`;
  return `${ours},${native?.text.slice(1) ?? '}'}`;
}
