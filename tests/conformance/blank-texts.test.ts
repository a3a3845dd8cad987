// Conversations with blank texts, which clients keep and send again, at vendors that refuse them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { anthropic } from './providers/vendors/anthropic.ts';
import { bedrock } from './providers/vendors/bedrock.ts';
import { google } from './providers/vendors/google.ts';
import { mistral } from './providers/vendors/mistral.ts';
import { setVendorStage } from './providers/vendors/vendor-stage.ts';
import { PIXEL, type Vendor, WEATHER } from './providers/vendors/vendor.ts';

type Json = Readonly<Record<string, unknown>>;

const VENDORS = [anthropic, bedrock, google, mistral];
const stage = await setVendorStage(VENDORS);

const BLANKS = ['', ' ', '\n\t\u00a0'];
/** The signature of a text that Gemini has not said. */
const SIGNED = { type: 'reasoning.text', index: 0, format: 'google-gemini-v1', signature: 'c2lnbmVk' };
const HELLO = { role: 'user', content: 'Hello' };
const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };

function ask(vendor: Vendor, messages: readonly unknown[], stream: boolean) {
  const body = { model: stage.modelOf(vendor, 'plain'), messages, tools: [WEATHER], stream };
  return chat({ url: stage.service.url, key: stage.app.liveKey, user: 'anna' }, body);
}

/** The messages of the request that a vendor had last. */
function messagesAt(vendor: Vendor): readonly Json[] {
  const { messages } = (stage.requestsOf(vendor).at(-1)?.body ?? {}) as { messages?: Json[] };
  return messages ?? [];
}

/** Conversations with a blank text in each place that can have one. */
function conversationsWith(blank: string): readonly (readonly unknown[])[] {
  const part = { type: 'text', text: blank };
  const call = { id: 'aB3dE6gH9', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } };
  const said = { role: 'assistant', content: 'Hi.' };
  const result = (content: unknown) => ({ role: 'tool', tool_call_id: call.id, content });
  const called = { role: 'assistant', content: blank, tool_calls: [call] };
  return [
    [{ role: 'system', content: blank }, HELLO],
    [{ role: 'developer', content: [part, { type: 'text', text: 'Be brief.' }, part] }, HELLO],
    [{ role: 'user', content: [part, { type: 'text', text: 'Hello' }, part] }],
    [{ role: 'user', content: [part, image] }],
    [{ role: 'user', content: blank }, HELLO],
    [HELLO, { role: 'assistant', content: blank }, HELLO],
    [HELLO, { role: 'assistant', content: null, refusal: blank }, HELLO],
    [HELLO, { role: 'assistant', content: [part, { type: 'refusal', refusal: blank }] }, HELLO],
    [HELLO, { role: 'assistant', content: blank, reasoning_details: [SIGNED] }, HELLO],
    [HELLO, said, { role: 'user', content: [part] }, said, HELLO],
    [HELLO, { role: 'assistant', content: blank }],
    [HELLO, called, result(blank)],
    [HELLO, { ...called, content: null }, result([part])],
    [HELLO, { ...called, content: [part] }, result([part, { type: 'text', text: 'mild' }])],
  ];
}

/** Texts of a vendor's request that are blank, and lists of parts without any. */
function blanksIn(value: unknown, path = ''): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => {
    const at = `${path}.${name}`;
    if (name === 'text' && String(one).trim() === '') return [at];
    if (name === 'content' && typeof one === 'string' && one.trim() === '') return [at];
    if ((name === 'parts' || name === 'content') && Array.isArray(one) && one.length === 0) return [at];
    return blanksIn(one, at);
  });
}

for (const vendor of [anthropic, bedrock, google]) {
  test(`MO-09 ${vendor.kind}: no blank text and no empty message is sent`, async () => {
    for (const blank of BLANKS) {
      for (const messages of conversationsWith(blank)) {
        for (const stream of [false, true]) {
          const about = JSON.stringify(messages);
          const reply = await ask(vendor, messages, stream);
          assert.equal(reply.status, 200, `${about} ${reply.text}`);
          assert.deepEqual(blanksIn(stage.requestsOf(vendor).at(-1)?.body), [], about);
        }
      }
    }
  });

  test(`MO-09 ${vendor.kind}: a conversation of blank texts alone is refused by name`, async () => {
    const before = stage.requestsOf(vendor).length;
    const blank = { role: 'user', content: [{ type: 'text', text: ' ' }] };
    for (const messages of [
      [blank],
      [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: '' },
      ],
    ]) {
      assertRefusal(await ask(vendor, messages, false), { code: 'BAD_REQUEST', param: 'messages' });
    }
    assert.equal(stage.requestsOf(vendor).length, before);
  });
}

test('MO-09 a cache mark of a blank text goes to the part before it', async () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const content = [
    { type: 'text', text: 'A long text.' },
    { type: 'text', text: '', ...mark },
  ];
  assert.equal((await ask(anthropic, [{ role: 'user', content }], false)).status, 200);
  assert.deepEqual(messagesAt(anthropic)[0]?.['content'], [{ type: 'text', text: 'A long text.', ...mark }]);
});

test('MO-09 mistral: an earlier answer without text and calls is not sent', async () => {
  for (const empty of [{ content: '' }, { content: null }, { content: ' ', tool_calls: [] }]) {
    const reply = await ask(mistral, [HELLO, { role: 'assistant', ...empty }, HELLO], false);
    assert.equal(reply.status, 200, reply.text);
    assert.deepEqual(messagesAt(mistral), [HELLO, HELLO]);
  }
});
