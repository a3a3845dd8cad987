// settings
import { createOpenAI } from '@ai-sdk/openai';
// end
import type { OpenAIProvider } from '@ai-sdk/openai';
import { askThroughAi } from './ai-sdk.ts';
import { ALWAYS_USAGE, RETRIED } from './differences.ts';
import { type Address, inThisProcess, type StockClient } from './stock-client.ts';

/** Its provider, as its user sets it up for either of its interfaces. */
export function connect({ baseUrl, key, user }: Address, fetch?: typeof globalThis.fetch): OpenAIProvider {
  // settings
  const purser = createOpenAI({
    baseURL: baseUrl,
    apiKey: key,
    headers: { 'x-service-user': user },
    // end
    ...(fetch && { fetch }),
    // settings
  });
  // end
  return purser;
}

/** The AI SDK with its provider for OpenAI, which speaks the Responses wire. */
export const AI_SDK_OPENAI: StockClient = {
  name: '@ai-sdk/openai',
  packages: ['ai', '@ai-sdk/openai'],
  settings: new URL(import.meta.url),
  differs: { ...RETRIED, ...ALWAYS_USAGE },
  start: inThisProcess((address, ask) => {
    const purser = connect(address);
    // settings
    const model = purser('large');
    // end
    return askThroughAi(model, ask);
  }),
};
