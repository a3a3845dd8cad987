import type { JsonObject } from '#kernel/json.ts';
import type { ProviderCall } from '#providers/provider.ts';

/** Said to us, not to the provider: who the end user is stays here, and so does the app's own bookkeeping. */
const NOT_FORWARDED = new Set(['metadata', 'user', 'safety_identifier', 'store', 'prompt_cache_key']);
/** Ours to decide, so the caller's value never passes. */
const DECIDED_HERE = new Set(['model', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options']);

/** The provider's request: what the caller sent, with our model name, our output limit, and usage asked for always. */
export function toRequest(call: ProviderCall, isStream: boolean): JsonObject {
  const passed = Object.entries(call.request).filter(
    ([name, value]) => value !== null && !NOT_FORWARDED.has(name) && !DECIDED_HERE.has(name),
  );
  return {
    model: call.providerModel,
    ...Object.fromEntries(passed),
    [call.outputLimitParameter]: call.outputTokens,
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}
