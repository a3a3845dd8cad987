import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import { createRelay } from '#http/forwarding/relay.ts';
import { openExchange } from '#http/answers/respond.ts';

async function listening(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('CE-02 a gateway that never answers is given up and disconnected', async (t) => {
  const left = Promise.withResolvers<void>();
  const baseUrl = await listening(t, (_request, response) => void response.on('close', () => left.resolve()));
  const relay = createRelay();
  t.after(relay.close);
  const url = await listening(t, (request, response) => {
    const relayed = { baseUrl, target: '/balance', headers: [], body: Buffer.alloc(0), silenceMsMax: 20 };
    relay.send(openExchange(request, response), relayed).catch((fault: unknown) => response.end(String(fault)));
  });
  assert.match(await (await fetch(url)).text(), /The other cell was silent for too long/);
  await left.promise;
});
