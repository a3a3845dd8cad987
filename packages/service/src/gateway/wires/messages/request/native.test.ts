import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#kernel/text/json.ts';
import { packed } from '#gateway/wires/messages/conversation/thought-signatures.ts';
import { fittedOf, refusalOf } from '../../../../../../../tests/support/read-messages.ts';

const OWN = { ownForm: true, hasOwnForm: true };
const user = (content: unknown): JsonObject => ({ role: 'user', content });
const claudes = { format: 'anthropic-claude-v1', index: 0 };

const ofThinking = (signature: string): JsonObject => ({ type: 'thinking', thinking: '', signature });

function nativeMessages(content: readonly JsonObject[]): unknown {
  const messages = [user('Look.'), { role: 'assistant', content }, user('Go on.')];
  return fittedOf({ messages }, OWN).native?.['messages'];
}

test('WI-12 thoughts go back to Claude, but for those of other vendors', () => {
  const said = { type: 'text', text: 'I look.' };
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' };
  const kept = { type: 'redacted_thinking', data: 'aGk' };
  const sealed = packed([{ ...claudes, type: 'reasoning.text', text: 'Kept here.', signature: 'c2ln' }]);
  const hidden = packed([{ ...claudes, type: 'reasoning.encrypted', data: 'aGk' }]);
  const foreign = packed([{ type: 'message.reasoning_content', text: 'Of another.' }]);
  assert.deepEqual(
    nativeMessages([thought, kept, ofThinking(sealed), ofThinking(hidden), ofThinking(foreign), ofThinking(''), said]),
    [
      user('Look.'),
      {
        role: 'assistant',
        content: [thought, kept, { type: 'thinking', thinking: 'Kept here.', signature: 'c2ln' }, kept, said],
      },
      user('Go on.'),
    ],
  );
  assert.deepEqual(nativeMessages([ofThinking(foreign)]), [user('Look.'), user('Go on.')]);
});

test('WI-12 what would read files of the account does not reach Claude', () => {
  const upload = { type: 'container_upload', file_id: 'file_of_another' };
  const found = { type: 'web_fetch_tool_result', content: { source: { type: 'file', file_id: 'file_of_another' } } };
  const text = { type: 'text', text: 'Read it.' };
  const result = { type: 'tool_result', tool_use_id: 'a', content: [found, text] };
  const { native } = fittedOf({ messages: [user([upload, text, result])] }, OWN);
  assert.deepEqual(native?.['messages'], [user([text, { ...result, content: [text] }])]);
});

test('WA-07 a picture in a document that calls itself a text is refused', () => {
  const picture = { type: 'image', text: '', source: { type: 'url', url: 'https://pictures.test/large.png' } };
  const document = { type: 'document', source: { type: 'content', content: [picture] } };
  assert.deepEqual(refusalOf({ messages: [user([document])] }, OWN)[0], 'messages[0].content[0].source.content[0]');
});

test('WI-12 a request has its own form only where an upstream takes it', () => {
  assert.equal(fittedOf({}).native, undefined);
  assert.ok(fittedOf({}, { hasOwnForm: true }).native);
  // Beside other vendors, what was left out of their translation is told.
  assert.deepEqual(fittedOf({ top_k: 3 }, { hasOwnForm: true, parameter: (name) => name !== 'top_k' }).leftOut, [
    'top_k',
  ]);
  assert.deepEqual(fittedOf({ top_k: 3 }, { ...OWN, parameter: (name) => name !== 'top_k' }).leftOut, []);
});

test('WA-07 a reference to a tool counts as all that the vendor makes of it', () => {
  const tool = { name: 'look', description: 'x'.repeat(500), input_schema: { type: 'object' }, defer_loading: true };
  const found = { type: 'tool_result', tool_use_id: 'a', content: [{ type: 'tool_reference', tool_name: 'look' }] };
  const { tokensBeside } = fittedOf({ tools: [tool], messages: [user([found, found])] }, OWN);
  assert.equal(tokensBeside, 2 * JSON.stringify(tool).length);
});
