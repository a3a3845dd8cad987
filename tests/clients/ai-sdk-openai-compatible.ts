// settings
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
// end
import type { LanguageModel } from 'ai';
import { askThroughAi } from './ai-sdk.ts';
import { RETRIED } from './differences.ts';
import { type Address, inThisProcess, type StockClient } from './stock-client.ts';

/** The AI SDK with its provider for servers of the compatible format. */
export const AI_SDK_COMPATIBLE: StockClient = {
  name: '@ai-sdk/openai-compatible',
  packages: ['ai', '@ai-sdk/openai-compatible'],
  settings: new URL(import.meta.url),
  differs: RETRIED,
  start: inThisProcess((address, ask) => askThroughAi(connect(address, ask.usage), ask)),
};

function connect({ baseUrl, key, user }: Address, includeUsage: boolean): LanguageModel {
  // settings
  const purser = createOpenAICompatible({
    name: 'purser',
    baseURL: baseUrl,
    apiKey: key,
    headers: { 'x-service-user': user },
    includeUsage, // Set it to true, or the usage of a stream stays unknown.
    supportsStructuredOutputs: true, // Without it, JSON schemas are left out of requests.
  });
  const model = purser('large');
  // end
  return model;
}
