import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { chargeFor } from '../support/catalogue.ts';
import { createGate } from '../support/gate.ts';
import { openChat } from '../support/open-chat.ts';
import { receiptNamed } from '../support/receipts.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { startSecondGateway } from '../support/second-gateway.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 77, completion_tokens: 33, total_tokens: 110 };
const CHARGE = chargeFor({ prompt: 77, completion: 33 });
const BODY = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
const ANSWER = completionBody({ model: 'large-upstream', content: 'A whole answer.', usage: USAGE });

const { upstream, service, app, newUser } = await setStage({ model: { timeoutMs: 10_000 } });

test('CC-11 a stopping service waits for a plain call whose caller has left', async () => {
  const other = await startSecondGateway(service);
  const user = await newUser(BALANCE);
  const gate = createGate();
  upstream.script({ body: [{ waitFor: gate.opened }, { write: ANSWER }] });
  const chat = openChat({ url: other.url, key: app.liveKey, user, body: BODY, correlationId: user });
  chat.head.catch(() => {});
  const request = await upstream.arrival(0);
  chat.leave();
  await chat.closed;
  const stopped = other.close();
  await Promise.race([request.closed, pause(500)]); // Long enough for a wrong service to stop; a right one is still waiting.
  gate.open();
  await stopped;
  const receipt = await waitUntil('the call is settled', () => receiptNamed(service.database, user));
  assert.deepEqual([receipt.outcome, receipt.charged], ['answered', CHARGE]);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - CHARGE, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});
