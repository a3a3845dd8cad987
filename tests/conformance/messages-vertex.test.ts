// Claude on Vertex AI: Anthropic's format at addresses of Google's, by each wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsIn, SECRETS, setClaudeStage } from '../support/claude-stage.ts';
import { answering, BLOCKS, type Fields, OVERLOADED, streaming, textOfEvents } from '../support/claude-upstream.ts';
import { send } from '../support/client.ts';
import { joinStream } from './messages/join-stream.ts';

const { upstream, service, app, newUser, ask, asChat, sent } = await setClaudeStage();

const MODELS = '/v1/projects/shop-1/locations/europe-west4/publishers/anthropic/models';
const MODEL = 'acme.vertex-1';
const ASKED: Fields = {
  system: [{ type: 'text', text: 'You look.', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Where? '.repeat(1_000) }] }],
  tools: [{ name: 'look', input_schema: { type: 'object' }, defer_loading: false }],
  thinking: { type: 'adaptive' },
};

test('WI-12 Claude on Vertex gets Messages as they were written, and answers whole', async () => {
  const headers = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'new-thing-2026-09-09' };
  const content = BLOCKS;
  const { reply, bill } = await ask(answering({ content }), { ...ASKED, model: MODEL }, { headers });
  assert.deepEqual([reply.status, bill.charged], [200, 2_115], reply.text);
  assert.deepEqual(reply.body['content'], content);
  const { path, body, headers: got } = sent();
  assert.equal(path, `${MODELS}/claude-opus-5-5@20260101:rawPredict`);
  assert.deepEqual(body, { anthropic_version: 'vertex-2023-10-16', max_tokens: 500, ...ASKED });
  assert.deepEqual(
    [got.authorization, got['x-api-key'], got['anthropic-version'], got['anthropic-beta']],
    ['Bearer sk-of-the-operator', undefined, undefined, 'new-thing-2026-09-09'],
  );
  const streamed = await ask(streaming({ content }), { ...ASKED, model: MODEL, stream: true });
  assert.equal(sent().path, `${MODELS}/claude-opus-5-5@20260101:streamRawPredict`);
  assert.equal((sent().body as Fields)['stream'], true);
  assert.equal(streamed.bill.charged, 2_115);
  assert.deepEqual(joinStream(eventsIn(streamed.reply))['stop_reason'], 'tool_use');
  assert.doesNotMatch(reply.text + streamed.reply.text, SECRETS);
});

test('WI-12 callers of chat completions get a translation of Claude on Vertex, at the same price', async () => {
  for (const [fields, script, way] of [
    [{}, answering(), 'rawPredict'],
    [{ stream: true }, streaming(), 'streamRawPredict'],
  ] as const) {
    const { reply, bill } = await asChat(script, { model: MODEL, ...fields });
    assert.deepEqual([reply.status, bill.charged], [200, 2_115], reply.text);
    const { path, body, headers } = sent();
    assert.equal(path, `${MODELS}/claude-opus-5-5@20260101:${way}`);
    const { anthropic_version: version, model, max_tokens: limit } = body as Fields;
    assert.deepEqual([version, model, limit], ['vertex-2023-10-16', undefined, 500]);
    assert.deepEqual([headers.authorization, headers['x-api-key']], ['Bearer sk-of-the-operator', undefined]);
    assert.match(reply.text, /toolu_1/);
  }
});

test('WI-10 Vertex counts a prompt for Claude', async () => {
  upstream.script({ body: JSON.stringify({ input_tokens: 78 }) });
  const counting = { url: service.url, key: app.liveKey, user: await newUser(0), body: { model: MODEL, ...ASKED } };
  const { body } = await send('/v1/messages/count_tokens', counting);
  assert.deepEqual(body, { input_tokens: 78, is_estimated: false });
  assert.equal(sent().path, `${MODELS}/count-tokens:rawPredict`);
  const asked = { anthropic_version: 'vertex-2023-10-16', model: 'claude-opus-5-5@20260101', ...ASKED };
  assert.deepEqual(sent().body, asked);
});

test('ER-03 failures of Claude on Vertex have a kind, in Google’s words and in Anthropic’s', async () => {
  const google = { error: { code: 429, status: 'RESOURCE_EXHAUSTED', message: 'The vendor says so.' } };
  for (const [status, error, serviceType] of [
    [429, google, 'upstream_throttled'],
    [429, [google], 'upstream_throttled'],
    [
      403,
      { error: { code: 403, status: 'PERMISSION_DENIED', message: 'The vendor says so.' } },
      'upstream_unauthorized',
    ],
    [404, { error: { code: 404, status: 'NOT_FOUND', message: 'The vendor says so.' } }, 'upstream_unauthorized'],
    [529, OVERLOADED, 'upstream_throttled'],
  ] as const) {
    const script = { status, body: JSON.stringify(error) };
    for (const { reply, bill } of [
      await ask(script, { model: MODEL }),
      await ask(script, { model: MODEL, stream: true }),
      await asChat(script, { model: MODEL }),
    ]) {
      const { serviceType: told, type } = (reply.body as { readonly error: Fields }).error;
      assert.deepEqual([told ?? type, bill.charged], [serviceType, 0], reply.text);
      assert.doesNotMatch(reply.text, SECRETS);
    }
  }
  const late = { body: [{ write: textOfEvents([OVERLOADED]) }] };
  const { bill } = await ask(late, { model: MODEL, stream: true });
  assert.equal(bill.charged, 0);
});
