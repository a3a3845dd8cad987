import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ContentBlock, StopReason, TextCitation, Usage } from '@anthropic-ai/sdk/resources/messages';
import { NO_RARE_USAGE } from '../../packages/service/src/catalogue/price.ts';
import { NO_USAGE, toldUsage } from '../../packages/service/src/gateway/usage/usage-report.ts';
import { packed } from '../../packages/service/src/gateway/wires/messages/conversation/thought-signatures.ts';
import type { JsonObject } from '../../packages/service/src/kernel/text/json.ts';
import { PLAIN } from './messages/plain-cases.ts';
import { MESSAGE, plainOf } from './messages/streams.ts';
import { TOLD } from './responses/streams.ts';

const USAGE = {
  input_tokens: 11,
  output_tokens: 13,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 8,
  output_tokens_details: { thinking_tokens: 5 },
  server_tool_use: null,
  cache_creation: { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 0 },
  inference_geo: null,
  service_tier: null,
  speed: null,
} satisfies Usage;
const text = (words: string, citations: TextCitation[] | null = null): ContentBlock => ({
  type: 'text',
  text: words,
  citations,
});
const call = (index: number, input: JsonObject): ContentBlock => ({
  type: 'tool_use',
  id: `call_${index}`,
  name: 'look',
  input,
  caller: { type: 'direct' },
});
const thinking = (words: string, signature: string): ContentBlock => ({ type: 'thinking', thinking: words, signature });
const hidden = { type: 'reasoning.text', format: 'anthropic-claude-v1', signature: 'c2ln', index: 0, text: 'Hm.' };

const ANSWERS: Readonly<Record<keyof typeof PLAIN, readonly [stop: StopReason, content: readonly ContentBlock[]]>> = {
  text: ['end_turn', [text('Hi')]],
  'thoughts in their places': [
    'tool_use',
    [
      thinking('First.', 'c2ln'),
      text('I look.'),
      thinking('Then.', 'c2ln'),
      call(0, { a: 1 }),
      { type: 'redacted_thinking', data: 'hidden' },
      call(1, {}),
    ],
  ],
  'a call that was cut': ['max_tokens', [call(0, { a: [1, { b: 'c' }] })]],
  'a call that its vendor wants back with something': [
    'tool_use',
    [
      thinking(
        '',
        packed([
          { type: 'tool_call.extra_content', id: 'call_0', extra_content: { google: { thought_signature: 'Z2Vt' } } },
        ]),
      ),
      call(0, {}),
    ],
  ],
  'thoughts that nobody asked for': ['end_turn', [text('Hi')]],
  'thoughts that nobody asked for, before a call': [
    'tool_use',
    [text('Hi'), thinking('', packed([{ type: 'message.reasoning_content', text: 'Hm.' }])), call(0, {})],
  ],
  'hidden thoughts': ['end_turn', [thinking('', packed([hidden])), text('Hi')]],
  'a citation': [
    'end_turn',
    [
      text('Rome.', [
        {
          type: 'web_search_result_location',
          url: 'https://a.example',
          title: 'A',
          cited_text: 'Old.',
          encrypted_index: '',
        },
      ]),
    ],
  ],
};

for (const name of Object.keys(PLAIN) as (keyof typeof PLAIN)[]) {
  test(`WI-09 a whole Message: ${name}`, () => {
    const { id, content, stop_reason: stop, usage, ...rest } = PLAIN[name]();
    assert.match(String(id), /^msg_[\da-f-]{36}$/);
    assert.deepEqual([stop, content], ANSWERS[name]);
    assert.deepEqual(usage, USAGE);
    assert.deepEqual(rest, MESSAGE);
  });
}

test('WI-09 tokens that were written to a cache for an hour are told apart', () => {
  const { usage } = plainOf({ content: 'Hi' }, 'stop', { told: { ...TOLD, cacheWriteLong: 4 } });
  const creation = { ephemeral_5m_input_tokens: 2, ephemeral_1h_input_tokens: 4 };
  assert.deepEqual(usage, { ...USAGE, input_tokens: 7, cache_creation_input_tokens: 6, cache_creation: creation });
  const counted = { ...NO_USAGE, promptTokens: 9, rare: { ...NO_RARE_USAGE, cacheWriteLongTokens: 4 } };
  assert.equal(toldUsage(counted, undefined).cacheWriteLong, 4);
});
