// Whole Messages of every kind.
import type { JsonObject } from '../../../packages/service/src/kernel/text/json.ts';
import { echoOf, plainOf } from './streams.ts';

const call = (index: number, words: string, more: JsonObject = {}): JsonObject => ({
  id: `call_${index}`,
  type: 'function',
  function: { name: 'look', arguments: words },
  ...more,
});
const claudes = { type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 'c2ln' };

export const PLAIN = {
  text: () => plainOf({ role: 'assistant', content: 'Hi' }),
  'thoughts in their places': () =>
    plainOf(
      {
        content: 'I look.',
        reasoning_content: 'First.Then.',
        reasoning_details: [
          { ...claudes, index: 0, text: 'First.' },
          { ...claudes, index: 2, text: 'Then.' },
          { type: 'reasoning.encrypted', format: 'anthropic-claude-v1', index: 4, data: 'hidden' },
        ],
        tool_calls: [call(0, '{"a":1}'), call(1, '{}')],
      },
      'tool_calls',
    ),
  'a call that was cut': () => plainOf({ content: null, tool_calls: [call(0, '{"a":[1,{"b":"c')] }, 'length'),
  'a call that its vendor wants back with something': () =>
    plainOf({ tool_calls: [call(0, '{}', { extra_content: { google: { thought_signature: 'Z2Vt' } } })] }, 'stop'),
  'thoughts that nobody asked for': () =>
    plainOf({ content: 'Hi', reasoning_content: 'Hm.' }, 'stop', { echo: echoOf({ thinking: undefined }) }),
  'thoughts that nobody asked for, before a call': () =>
    plainOf({ content: 'Hi', reasoning_content: 'Hm.', tool_calls: [call(0, '{}')] }, 'tool_calls', {
      echo: echoOf({ thinking: undefined }),
    }),
  'hidden thoughts': () =>
    plainOf({ content: 'Hi', reasoning_details: [{ ...claudes, index: 0, text: 'Hm.' }] }, 'stop', {
      echo: echoOf({ thinking: 'hidden' }),
    }),
  'a citation': () =>
    plainOf({
      content: 'Rome.',
      annotations: [{ type: 'url_citation', url_citation: { url: 'https://a.example', title: 'A', content: 'Old.' } }],
    }),
} as const satisfies Record<string, () => JsonObject>;
