/** A price list as models.dev's, with models that the bundled second list knows. */
export const PRICE_LIST = {
  openai: {
    id: 'openai',
    npm: '@ai-sdk/openai',
    models: {
      'gpt-4.1-mini': {
        id: 'gpt-4.1-mini',
        cost: { input: 0.4, output: 1.6, cache_read: 0.1 },
        limit: { context: 1_047_576, output: 32_768 },
      },
    },
  },
  anthropic: {
    id: 'anthropic',
    npm: '@ai-sdk/anthropic',
    models: {
      'claude-sonnet-4-5': {
        id: 'claude-sonnet-4-5',
        cost: { input: -1, output: 15 },
        limit: { context: 1_000_000, output: 64_000 },
      },
    },
  },
};
