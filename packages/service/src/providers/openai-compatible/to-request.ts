import type { ProviderCall } from '#providers/provider.ts';

// A stream that reports no usage is charged by the gateway's own estimate, so usage is always asked for.
const ASKED_OF_STREAMS = ',"stream":true,"stream_options":{"include_usage":true}';

/**
 * The body of the provider's request: our model name and output limit, then what the gateway passes on. Joined as text, because
 * the request may be a megabyte and has been written as JSON once, to measure it.
 */
export function toRequest(call: ProviderCall, isStream: boolean): string {
  const { providerModel, outputLimitParameter, outputTokens, requestText } = call;
  const ours = `{"model":${JSON.stringify(providerModel)},"${outputLimitParameter}":${outputTokens}`;
  const rest = requestText === '{}' ? '}' : `,${requestText.slice(1)}`;
  return ours + (isStream ? ASKED_OF_STREAMS : '') + rest;
}
