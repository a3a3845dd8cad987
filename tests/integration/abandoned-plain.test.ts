import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createGate } from '../support/gate.ts';
import { openChat } from '../support/open-chat.ts';
import { receiptNamed } from '../support/receipts.ts';
import {
  completionBody,
  type ScriptedUpstream,
  startScriptedUpstream,
  type UpstreamStep,
} from '../support/scripted-upstream.ts';
import { startSecondGateway } from '../support/second-gateway.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 77, completion_tokens: 33, total_tokens: 110 };
const CHARGE = chargeFor({ prompt: 77, completion: 33 });
const BODY = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
const ANSWER = completionBody({ model: 'large-upstream', content: 'A whole answer.', usage: USAGE });
const JSON_TYPE = { 'content-type': 'application/json' };

let upstream: ScriptedUpstream;
let service: TestService;
let app: TestApp;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl, { timeoutMs: 10_000 }));
  app = await service.addApp();
});

after(async () => {
  await service.close();
  await upstream.close();
});

async function expectEnd(user: string, outcome: string, charge: number): Promise<void> {
  const receipt = await waitUntil('the call is settled', () => receiptNamed(service.database, user));
  assert.deepEqual([receipt.outcome, receipt.charged], [outcome, charge]);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - charge, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
}

/** A caller who leaves while the provider waits between the parts of its answer. */
async function abandon(url: string, user: string, before: readonly UpstreamStep[], rest: readonly UpstreamStep[]) {
  await service.fund(app, user, BALANCE);
  const gate = createGate();
  upstream.script({ headers: JSON_TYPE, body: [...before, { waitFor: gate.opened }, ...rest] });
  const index = upstream.requests.length;
  const chat = openChat({ url, key: app.liveKey, user, body: BODY, correlationId: user });
  chat.head.catch(() => {});
  const request = await upstream.arrival(index);
  chat.leave();
  await chat.closed;
  return { gate, request };
}

for (const [when, before, rest] of [
  ['before the provider answers', [], [{ write: ANSWER }]],
  ['after the head of the provider', [{ write: '' }], [{ write: ANSWER }]],
  ['in the body of the provider', [{ write: ANSWER.slice(0, 99) }], [{ write: ANSWER.slice(99) }]],
] as const) {
  test(`CC-11 a plain call left ${when} runs to its end and is charged`, async () => {
    const user = `left ${when}`.replaceAll(' ', '-');
    const { gate, request } = await abandon(service.url, user, before, rest);
    assert.equal((await service.wallet(app, user)).held > 0, true);
    gate.open();
    await expectEnd(user, 'answered', CHARGE);
    await request.closed;
    assert.equal(request.aborted, false);
  });
}

test('CC-11 a plain call that its provider fails after its caller left is free', async () => {
  const { gate } = await abandon(service.url, 'failed', [{ write: ANSWER.slice(0, 99) }], [{ destroy: true }]);
  gate.open();
  await expectEnd('failed', 'failed', 0);
});

test('CC-08 a caller who leaves within the request costs nothing and reaches no provider', async () => {
  await service.fund(app, 'unsent', BALANCE);
  const before = upstream.requests.length;
  const chat = openChat({ url: service.url, key: app.liveKey, user: 'unsent', body: BODY, missingBytes: 10 });
  chat.head.catch(() => {});
  await waitUntil('the service has the connection', () => chat.isConnected());
  chat.leave();
  await chat.closed;
  // The next call shows that the service is past it: what it would have done for the first is done.
  upstream.script({ body: ANSWER });
  const next = openChat({ url: service.url, key: app.liveKey, user: 'unsent', body: BODY, correlationId: 'unsent' });
  await next.closed;
  assert.equal(upstream.requests.length, before + 1);
  await expectEnd('unsent', 'answered', CHARGE);
});

test('CC-11 a plain call whose caller has left is waited for when the service stops', async () => {
  const other = await startSecondGateway(service);
  const { gate, request } = await abandon(other.url, 'stopped', [], [{ write: ANSWER }]);
  const stopped = other.close();
  await Promise.race([request.closed, pause(500)]); // Time enough to do wrong; a service that waits still waits.
  gate.open();
  await stopped;
  await expectEnd('stopped', 'answered', CHARGE);
});
