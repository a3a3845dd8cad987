import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { Caller } from '#developers/keys/directory.ts';
import { createMarkers } from '#cells/routing/marker.ts';
import { CallNotes } from '#gateway/call/call-notes.ts';
import { createForwarding } from '#http/forwarding/forwarding.ts';
import { openExchange } from '#http/answers/respond.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { proofsOf } from '#kernel/crypto/keys.ts';
import { createLog } from '#kernel/log.ts';

async function listening(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const notesOf = (path: string) =>
  path === '/chat' ? new CallNotes({ name: 'chat', path: '/v1/chat/completions', takesLargeBodies: false }) : undefined;

test('CE-02 a forwarded chat call is under way until answered', async (t) => {
  const arrived: ((response: ServerResponse) => void)[] = [];
  const arrival = () => new Promise<ServerResponse>((resolve) => void arrived.push(resolve));
  const baseUrl = await listening(t, (_request, response) => arrived.shift()?.(response));
  const forwarding = createForwarding({
    bodyBytesMax: 2_000_000,
    keys: {
      find: () =>
        ({
          app: { appId: 'a', accountId: 'b', isSuspended: false },
          mode: 'live',
          boundUser: null,
        }) as unknown as Caller,
    },
    map: { otherOf: () => ({ name: 'c2', baseUrl }), isMoving: () => false },
    markers: createMarkers('c1', proofsOf({ secret: Buffer.from('the secret of all cells') })('cells'), systemClock),
    addressOf: () => '192.0.2.7',
    log: createLog('silent'),
  });
  t.after(forwarding.close);
  const handle = forwarding.around(() => assert.fail('the user is elsewhere'));
  const url = await listening(t, (request, response) => {
    void handle(openExchange(request, response, notesOf));
  });
  for (const [path, count] of [
    ['/chat', 1],
    ['/balance', 0],
  ] as const) {
    const asked = arrival();
    const reply = fetch(url + path, { headers: { authorization: 'Bearer k', 'x-service-user': 'u' } });
    const response = await asked;
    assert.equal(forwarding.callsInFlight(), count);
    response.end('done');
    assert.equal(await (await reply).text(), 'done');
  }
  assert.equal(forwarding.callsInFlight(), 0);
});
