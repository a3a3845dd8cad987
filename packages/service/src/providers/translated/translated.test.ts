import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { TextRun } from '@purser/text-runs/text-run.ts';
import { startScriptedUpstream } from '../../../../../tests/support/scripted-upstream.ts';
import { anthropicDialect } from '#providers/anthropic/dialect.ts';
import { type ProviderCall, type StreamChunk, UpstreamError } from '#providers/port/provider.ts';
import type { Dialect } from '#providers/dialect/dialect.ts';
import { createTranslated } from '#providers/translated/translated.ts';
import { createVendorHttp } from '#providers/transport/vendor-fetch.ts';

function callOf(fields: Partial<ProviderCall> = {}): ProviderCall {
  return {
    request: { messages: [{ role: 'user', content: 'Hello' }] },
    requestText: '{}',
    providerModel: 'claude-sonnet-4-5',
    outputTokens: 4_000,
    outputLimitParameter: 'max_completion_tokens',
    timeoutMs: 10_000,
    ...fields,
  };
}

async function stageOf(t: TestContext, change: (dialect: Dialect) => Partial<Dialect> = () => ({})) {
  const upstream = await startScriptedUpstream();
  const http = createVendorHttp();
  t.after(async () => {
    http.close();
    await upstream.close();
  });
  const refused: string[] = [];
  const key = {
    name: 'k',
    isToken: false,
    current: () => 'secret',
    refused: (text: string) => void refused.push(text),
  };
  const dialect = anthropicDialect({ baseUrl: upstream.baseUrl });
  return { upstream, refused, provider: createTranslated({ dialect: { ...dialect, ...change(dialect) }, http, key }) };
}

const isFailure = (kind: string) => (fault: unknown) => fault instanceof UpstreamError && fault.kind === kind;
const NEVER = new AbortController().signal;

test('WA-07 no output limit beyond the hold is sent', async (t) => {
  const { upstream, provider } = await stageOf(t, ({ settingsOf }) => ({
    settingsOf: (call) => ({ ...settingsOf(call), maxOutputTokens: call.outputTokens + 1 }),
  }));
  await assert.rejects(provider.complete(callOf()), isFailure('unsent'));
  await assert.rejects(provider.stream(callOf(), NEVER), isFailure('unsent'));
  assert.equal(upstream.requests.length, 0);
});

test('WA-07 a thinking budget counts towards the output limit', async (t) => {
  const { upstream, provider } = await stageOf(t);
  const request = { ...callOf().request, reasoning_effort: 'medium' };
  await assert.rejects(provider.complete(callOf({ request })), isFailure('outage'));
  const { max_tokens: limit, thinking } = (upstream.requests[0]?.body ?? {}) as Record<string, unknown>;
  assert.deepEqual([limit, thinking], [4_000, { type: 'enabled', budget_tokens: 2_000 }]);
});

test('CC-09 a stream’s deadline ends with its first part', async (t) => {
  const { upstream, provider } = await stageOf(t);
  upstream.script({ body: [{ hang: true }] });
  await assert.rejects(provider.complete(callOf({ timeoutMs: 50 })), isFailure('timeout'));
  await assert.rejects(provider.stream(callOf({ timeoutMs: 50 }), NEVER), isFailure('timeout'));
});

test('CC-11 a stream whose caller leaves fails as given-up', async (t) => {
  const { upstream, provider } = await stageOf(t);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id: 'm', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null, usage };
  const events = [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
  ];
  const write = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  upstream.script({ body: [{ write }, { hang: true }] });
  const caller = new AbortController();
  const source = await provider.stream(callOf(), caller.signal);
  assert.equal((await source.first())?.length, 1);
  const rest = source.rest(() => true);
  caller.abort();
  await assert.rejects(rest, isFailure('given-up'));
  await upstream.requests[0]?.closed;
  assert.equal(upstream.requests[0]?.aborted, true);
  await assert.rejects(provider.stream(callOf(), AbortSignal.abort()), isFailure('unsent'));
});

test('MO-11 a refused key is reported to its source for renewal', async (t) => {
  const { upstream, refused, provider } = await stageOf(t);
  const error = { type: 'error', error: { type: 'authentication_error', message: 'invalid x-api-key' } };
  upstream.script({ status: 401, body: JSON.stringify(error) });
  await assert.rejects(provider.complete(callOf()), isFailure('unauthorized'));
  await assert.rejects(provider.stream(callOf(), NEVER), isFailure('unauthorized'));
  assert.deepEqual(refused, ['secret', 'secret']);
});

test('WI-09 the stop sequence that a vendor names is in the choice', async (t) => {
  const { upstream, provider } = await stageOf(t);
  const usage = { input_tokens: 1, output_tokens: 1 };
  const stop = { stop_reason: 'stop_sequence', stop_sequence: 'END' };
  const head = { id: 'm', type: 'message', role: 'assistant', model: 'm', usage };
  const content = [{ type: 'text', text: 'a' }];
  upstream.script({ body: JSON.stringify({ ...head, content, ...stop }) });
  const [choice] = (await provider.complete(callOf())).choices;
  assert.deepEqual([choice?.finish_reason, choice?.['stop_reason']], ['stop', 'END']);
  const events = [
    { type: 'message_start', message: { ...head, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'a' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: stop, usage },
    { type: 'message_stop' },
  ];
  const write = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
  upstream.script({ body: [{ write }] });
  const source = await provider.stream(callOf(), NEVER);
  const reasons: unknown[] = [];
  const take = (chunks: readonly StreamChunk[]): true => {
    for (const chunk of chunks) if (!(chunk instanceof TextRun)) reasons.push(chunk.choices[0]?.['stop_reason']);
    return true;
  };
  take((await source.first()) ?? []);
  await source.rest(take);
  assert.equal(reasons.at(-1), 'END');
});
