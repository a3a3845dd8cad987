// settings
import { createOpenAI } from '@ai-sdk/openai';
// end
import type { LanguageModel } from 'ai';
import { askThroughAi } from './ai-sdk.ts';
import { RETRIED } from './differences.ts';
import { type Address, inThisProcess, type StockClient } from './stock-client.ts';

/** The AI SDK with its provider for OpenAI. */
export const AI_SDK_OPENAI: StockClient = {
  name: '@ai-sdk/openai',
  packages: ['ai', '@ai-sdk/openai'],
  settings: new URL(import.meta.url),
  differs: {
    ...RETRIED,
    'usage not requested': {
      seen: 'usage',
      why: 'it always asks for the usage of a stream, and has no option to turn that off',
    },
  },
  start: inThisProcess((address, ask) => askThroughAi(connect(address), ask)),
};

function connect({ baseUrl, key, user }: Address): LanguageModel {
  // settings
  const purser = createOpenAI({
    baseURL: baseUrl,
    apiKey: key,
    headers: { 'x-service-user': user },
  });
  const model = purser.chat('large'); // `purser('large')` would call another endpoint.
  // end
  return model;
}
