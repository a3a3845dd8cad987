import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../../support/client.ts';
import { exchangeRaw, openRaw, parseRaw, type RawConnection, type RawReply } from '../../support/raw-http.ts';
import { assertEnvelope } from '../../support/refusal.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';

const { upstream, service, app } = await setStage({ model: { timeoutMs: 60_000 } });
await service.fund(app, 'u', 1_000_000);

function assertRefusedRaw(reply: RawReply, expected: { status: number; code: string; type: string }): void {
  assert.equal(reply.status, expected.status, reply.text);
  assert.equal(reply.headers.get('content-type'), 'application/json; charset=utf-8', reply.text);
  const body = JSON.parse(reply.body) as { error: Record<string, unknown> };
  assertEnvelope(body, expected.type, reply.text);
  assert.equal(body.error['code'], expected.code);
  assert.match(reply.headers.get('x-correlation-id') ?? '', /^[A-Za-z0-9._:-]{1,128}$/);
  assert.equal(reply.headers.get('x-correlation-id'), body.error['correlationId']);
  assert.equal(reply.headers.get('x-request-id'), body.error['correlationId']);
  assert.equal(reply.headers.get('x-should-retry'), 'false');
  assert.equal(reply.headers.get('content-length'), String(Buffer.byteLength(reply.body)));
}

const BAD_REQUEST = { status: 400, code: 'BAD_REQUEST', type: 'invalid_request_error' };

const MALFORMED: readonly (readonly [string, string | Buffer])[] = [
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['bytes of TLS', Buffer.from('16030100f8010000f40303', 'hex')],
  ['an invalid version', 'GET /v1/models HTTP/9.9\r\nhost: x\r\n\r\n'],
  ['an unknown method', 'FETCH /v1/models HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a space in the path', 'GET /v1/mod els HTTP/1.1\r\nhost: x\r\n\r\n'],
  ['a header without a colon', 'GET /v1/models HTTP/1.1\r\nhost x\r\n\r\n'],
  ['a header name with a space', 'GET /v1/models HTTP/1.1\r\nbad name: x\r\n\r\n'],
  ['a zero byte in a header', 'GET /v1/models HTTP/1.1\r\nhost: a\0b\r\n\r\n'],
  ['headers of 40 KB', `GET /v1/models HTTP/1.1\r\nhost: x\r\nx-long: ${'a'.repeat(40_000)}\r\n\r\n`],
  ['a path of 40 KB', `GET /${'a'.repeat(40_000)} HTTP/1.1\r\nhost: x\r\n\r\n`],
  ['two lengths', 'POST /balance HTTP/1.1\r\nhost: x\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n{}'],
  ['a length that is not a number', 'POST /balance HTTP/1.1\r\nhost: x\r\ncontent-length: one\r\n\r\n{}'],
  ['a negative length', 'POST /balance HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n{}'],
  [
    'a length and chunks at once',
    'POST /balance HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
];

for (const [name, bytes] of MALFORMED) {
  test(`ER-08 a request with ${name} is a 400 in the envelope`, async () => {
    assertRefusedRaw(await exchangeRaw(service.url, bytes), BAD_REQUEST);
  });
}

test('ER-08 a chunk without a size is a 400 in the envelope', async () => {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.liveKey}\r\nx-service-user: u\r\n`;
  assertRefusedRaw(await exchangeRaw(service.url, `${head}transfer-encoding: chunked\r\n\r\nzz\r\n`), BAD_REQUEST);
});

test('ER-04 an expectation that cannot be met is refused', async () => {
  const reply = await exchangeRaw(
    service.url,
    'GET /healthz HTTP/1.1\r\nhost: x\r\nexpect: the-unexpected\r\nconnection: close\r\n\r\n',
  );
  assert.match(reply.headers.get('x-correlation-id') ?? '', /^[A-Za-z0-9._:-]{1,128}$/, reply.text);
  assertRefusedRaw(reply, BAD_REQUEST);
});

test('ER-04 CONNECT is refused like any other unrouted method', async () => {
  const reply = await exchangeRaw(service.url, 'CONNECT example.test:443 HTTP/1.1\r\nhost: example.test:443\r\n\r\n');
  assert.ok(reply.status === 404 || reply.status === 405, reply.text);
});

test('ER-02 invalid chunks do not lose the correlation id', async () => {
  const head = `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.liveKey}\r\n`;
  const own = 'x-correlation-id: mine\r\nx-service-user: u\r\ntransfer-encoding: chunked\r\n\r\n';
  const reply = await exchangeRaw(service.url, `${head}${own}zz\r\n`);
  assert.equal(reply.headers.get('x-correlation-id'), 'mine', reply.text);
});

test('ER-04 an absolute request line names its path', async () => {
  const reply = await exchangeRaw(
    service.url,
    `GET ${service.url}/healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
  );
  assert.equal(reply.status, 200, reply.text);
});

test('ER-01 a call refused unread gets one answer', async () => {
  const encoding = 'transfer-encoding: gzip\r\n'; // `chunked` is not last: the parser refuses the body after handing on the head.
  const reply = await exchangeRaw(service.url, `POST /balance HTTP/1.1\r\nhost: x\r\n${encoding}\r\n{}`);
  assert.equal(reply.text.indexOf('HTTP/1.1', 1), -1, reply.text);
});

/** Sends a call, then garbage once the call runs, and returns all bytes that came back when the call is over. */
async function spoil(isStream: boolean, isRunning: (connection: RawConnection) => Promise<unknown>): Promise<string> {
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  const steps = streamSteps({ model: 'm', pieces: ['begun'], usage, includeUsageChunk: true });
  const whole = { write: completionBody({ model: 'm', content: 'ended', usage }) };
  upstream.script({
    body: isStream ? [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] : [{ waitFor: held }, whole],
  });
  const body = JSON.stringify({ model: 'large', stream: isStream, messages: [{ role: 'user', content: 'Hello' }] });
  const connection = openRaw(service.url);
  connection.write(
    `POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${app.liveKey}\r\nx-service-user: u\r\n` +
      `content-length: ${body.length}\r\n\r\n${body}`,
  );
  await isRunning(connection);
  connection.write('this is no request\r\n\r\n');
  // The service has read the garbage by the time it has answered calls that arrived after it.
  for (let count = 0; count < 3; count += 1) await send('/healthz', { url: service.url });
  release();
  const text = await connection.until((so) => so.includes('[DONE]') || so.includes('ended'));
  connection.close();
  return text;
}

test('ER-06 garbage never gets into a stream', async () => {
  const text = await spoil(true, (connection) => connection.until((so) => so.includes('begun')));
  assert.equal(text.indexOf('HTTP/1.1', 1), -1, text);
  assert.equal(parseRaw(text).status, 200);
});

test('CC-08 a running buffered call is never answered as refused', async () => {
  const next = upstream.requests.length;
  const text = await spoil(false, () => upstream.arrival(next));
  assert.doesNotMatch(text, /BAD_REQUEST/);
});
