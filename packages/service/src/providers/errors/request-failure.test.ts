import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createHttpClient } from '@purser/upstream-http/client.ts';
import { atAddress } from '#providers/compatible-entry.ts';
import { type ProviderCall, UpstreamError } from '#providers/port/provider.ts';
import { upstreamFailureOf } from '#providers/errors/request-failure.ts';
import { responseBytes, startRawServer } from '../../../../upstream-http/src/testing/raw-server.ts';

const CHUNK = 'data: {"id":"chatcmpl-1","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n';
const STREAM_HEAD = 'HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n';

function callOf(timeoutMs: number): ProviderCall {
  return {
    request: {},
    requestText: '{}',
    providerModel: 'm',
    outputTokens: 1,
    outputLimitParameter: 'max_tokens',
    timeoutMs,
  };
}

async function providerOf(t: TestContext, respond: (socket: Socket) => void) {
  const server = await startRawServer({ t, respond: ({ socket }) => respond(socket) });
  const http = createHttpClient();
  t.after(http.close);
  return atAddress(http, `${server.url.origin}/v1`, undefined);
}

function isFailure(kind: UpstreamError['kind']): (fault: unknown) => boolean {
  return (fault) => fault instanceof UpstreamError && fault.kind === kind;
}

type Row = readonly [what: string, respond: (socket: Socket) => void, kind: UpstreamError['kind'], timeoutMs?: number];
const FAILURES: readonly Row[] = [
  ['closes the connection', (socket) => socket.destroy(), 'outage'],
  ['does not speak HTTP', (socket) => socket.write('CANARY\r\n\r\n'), 'outage'],
  ['is silent', () => {}, 'timeout', 100],
];

for (const [what, respond, kind, timeoutMs = 10_000] of FAILURES) {
  test(`CC-09 a provider that ${what} fails the call as ${kind}`, async (t) => {
    const provider = await providerOf(t, respond);
    await assert.rejects(provider.complete(callOf(timeoutMs)), isFailure(kind));
    await assert.rejects(provider.stream(callOf(timeoutMs), new AbortController().signal), isFailure(kind));
  });
}

test('CC-09 a buffered body of invalid UTF-8 is malformed', async (t) => {
  const provider = await providerOf(t, (socket) => socket.write(responseBytes('x').replace('x', '\xff'), 'latin1'));
  await assert.rejects(provider.complete(callOf(10_000)), isFailure('malformed'));
});

test('CC-11 a broken stream fails as outage, an abandoned one as given-up', async (t) => {
  let socket: Socket | undefined;
  const provider = await providerOf(t, (connection) => {
    socket = connection;
    connection.write(STREAM_HEAD + CHUNK);
  });
  const broken = await provider.stream(callOf(10_000), new AbortController().signal);
  assert.equal((await broken.first())?.length, 1);
  const rest = broken.rest(() => true);
  socket?.destroy();
  await assert.rejects(rest, isFailure('outage'));

  const caller = new AbortController();
  const left = await provider.stream(callOf(10_000), caller.signal);
  assert.equal((await left.first())?.length, 1);
  const waiting = left.rest(() => true);
  caller.abort();
  await assert.rejects(waiting, isFailure('given-up'));
});

test('ER-03 a fault that is not a failed request passes unchanged', () => {
  const fault = new TypeError('ours');
  assert.equal(upstreamFailureOf(fault), fault);
});
