// Claude at Bedrock: Anthropic's format in InvokeModel, signed or with a key, and streams in AWS's binary frames.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsIn, SECRETS, setClaudeStage } from '../support/claude-stage.ts';
import { answering, BLOCKS, type Fields, eventsOf, hello } from '../support/claude-upstream.ts';
import { send } from '../support/client.ts';
import type { UpstreamScript, UpstreamStep } from '../support/scripted-upstream.ts';
import { joinStream } from './messages/join-stream.ts';
import { signatureFault } from './providers/vendors/aws-signature.ts';
import { BEDROCK_ACCOUNT } from './providers/vendors/bedrock.ts';
import { chunkOf } from './providers/vendors/bedrock-invoke.ts';
import { frame } from './providers/vendors/event-stream.ts';

const { upstream, service, app, newUser, ask, asChat, sent } = await setClaudeStage();

const MODEL = 'acme.bedrock-1';
const KEYED = 'acme.bedrock-keyed-1';
const CLAUDE = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0';
const PATH = `/model/${encodeURIComponent(CLAUDE)}`;
const ASKED: Fields = {
  system: [{ type: 'text', text: 'You look.', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Where? '.repeat(1_000) }] }],
  tools: [{ name: 'look', input_schema: { type: 'object' } }],
};
const METRICS = { inputTokenCount: 5_400, outputTokenCount: 40, invocationLatency: 9, firstByteLatency: 3 };

function streamOf(frames: readonly Buffer[], size = Infinity, end: readonly UpstreamStep[] = []): UpstreamScript {
  const bytes = Buffer.concat(frames);
  const steps: UpstreamStep[] = [];
  for (let at = 0; at < bytes.length; at += size) steps.push({ write: bytes.subarray(at, at + size) });
  return { headers: { 'content-type': 'application/vnd.amazon.eventstream' }, body: [...steps, ...end] };
}

function failed(status: number, type: string, message = 'The vendor says so.'): UpstreamScript {
  const headers = { 'content-type': 'application/json', 'x-amzn-errortype': `${type}:http://internal.amazon.com/` };
  return { status, headers, body: JSON.stringify({ message }) };
}

function typeOf({ body, text }: { readonly body: unknown; readonly text: string }): unknown {
  const found = (body as { readonly error?: Fields } | undefined)?.error ?? eventsIn({ text }).at(-1)?.['error'];
  const { serviceType, type } = (found ?? {}) as Fields;
  return serviceType ?? type;
}

test('WI-12 Claude at Bedrock gets Messages as they were written, signed, and answers whole', async () => {
  const more = { 'amazon-bedrock-invocationMetrics': METRICS };
  const { reply, bill } = await ask(answering({ content: BLOCKS, more }), { ...ASKED, model: MODEL });
  assert.deepEqual([reply.status, bill.charged], [200, 2_115], reply.text);
  assert.deepEqual(reply.body['content'], BLOCKS);
  assert.equal(sent().path, `${PATH}/invoke`);
  assert.deepEqual(sent().body, { anthropic_version: 'bedrock-2023-05-31', max_tokens: 500, ...ASKED });
  assert.equal(signatureFault(sent(), BEDROCK_ACCOUNT), undefined);
  assert.deepEqual([sent().headers['x-api-key'], sent().headers['anthropic-version']], [undefined, undefined]);
  // Characters of several bytes are cut across frames and reads.
  for (const size of [Infinity, 7]) {
    const streamed = await ask(streamOf(eventsOf({ content: BLOCKS }).map(chunkOf), size), {
      ...ASKED,
      model: MODEL,
      stream: true,
    });
    assert.equal(streamed.bill.charged, 2_115, streamed.reply.text);
    assert.deepEqual(joinStream(eventsIn(streamed.reply))['content'], BLOCKS);
    assert.equal(sent().path, `${PATH}/invoke-with-response-stream`);
    assert.equal((sent().body as Fields)['stream'], undefined);
    assert.equal(signatureFault(sent(), BEDROCK_ACCOUNT), undefined);
    assert.doesNotMatch(streamed.reply.text, SECRETS);
    assert.doesNotMatch(streamed.reply.text, /invocation/i);
  }
  assert.doesNotMatch(reply.text, SECRETS);
  assert.doesNotMatch(reply.text, /invocation/i);
});

test('WI-12 a key of Bedrock is sent in the place of a signature', async () => {
  for (const [script, stream] of [
    [answering(hello), false],
    [streamOf(eventsOf(hello).map(chunkOf)), true],
  ] as const) {
    const { reply, bill } = await ask(script, { model: KEYED, stream });
    assert.deepEqual([reply.status, bill.charged], [200, 70], reply.text);
    assert.equal(sent().headers.authorization, 'Bearer sk-of-the-operator');
    assert.equal(sent().headers['x-amz-date'], undefined);
  }
});

test('WI-12 callers of chat completions get a translation of Claude at Bedrock, at the same price', async () => {
  const usage = {
    inputTokens: 900,
    outputTokens: 40,
    totalTokens: 5_440,
    cacheReadInputTokens: 4_000,
    cacheWriteInputTokens: 500,
    cacheDetails: [
      { inputTokens: 300, ttl: '5m' },
      { inputTokens: 200, ttl: '1h' },
    ],
  };
  const output = { message: { role: 'assistant', content: [{ text: 'Rome.' }] } };
  const whole = JSON.stringify({ output, stopReason: 'end_turn', usage, metrics: { latencyMs: 5 } });
  const { reply, bill } = await asChat({ body: whole }, { model: MODEL });
  assert.deepEqual([reply.status, bill.charged], [200, 2_115], reply.text);
  assert.equal(sent().path, `${PATH}/converse`);
});

test('WI-10 Bedrock counts a prompt for Claude', async () => {
  const counting = { url: service.url, key: app.liveKey, user: await newUser(0), body: { model: MODEL, ...ASKED } };
  upstream.script({ body: JSON.stringify({ inputTokens: 78 }) });
  assert.deepEqual((await send('/v1/messages/count_tokens', counting)).body, { input_tokens: 78, is_estimated: false });
  // Counts are refused to profiles of several regions.
  assert.equal(sent().path, `/model/${encodeURIComponent(CLAUDE.slice(3))}/count-tokens`);
  const { input } = sent().body as { readonly input: { readonly invokeModel: { readonly body: string } } };
  const asked = JSON.parse(Buffer.from(input.invokeModel.body, 'base64').toString()) as Fields;
  assert.deepEqual(asked, { anthropic_version: 'bedrock-2023-05-31', max_tokens: 1, ...ASKED });
  assert.equal(signatureFault(sent(), BEDROCK_ACCOUNT), undefined);
  upstream.script(failed(400, 'ValidationException'));
  const { body } = await send('/v1/messages/count_tokens', counting);
  assert.equal(body['is_estimated'], true);
});

test('ER-03 failures of Claude at Bedrock have the same kind by each way', async () => {
  for (const [status, type, told, message] of [
    [429, 'ThrottlingException', 'upstream_throttled'],
    [403, 'AccessDeniedException', 'upstream_unauthorized'],
    [400, 'ValidationException', 'upstream_rejected'],
    [400, 'ValidationException', 'context_length_exceeded', 'Input is too long for requested model.'],
    [408, 'ModelTimeoutException', 'upstream_timeout'],
    [424, 'ModelErrorException', 'upstream_outage'],
    [500, 'InternalServerException', 'upstream_outage'],
  ] as const) {
    const script = failed(status, type, message);
    const inStream = frame(
      'exception',
      type.replace(/^./, (first) => first.toLowerCase()),
      { message },
    );
    for (const { reply, bill } of [
      await ask(script, { model: MODEL }),
      await ask(script, { model: MODEL, stream: true }),
      await ask(streamOf([inStream]), { model: MODEL, stream: true }),
      await ask({ body: JSON.stringify({ __type: `com.amazon#${type}`, message }) }, { model: MODEL }),
      await ask({ body: JSON.stringify({ __type: type, message }) }, { model: MODEL, stream: true }),
    ]) {
      assert.deepEqual([typeOf(reply), bill.charged], [told, 0], `${type}: ${reply.text}`);
      assert.doesNotMatch(reply.text, SECRETS);
    }
  }
});

test('CC-11 a stream of Claude at Bedrock that breaks off is free', async () => {
  const [start, ping, block, ...others] = eventsOf(hello).map(chunkOf);
  const begun = [start, ping, block, others[0]] as readonly Buffer[];
  const bad = Buffer.from(others[1] ?? '');
  bad.writeUInt8((bad.at(-1) ?? 0) ^ 1, bad.length - 1);
  const long = Buffer.alloc(16);
  long.writeUInt32BE(2 ** 24 - 1);
  const exception = frame('exception', 'modelStreamErrorException', { message: 'The vendor says so.' });
  for (const [what, script] of [
    ['an exception', streamOf([...begun, exception])],
    ['a cut', streamOf(begun, Infinity, [{ destroy: true }])],
    ['an end', streamOf([...begun, (others[1] ?? exception).subarray(0, 40)])],
    ['a wrong checksum', streamOf([...begun, bad, ...others.slice(2)])],
    ['a frame without an end', streamOf([...begun, long])],
    ['bytes that are not UTF-8', streamOf([...begun, frame('event', 'chunk', { bytes: '/w==' })])],
    ['text in the place of frames', { body: [{ write: 'event: ping\ndata: {}\n\n' }] }],
  ] as const) {
    const { reply, bill } = await ask(script, { model: MODEL, stream: true });
    assert.ok(bill.charged === 0 && /"type":"error"/.test(reply.text), `${what}: ${bill.charged}, ${reply.text}`);
    assert.doesNotMatch(reply.text, SECRETS);
  }
  // Behind reason and usage, nothing takes an answer back.
  for (const end of [exception, bad]) {
    const { bill } = await ask(streamOf([start, ping, block, ...others.slice(0, -1), end] as readonly Buffer[]), {
      model: MODEL,
      stream: true,
    });
    assert.equal(bill.charged, 70);
  }
});

test('WI-12 Bedrock gets the betas and members that it knows, and no others', async () => {
  const headers = {
    'anthropic-beta':
      'claude-code-20250219,interleaved-thinking-2025-05-14,advanced-tool-use-2025-11-20,new-2027-01-01',
  };
  const mark = { type: 'ephemeral', ttl: '1h', scope: 'global' };
  const asked = {
    cache_control: mark,
    metadata: { user_id: 'u' },
    service_tier: 'auto',
    output_format: { type: 'json_schema', schema: { type: 'object' } },
    context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
    system: [{ type: 'text', text: 'You look.', cache_control: mark }],
    tools: [{ name: 'look', input_schema: {}, defer_loading: true, eager_input_streaming: true, strict: true }],
  };
  await ask(answering(hello), { ...asked, model: MODEL }, { headers });
  const kept = { type: 'ephemeral', ttl: '1h' };
  const tool = { name: 'look', input_schema: {}, strict: true };
  const { messages, ...body } = sent().body as Fields;
  assert.deepEqual(body, {
    anthropic_version: 'bedrock-2023-05-31',
    anthropic_beta: ['interleaved-thinking-2025-05-14', 'tool-search-tool-2025-10-19', 'tool-examples-2025-10-29'],
    max_tokens: 500,
    output_config: { format: asked.output_format },
    system: [{ type: 'text', text: 'You look.', cache_control: kept }],
    tools: [{ ...tool, defer_loading: true }],
  });
  assert.deepEqual(messages, [
    { role: 'user', content: [{ type: 'text', text: 'Where? '.repeat(1_000), cache_control: kept }] },
  ]);
  // A model that refuses betas gets none, and nothing that needs one.
  await ask(answering(hello), { ...asked, model: KEYED }, { headers });
  const { anthropic_beta: betas, tools } = sent().body as Fields;
  assert.deepEqual([betas, tools], [undefined, [{ name: 'look', input_schema: {} }]]);
  assert.equal(sent().headers['anthropic-beta'], undefined);
});

test('MO-09 Bedrock takes no addresses of images, which is said by name', async () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const body = { model: MODEL, max_tokens: 500, messages: [{ role: 'user', content: [image] }] };
  const user = await newUser(1_000_000);
  const { status, body: told } = await send('/v1/messages', { url: service.url, key: app.liveKey, user, body });
  assert.deepEqual([status, (told['error'] as Fields)['param']], [400, 'messages[0].content[0].source']);
});
