import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '#kernel/text/json.ts';
import { createToRequest } from '#providers/openai-compatible/to-request.ts';

const MESSAGES = [
  { role: 'developer', content: 'Be brief.' },
  { role: 'user', content: 'Hello' },
];

function callOf(fields: JsonObject) {
  return {
    request: { ...fields, model: 'm', max_tokens: 9 },
    requestText: JSON.stringify(fields),
    providerModel: 'vendor/"m"',
    outputTokens: 7,
    outputLimitParameter: 'max_tokens',
    timeoutMs: 1_000,
  } as const;
}

test('CC-13 without entry options, the provider gets the gateway’s text', () => {
  const toRequest = createToRequest({ extraBody: {}, developerRole: 'developer' });
  const text = '{"messages":[{"role":"developer","content":"\\u0041"}],"seed":1}';
  const call = { ...callOf(JSON.parse(text) as JsonObject), requestText: text };
  const head = '{"model":"vendor/\\"m\\"","max_tokens":7';
  assert.equal(toRequest(call, false), `${head},${text.slice(1)}`);
  assert.equal(toRequest(call, true), `${head},"stream":true,"stream_options":{"include_usage":true},${text.slice(1)}`);
  assert.equal(toRequest({ ...call, requestText: '{}' }, false), `${head}}`);
});

test('CC-13 an entry adds body members but never replaces the caller’s', () => {
  const toRequest = createToRequest({ extraBody: { top_k: 5, provider: { sort: 'price' } }, streamOptions: false });
  const read = (fields: JsonObject) => JSON.parse(toRequest(callOf(fields), true)) as unknown;
  const ours = { model: 'vendor/"m"', max_tokens: 7, stream: true };
  assert.deepEqual(read({ messages: MESSAGES }), {
    ...ours,
    top_k: 5,
    provider: { sort: 'price' },
    messages: MESSAGES,
  });
  assert.deepEqual(read({ top_k: 1 }), { ...ours, top_k: 1, provider: { sort: 'price' } });
  assert.doesNotMatch(toRequest(callOf({ top_k: 1 }), true), /top_k.*top_k/);
});

test('CC-13 a provider without developer messages gets them as system messages', () => {
  const toRequest = createToRequest({ developerRole: 'system' });
  const read = (fields: JsonObject) => JSON.parse(toRequest(callOf(fields), false)) as JsonObject;
  assert.deepEqual(read({ messages: MESSAGES, seed: 3 }), {
    model: 'vendor/"m"',
    max_tokens: 7,
    messages: [{ role: 'system', content: 'Be brief.' }, MESSAGES[1]],
    seed: 3,
  });
  const call = callOf({ messages: MESSAGES.slice(1) });
  assert.ok(toRequest(call, false).endsWith(call.requestText.slice(1)));
});
