// settings
import { createAnthropic } from '@ai-sdk/anthropic';
// end
import { askThroughAi } from './ai-sdk.ts';
import { ALWAYS_USAGE, RETRIED } from './differences.ts';
import { type Address, inThisProcess, type StockClient } from './stock-client.ts';

/** Its provider, as its user sets it up. */
function connect({ baseUrl, key, user }: Address) {
  // settings
  const purser = createAnthropic({
    baseURL: baseUrl,
    apiKey: key,
    headers: { 'x-service-user': user },
  });
  // end
  return purser;
}

/** The AI SDK with its provider for Anthropic. */
export const AI_SDK_ANTHROPIC: StockClient = {
  name: '@ai-sdk/anthropic',
  packages: ['ai', '@ai-sdk/anthropic'],
  settings: new URL(import.meta.url),
  differs: { ...RETRIED, ...ALWAYS_USAGE },
  start: inThisProcess((address, ask) => {
    const purser = connect(address);
    // settings
    const model = purser('large'); // It asks for 4,096 tokens, unless you set `maxOutputTokens`.
    const providerOptions = { anthropic: { structuredOutputMode: 'outputFormat' } }; // Otherwise a schema is a tool.
    // end
    return askThroughAi(model, ask, providerOptions);
  }),
};
