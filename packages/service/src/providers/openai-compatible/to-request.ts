import type { ProviderCall } from '#providers/provider.ts';

// A stream that reports no usage is charged by the gateway's own estimate, so usage is always asked for.
const ASKED_OF_STREAMS = ',"stream":true,"stream_options":{"include_usage":true}';

/** The provider's request: its own model name, our output limit, and what the caller sent. Streams always report usage. */
export function toRequest(call: ProviderCall, isStream: boolean): string {
  const { providerModel, outputLimitParameter, outputTokens, requestText } = call;
  const ours = `{"model":${JSON.stringify(providerModel)},"${outputLimitParameter}":${outputTokens}`;
  const rest = requestText === '{}' ? '}' : `,${requestText.slice(1)}`;
  return ours + (isStream ? ASKED_OF_STREAMS : '') + rest;
}
