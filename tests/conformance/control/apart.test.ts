// The load that strangers and app owners put on their planes must not slow down the calls.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../../support/client.ts';
import { newOwner, personWith } from '../../support/control.ts';
import { countWaiting, lockTable, untilWaiting } from '../../support/lock-wait.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

const { service, app, newUser } = await setStage();
const { url, database } = service;
/** Each waits a quarter of a second for its lock, three at a time. On a busy machine, many have done so before the others are answered. */
const STRANGERS = 200;

test('BI-01 OP-04 balance and readiness requests do not wait for account planes', async () => {
  const user = await newUser(1_000);
  const stranger = personWith(url, `svc_session_${'x'.repeat(43)}`);
  const release = await lockTable(database, 'accounts.sessions');
  let answers = 0;
  const asked = Array.from({ length: STRANGERS }, async () => {
    await stranger.ask('GET', '/sessions/current');
    answers += 1;
  });
  try {
    await untilWaiting(database, 3);
    const [balance, ready] = await Promise.all([
      send('/balance', { url, key: app.liveKey, user }),
      send('/readyz', { url }),
    ]);
    assert.deepEqual([balance.status, ready.status], [200, 200]);
    assert.ok(answers < STRANGERS - 10, `${answers} of ${STRANGERS} strangers were answered before them`);
  } finally {
    await release();
    await Promise.all(asked);
  }
});

test('BI-01 a balance request does not await webhook requests', async () => {
  const user = await newUser(1_000);
  const owner = await newOwner(service);
  const { appId } = await owner.get(201, 'POST', '/apps', { name: 'App' });
  const release = await lockTable(database, 'webhooks.subscriptions');
  let answers = 0;
  const asked = Array.from({ length: STRANGERS }, async () => {
    await owner.ask('GET', `/apps/${String(appId)}/webhook`);
    answers += 1;
  });
  try {
    await untilWaiting(database, 3);
    assert.equal((await send('/balance', { url, key: app.liveKey, user })).status, 200);
    assert.ok(answers < STRANGERS - 10, `${answers} of ${STRANGERS} were answered before it`);
  } finally {
    await release();
    await Promise.all(asked);
  }
});

test('OP-04 concurrent readiness requests share one database query', async () => {
  const release = await lockTable(database, 'db.migrations');
  let most = 0;
  let isOver = false;
  const asked = Promise.all(Array.from({ length: 30 }, () => send('/readyz', { url }))).finally(() => (isOver = true));
  try {
    await waitUntil('all are answered', async () => {
      most = Math.max(most, await countWaiting(database));
      return isOver;
    });
    assert.ok(most <= 1, `${most} statements ran at once`);
    assert.deepEqual(
      [...new Set((await asked).map(({ status, text }) => `${status} ${text}`))],
      ['503 {"status":"unavailable","reason":"The database does not answer."}'],
    );
  } finally {
    await release();
  }
  assert.equal((await send('/readyz', { url })).status, 200);
});
