import type { JsonObject } from '#kernel/json.ts';
import type { ProviderCall } from '#providers/provider.ts';

/** Ours to decide, so the caller's value never passes. */
const DECIDED_HERE = new Set(['model', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options']);

/** The provider's request: what the gateway passes on, with our model name, our output limit, and usage asked for always. */
export function toRequest(call: ProviderCall, isStream: boolean): JsonObject {
  const passed = Object.entries(call.request).filter(([name]) => !DECIDED_HERE.has(name));
  return {
    model: call.providerModel,
    ...Object.fromEntries(passed),
    [call.outputLimitParameter]: call.outputTokens,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}
