import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPurserError, verifyWebhook, type WebhookEvent } from '../../../packages/sdk/src/sdk.ts';
import { chat } from '../../support/client.ts';
import { findPython, PYTHON_PACKAGE, runPython } from '../../support/python-package.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { setWebhookStage } from '../../support/webhook-stage.ts';

/** Deliveries of the real service to an app's endpoint that uses the SDK. */

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
const python = findPython();
/** The Python package verifies the same deliveries, if there is a Python. */
const VERIFY = `
import json, sys
from purser import verify_webhook
events = [verify_webhook(**delivery) for delivery in json.loads(sys.argv[1])]
print(json.dumps([[event.id, event.type, event.data.user_id] for event in events]))`;
const stage = await setWebhookStage((_path, times) => (times === 1 ? 500 : 200));

test('SDK-03 each event type is verified as sent', async () => {
  const events = ['balance.low', 'connection.created', 'topup.completed'];
  const { appId, liveKey, path, secret } = await stage.subscribe({ events, lowBalanceThresholdMicros: 5_000_000 });
  await stage.connect(appId, 'anna', true);
  await stage.topUp(appId, 'anna', 5_000_000);
  stage.upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  assert.equal((await chat({ url: stage.service.url, key: liveKey, user: 'anna' })).status, 200);
  await waitUntil('all deliveries', () => stage.receiver.at(path).length >= events.length);
  await stage.whenQuiet();
  const first = stage.receiver.at(path).length;
  await stage.endWaits();
  await waitUntil('another', () => stage.receiver.at(path).length > first);
  const verified: WebhookEvent[] = [];
  for (const { headers, body } of stage.receiver.at(path)) {
    const signature = String(headers['x-service-signature']);
    const event = await verifyWebhook({ body, signature, secret });
    assert.deepEqual(
      [event.id, event.type, event.appId],
      [headers['x-service-event-id'], headers['x-service-event-type'], appId],
    );
    assert.equal(event.data.userId, 'anna');
    if (event.type === 'topup.completed') assert.equal(event.data.balanceMicros, 5_000_000);
    verified.push(event);
    for (const wrong of [{ secret: `${secret}x` }, { body: `${body.toString()} ` }, { nowSeconds: 0 }]) {
      await assert.rejects(verifyWebhook({ body, signature, secret, ...wrong }), (error) =>
        isPurserError(error, 'WebhookVerificationError'),
      );
    }
  }
  if (typeof python !== 'string') {
    const deliveries = stage.receiver.at(path).map(({ headers, body }) => {
      return { body: body.toString(), signature: headers['x-service-signature'], secret };
    });
    const environment = { PYTHONPATH: `${PYTHON_PACKAGE}/src` };
    const told = await runPython(['-c', VERIFY, JSON.stringify(deliveries)], { environment });
    assert.deepEqual(
      JSON.parse(told),
      verified.map(({ id, type }) => [id, type, 'anna']),
    );
  }
  assert.deepEqual([...new Set(verified.map(({ type }) => type))].toSorted(), events);
  const ids = verified.map(({ id }) => id);
  assert.ok(new Set(ids).size < ids.length, 'the first one was sent again');
});
