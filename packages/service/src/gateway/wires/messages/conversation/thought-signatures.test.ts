import assert from 'node:assert/strict';
import { test } from 'node:test';
import { detailsOf, packed, signatureOf } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import type { JsonObject } from '#kernel/text/json.ts';

const CLAUDES = { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', index: 0, format: 'anthropic-claude-v1' };
const OTHERS = [
  { type: 'reasoning.summary', summary: 'Hm.', index: 0, format: 'openai-responses-v1', id: 'rs_1' },
  { type: 'reasoning.encrypted', data: 'ZW5j', index: 0, format: 'openai-responses-v1', id: 'rs_1' },
];

function back(sealed: readonly JsonObject[] | undefined, isShown: boolean, field?: string): readonly JsonObject[] {
  const signature = signatureOf({ sealed, text: 'Hm.', field, isShown });
  return detailsOf({ type: 'thinking', thinking: isShown ? 'Hm.' : '', signature }, 0);
}

test('WI-09 a thought goes back to its vendor as it came', () => {
  for (const isShown of [true, false]) {
    assert.deepEqual(back([CLAUDES], isShown), [CLAUDES]);
    assert.deepEqual(back(OTHERS, isShown), OTHERS);
    const type = 'message.reasoning_content';
    assert.deepEqual(back(undefined, isShown, 'reasoning_content'), [{ type, text: 'Hm.' }]);
    assert.deepEqual(back(undefined, isShown, 'content'), []);
  }
  assert.equal(signatureOf({ sealed: [CLAUDES], text: 'Hm.', field: undefined, isShown: true }), 'c2ln');
  const { data, format } = { data: 'ZW5j', format: 'anthropic-claude-v1' };
  const hidden = [{ type: 'reasoning.encrypted', data, index: 2, format }];
  assert.deepEqual(detailsOf({ type: 'redacted_thinking', data }, 2), hidden);
});

test('WI-09 a signature that was altered is a list of objects, or nothing', () => {
  const signatures = ['purser.', 'purser.!', packed([]), `purser.${Buffer.from('{"a":1}').toString('base64url')}`];
  for (const signature of signatures) assert.deepEqual(detailsOf({ type: 'thinking', signature }, 0), []);
  const mixed = `purser.${Buffer.from('[1,null,{"type":"message.reasoning"}]').toString('base64url')}`;
  const details = detailsOf({ type: 'thinking', thinking: 'A', signature: mixed }, 0);
  assert.deepEqual(details, [{ type: 'message.reasoning', text: 'A' }]);
  assert.deepEqual(detailsOf({ type: 'thinking', thinking: 'A' }, 0), []);
});
