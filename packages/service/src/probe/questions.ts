import type { ProbeCall } from '#probe/exchange.ts';

/** The limit is shorter than the answer to `COUNT`, by any tokenizer. */
export const SHORT_LIMIT = 24;
/** This is enough for a model that reasons a little before it answers. */
const ROOM = 512;
/** The most tokens that a question has, by any tokenizer. */
export const QUESTION_TOKENS_MAX = 300;
export const OBEYED = 'PINEAPPLE';

/** It shows whether anything answers at all. */
export const HELLO: ProbeCall = {
  request: { messages: [{ role: 'user', content: 'Say hello.' }] },
  outputTokens: SHORT_LIMIT,
};

/** Its answer has some 200 tokens. A model that stops by itself before the limit would prove nothing. */
export const COUNT: ProbeCall = {
  request: {
    messages: [
      { role: 'user', content: 'Write the numbers from 1 to 100 in digits, separated by spaces, and nothing else.' },
    ],
  },
  outputTokens: SHORT_LIMIT,
};

/** The same for two answers. Its usage covers both, or one. */
export const CHOICES: ProbeCall = { request: { ...COUNT.request, n: 2 }, outputTokens: SHORT_LIMIT };

export const SHORT: ProbeCall = {
  request: { messages: [{ role: 'user', content: 'Answer with the words: one two three' }] },
  outputTokens: ROOM,
};

export const TOOL: ProbeCall = {
  request: {
    messages: [{ role: 'user', content: 'What is the weather in Paris? Call the tool.' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'Returns the weather of a city.',
          parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        },
      },
    ],
  },
  outputTokens: ROOM,
};

/** It does not mention JSON, so that only the schema makes the answer JSON. */
export const SCHEMA: ProbeCall = {
  request: {
    messages: [
      { role: 'user', content: 'Which city is the capital of France, and in which year were the Olympics last there?' },
    ],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'capital',
        strict: true,
        schema: {
          type: 'object',
          properties: { city: { type: 'string' }, year: { type: 'integer' } },
          required: ['city', 'year'],
          additionalProperties: false,
        },
      },
    },
  },
  outputTokens: ROOM,
};

export const DEVELOPER: ProbeCall = orderedBy('developer');
/** Whether the model obeys orders at all. */
export const SYSTEM: ProbeCall = orderedBy('system');

function orderedBy(role: string): ProbeCall {
  return {
    request: {
      messages: [
        { role, content: `Answer every question with the single word ${OBEYED}, in capitals.` },
        { role: 'user', content: 'What is the capital of France?' },
      ],
    },
    outputTokens: ROOM,
  };
}

/** A prompt that is a little longer than a context of so many tokens. Most tokenizers make one token of each word. */
export function tooLongFor(contextTokens: number): ProbeCall {
  const content = 'a '.repeat(Math.ceil(contextTokens * 1.05));
  return { request: { messages: [{ role: 'user', content }] }, outputTokens: SHORT_LIMIT };
}
