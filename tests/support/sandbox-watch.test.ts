import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import { newApiKey } from '../../packages/service/src/developers/keys/key-text.ts';
import { createHttpClient } from '../../packages/upstream-http/src/client.ts';
import { watchSandbox } from './sandbox-watch.ts';

test('SB-03 the watch sees requests for test keys only', async (t) => {
  const provider = createServer((_, response) => response.end('{}'));
  const http = createHttpClient();
  const gateway = createServer((_, response) => {
    void nextTurn()
      .then(async () => {
        const { port } = provider.address() as AddressInfo;
        const provided = http.endpoint(new URL(`http://127.0.0.1:${port}/v1/chat`), {});
        await provided.postBuffered('{}', { timeoutMs: 5_000, bytesMax: 1_000 });
      })
      .finally(() => response.end());
  });
  for (const server of [provider, gateway]) await once(server.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}/call`;
  const call = async (key: string) =>
    void (await (await fetch(url, { headers: { authorization: `Bearer ${key}` } })).text());
  const watch = watchSandbox();
  t.after(async () => {
    watch.stop();
    http.close();
    for (const server of [provider, gateway]) server.close();
  });

  await call(newApiKey('live'));
  watch.assertNothingSent();
  await call(newApiKey('sandbox'));
  assert.throws(watch.assertNothingSent, /GET \/call sent http:.*\/v1\/chat/);
  await call(newApiKey('live'));
  assert.throws(watch.assertNothingSent, (fault: assert.AssertionError) => (fault.actual as string[]).length === 1);
});
