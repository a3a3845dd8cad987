import type { ProviderCall } from '#providers/provider.ts';

const ASKED_OF_STREAMS = ',"stream":true,"stream_options":{"include_usage":true}';

/**
 * The body of the provider's request: our model name and output limit, then what the gateway passes on. Joined as text, because
 * the request may be a megabyte and has been written as JSON once, to measure it. A stream is always asked for its usage:
 * without it the charge would be an estimate.
 */
export function toRequest(call: ProviderCall, isStream: boolean): string {
  const { providerModel, outputLimitParameter, outputTokens, requestText } = call;
  const ours = `{"model":${JSON.stringify(providerModel)},"${outputLimitParameter}":${outputTokens}`;
  const rest = requestText === '{}' ? '}' : `,${requestText.slice(1)}`;
  return ours + (isStream ? ASKED_OF_STREAMS : '') + rest;
}
