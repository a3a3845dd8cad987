import { takesOwnMessages } from '#providers/capabilities/capabilities.ts';
import { countBodyOf, createCount } from '#providers/anthropic/count.ts';
import { completionOf, cutCompletionOf } from '#providers/anthropic/native-answer.ts';
import { createMessageEvents } from '#providers/anthropic/native-events.ts';
import { type Address, createJsonProvider, type Interface } from '#providers/openai-compatible/json-provider.ts';
import type { Provider, ProviderCall } from '#providers/port/provider.ts';

const VERSION = '2023-06-01';

/** A place where Messages are served. */
export interface MessagesPlace extends Omit<Address, 'urlOf' | 'headers'>, Pick<Interface, 'errorOf'> {
  readonly urlsOf: (providerModel: string) => Readonly<Record<'plain' | 'streamed' | 'count', URL>>;
  /** The version in the body, where the address names the model. Undefined at Anthropic itself, where a header has it. */
  readonly version?: string | undefined;
}

/** Where Anthropic itself serves Messages, under an address up to and including the version, as in `https://api.anthropic.com/v1`. */
export function anthropicUrls(baseUrl: string): MessagesPlace['urlsOf'] {
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}/messages`);
  const urls = { plain: url, streamed: url, count: new URL(`${url.href}/count_tokens`) };
  return () => urls;
}

/** A server of Messages, for callers who speak it: their own request goes out, and its answer comes back beside what is counted. */
export function createNativeMessages({ urlsOf, version, errorOf, ...place }: MessagesPlace): Provider {
  const toRequest = (call: ProviderCall, isStream: boolean): string => requestOf(call, isStream, version);
  const words = {
    toRequest,
    completionOf,
    cutCompletionOf,
    readerOf: createMessageEvents,
    ...(errorOf && { errorOf }),
  };
  const at = (way: 'plain' | 'streamed' | 'count'): Address => ({ ...place, urlOf: (model) => urlsOf(model)[way] });
  const plain = createJsonProvider(at('plain'), words);
  const streamed = createJsonProvider(at('streamed'), words);
  const count = createCount(at('count'), { bodyOf: (call) => countBodyOf(call, version), member: 'input_tokens' });
  const sent = (call: ProviderCall): ProviderCall => withHeaders(call, version);
  return {
    complete: (call) => plain.complete(sent(call)),
    stream: (call, signal) => streamed.stream(sent(call), signal),
    countPrompt: (call) => count(sent(call)),
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

function withHeaders(call: ProviderCall, version: string | undefined): ProviderCall {
  const { 'anthropic-version': asked = VERSION, ...others } = call.native?.headers ?? {};
  const named = version === undefined ? { 'anthropic-version': asked } : {};
  return { ...call, headers: { ...named, ...others, ...call.headers } };
}

/** Joined as text: it may be megabytes, and has been written as JSON once, to measure it. */
function requestOf(
  { providerModel, outputTokens, native }: ProviderCall,
  isStream: boolean,
  version: string | undefined,
): string {
  const head = version === undefined ? `"model":${JSON.stringify(providerModel)}` : `"anthropic_version":"${version}"`;
  const stream = isStream ? ',"stream":true' : '';
  return `{${head},"max_tokens":${outputTokens}${stream},${native?.text.slice(1) ?? '}'}`;
}
