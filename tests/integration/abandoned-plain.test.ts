import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasLeft } from '../support/callers-gone.ts';
import { chargeFor } from '../support/catalogue.ts';
import { createGate } from '../support/gate.ts';
import { openChat } from '../support/open-chat.ts';
import { receiptNamed } from '../support/receipts.ts';
import { send } from '../support/client.ts';
import { openRaw, parseRaw } from '../support/raw-http.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { startSecondGateway } from '../support/service.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 77, completion_tokens: 33, total_tokens: 110 };
const CHARGE = chargeFor({ prompt: 77, completion: 33 });
const BODY = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
const ANSWER = completionBody({ model: 'large-upstream', content: 'A whole answer.', usage: USAGE });

const { upstream, service, app, newUser } = await setStage({ model: { timeoutMs: 10_000 } });

test('CC-22 OP-12 a stopping service awaits an abandoned plain call', async () => {
  const other = await startSecondGateway(service);
  const user = await newUser(BALANCE);
  const gate = createGate();
  upstream.script({ body: [{ waitFor: gate.opened }, { write: ANSWER }] });
  const chat = openChat({ url: other.url, key: app.liveKey, user, body: BODY, correlationId: user });
  chat.head.catch(() => {});
  await upstream.arrival(0);
  chat.leave();
  await waitUntil('the service has noticed', () => hasLeft(user));
  const stopped = other.close();
  await (await startSecondGateway(service)).close(); // One that does not wait has stopped by then, too.
  gate.open();
  await stopped;
  const receipt = await waitUntil('the call is settled', () => receiptNamed(service.database, user));
  assert.deepEqual([receipt.outcome, receipt.charged], ['answered', CHARGE]);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - CHARGE, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});

test('OP-12 a stopping service takes calls until proxies can notice', async () => {
  const other = await startSecondGateway(service, { PURSER_STOP_DELAY_SECONDS: '5' });
  const user = await newUser(BALANCE);
  const gate = createGate();
  const stream = JSON.stringify({ ...(JSON.parse(BODY) as object), stream: true });
  const steps = streamSteps({
    model: 'large-upstream',
    pieces: ['Half', 'whole'],
    usage: USAGE,
    includeUsageChunk: true,
  });
  upstream.script(({ body }) =>
    JSON.stringify(body).includes('"stream":true')
      ? { body: [...steps.slice(0, 2), { waitFor: gate.opened }, ...steps.slice(2)] }
      : { body: ANSWER },
  );
  const callTo = (headers: string) =>
    `POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${app.liveKey}\r\nx-service-user: ${user}\r\n` +
    `content-type: application/json\r\ncontent-length: ${BODY.length}\r\n${headers}\r\n${BODY}`;
  const kept = openRaw(other.url);
  kept.write(callTo(''));
  await kept.until((text) => text.includes('A whole answer.'));
  const chat = openChat({ url: other.url, key: app.liveKey, user, body: stream });
  await chat.read('Half');

  const stopped = other.close();
  const readiness = await send('/readyz', { url: other.url, headers: { 'x-service-elsewhere': '1' } });
  assert.deepEqual([readiness.status, readiness.body['reason']], [503, 'The service is stopping.']);
  assert.equal((await send('/healthz', { url: other.url })).status, 200);
  const asked = upstream.requests.length;
  const away = openRaw(other.url);
  away.write(callTo('x-service-elsewhere: 1\r\n'));
  const turned = parseRaw(await away.closed);
  assert.deepEqual([turned.status, turned.headers.get('connection')], [503, 'close']);
  assert.equal(upstream.requests.length, asked);
  // A proxy has this connection open and may use it again at any moment.
  kept.write(callTo('x-correlation-id: again\r\n'));
  const [, again = ''] = (await kept.closed).split(/(?<=answer\.".*)(?=HTTP\/1\.1)/s);
  assert.deepEqual([parseRaw(again).status, parseRaw(again).headers.get('connection')], [200, 'close']);
  const late = openRaw(other.url);
  late.write(callTo(''));
  assert.equal(parseRaw(await late.closed).status, 200);

  await waitUntil('the listener is closed', async () =>
    send('/healthz', { url: other.url }).then(
      () => false,
      () => true,
    ),
  );
  gate.open();
  await stopped;
  await chat.closed;
  assert.match(chat.text(), /whole[^]*data: \[DONE\]\n\n$/);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - 4 * CHARGE, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});
