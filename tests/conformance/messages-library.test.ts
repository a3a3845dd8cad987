// The vendor's own library reads what the writer of Messages wrote. Over HTTP, with all clients, it is in `clients`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Anthropic from '@anthropic-ai/sdk';
import { ERROR_STATUS, ERROR_TYPE, type ErrorCode } from '@purser/contract/errors.ts';
import { errorOf } from '../../packages/service/src/gateway/wires/messages/reply/error-body.ts';
import { joinStream } from './messages/join-stream.ts';
import { eventsNamed, STREAM_NAMES, STREAMS } from './messages/stream-cases.ts';
import { echoOf, played } from './messages/streams.ts';
import { chunkOf } from './responses/streams.ts';

const PARAMS = { model: 'acme', max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hello' }] };

/** The library, with this as the answer of the service. */
function library(status: number, text: string, type = 'text/event-stream'): Anthropic {
  const fetch = () => Promise.resolve(new Response(text, { status, headers: { 'content-type': type } }));
  return new Anthropic({ apiKey: 'key', maxRetries: 0, fetch });
}

for (const name of STREAM_NAMES) {
  test(`WI-09 the vendor’s library joins a stream: ${name}`, async () => {
    const frames = played(STREAMS[name], { echo: echoOf({ stopSequences: ['END'] }), isSilentFirst: true });
    const blocks: unknown[] = [];
    const stream = library(200, frames).messages.stream(PARAMS);
    stream.on('contentBlock', (block) => void blocks.push(block));
    const { content, stop_reason: stop, stop_sequence: sequence, usage } = await stream.finalMessage();
    const joined = joinStream(eventsNamed(name));
    assert.deepEqual(blocks, content, 'each block is told when it ends');
    assert.deepEqual([content, stop, sequence], [joined['content'], joined['stop_reason'], joined['stop_sequence']]);
    const { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output } = usage;
    assert.deepEqual([input, cached, output], [11, 8, 13]);
  });
}

test('WI-09 the vendor’s library knows each error by its status, type and message', async () => {
  for (const [code, status] of Object.entries(ERROR_STATUS) as [ErrorCode, number][]) {
    const error = { code, message: 'No.', correlationId: 'cor_1', type: ERROR_TYPE[code], param: null };
    const body = errorOf({ error });
    const failure = await failureOf(library(status, JSON.stringify(body), 'application/json').messages.create(PARAMS));
    assert.equal(failure.status, status);
    assert.equal(failure.type, (body['error'] as { readonly type: string }).type);
    assert.deepEqual(failure.error, body);
    assert.match(failure.message, /No\./);
  }
});

test('WI-09 the vendor’s library throws at a failure in a stream', async () => {
  const error = { code: 'UPSTREAM_PROVIDER_ERROR', message: 'It broke.', correlationId: 'c', param: null } as const;
  const frames = played([chunkOf({ content: 'Hi' })], { how: { error: { ...error, type: 'upstream_broken' } } });
  const failure = await failureOf(library(200, frames).messages.stream(PARAMS).finalMessage());
  assert.deepEqual([failure.type, failure.status], ['api_error', undefined]);
  assert.match(failure.message, /It broke\./);
});

async function failureOf(asked: Promise<unknown>): Promise<InstanceType<typeof Anthropic.APIError>> {
  const failure = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  assert.ok(failure instanceof Anthropic.APIError, String(failure));
  return failure;
}
