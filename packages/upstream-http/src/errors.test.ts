import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHttpClient } from './client.ts';
import { startRawServer } from './testing/raw-server.ts';

const SLOW_DOWN = 'HTTP/1.1 429 Slow\r\nretry-after: 7\r\n';
const ERRORS: readonly (readonly [what: string, answer: string, text: string, isKept: boolean])[] = [
  ['that is whole', `${SLOW_DOWN}content-length: 5\r\n\r\nbusy!`, 'busy!', true],
  ['without a body', `${SLOW_DOWN}content-length: 0\r\n\r\n`, '', true],
  ['of which a part comes', `${SLOW_DOWN}content-length: 9\r\n\r\npart`, 'part', false],
  ['of which nothing comes', `${SLOW_DOWN}content-length: 9\r\n\r\n`, '', false],
  ['that is too large', `${SLOW_DOWN}content-length: 9000\r\n\r\n${'x'.repeat(9_000)}`, 'x'.repeat(8_192), false],
];

for (const [what, answer, text, isKept] of ERRORS) {
  test(`CC-17 of an error ${what}, the beginning is read in time`, async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] });
    const server = await startRawServer({ t, respond: ({ socket }) => void socket.write(answer) });
    const http = createHttpClient();
    t.after(http.close);
    const endpoint = http.endpoint(server.url, {});
    const buffered = endpoint.postBuffered('{}', { timeoutMs: 30_000, bytesMax: 10 });
    await server.heard();
    t.mock.timers.tick(800);
    const { error, ...rest } = await buffered;
    const { head, ...told } = error ?? assert.fail('It is no error.');
    assert.deepEqual(told, { text, retryAfterMs: 7_000 });
    assert.match(head, /\r\nretry-after: 7/i);
    assert.deepEqual(rest, { status: 429, text: undefined, isCut: false, large: undefined });
    const streamed = await endpoint.postStreamed('{}', { silenceMsMax: 30_000, signal: new AbortController().signal });
    const reading = streamed.readError();
    await server.heard(2);
    t.mock.timers.tick(800);
    assert.deepEqual([streamed.status, await reading], [429, { ...told, head }]);
    assert.equal(server.connections(), isKept ? 1 : 2);
  });
}
