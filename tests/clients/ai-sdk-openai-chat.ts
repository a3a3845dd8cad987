import { askThroughAi } from './ai-sdk.ts';
import { connect } from './ai-sdk-openai.ts';
import { RETRIED } from './differences.ts';
import { inThisProcess, type StockClient } from './stock-client.ts';

/** The AI SDK with its provider for OpenAI, told to speak chat completions. */
export const AI_SDK_OPENAI_CHAT: StockClient = {
  name: '@ai-sdk/openai, `chat`',
  packages: ['ai', '@ai-sdk/openai'],
  settings: new URL(import.meta.url),
  differs: {
    ...RETRIED,
    'usage not requested': {
      seen: 'usage',
      why: 'it always asks for the usage of a stream, and has no option to turn that off',
    },
  },
  start: inThisProcess((address, ask) => {
    const purser = connect(address);
    // settings
    const model = purser.chat('large');
    // end
    return askThroughAi(model, ask);
  }),
};
