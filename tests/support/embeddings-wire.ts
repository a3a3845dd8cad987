import type { CalledWire } from './called-wire.ts';
import { USAGE } from './scripted-upstream.ts';

/** The characters of an answer are the numbers of its vector here, so that a test can say a text. */
export const EMBEDDINGS: CalledWire = {
  name: 'embeddings',
  path: '/v1/embeddings',
  promptField: 'input',
  question: { model: 'vectors', input: 'Hello' },
  modelId: 'acme.vectors-large-1',
  changed: { dimensions: 5 },
  promptOf: (prompt) => ({ input: prompt }),
  saying: (content, { prompt_tokens: tokens } = USAGE) => {
    const embedding = Array.from(content, (letter) => letter.codePointAt(0));
    const usage = { prompt_tokens: tokens, total_tokens: tokens };
    return { body: JSON.stringify({ object: 'list', data: [{ index: 0, embedding }], usage }) };
  },
  paidOf: ({ prompt }) => ({ prompt, cached: 0, completion: 0 }),
  plain: (body) => {
    const { data = [], usage } = body as {
      data?: readonly { readonly embedding: readonly number[] }[];
      usage?: { readonly prompt_tokens: number };
    };
    return {
      text: data.map(({ embedding }) => String.fromCodePoint(...embedding)).join(''),
      reason: data.length > 0 ? 'stop' : undefined,
      usage: usage && { prompt: usage.prompt_tokens, cached: 0, completion: 0 },
    };
  },
};
