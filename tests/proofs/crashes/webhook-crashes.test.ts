import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ROUNDS } from '../../support/rounds.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { setWebhookStage, type SubscribedApp } from '../../support/webhook-stage.ts';
import { startWorkers, WORKER_SECRET } from './webhook-workers.ts';

const EVENTS = 70 * ROUNDS; // 140 in a short run.
const APPS = 7;
const KILLS = 2 * ROUNDS;
const FAILURES_MAX = 2;
const END_MS_MAX = 600_000;

/** The first attempts of every third event fail. The body says which event it is. */
const { receiver, service, subscribe, topUp, owner, events, endWaits } = await setWebhookStage(
  (_path, _times, { body, headers }) => {
    const attempt = Number(headers['x-service-delivery-attempt']);
    const { id } = JSON.parse(body.toString('utf8')) as { id: string };
    return Number.parseInt(id.slice(-4), 16) % 3 === 0 && attempt <= FAILURES_MAX ? 503 : 200;
  },
  { PURSER_SECRET: WORKER_SECRET },
);
const workers = await startWorkers(2, service.database.url);
after(() => workers.close());

test(`WH-13 WH-04 ${EVENTS} events arrive unchanged despite ${KILLS} kills`, async () => {
  const apps: SubscribedApp[] = [];
  for (let count = 0; count < APPS; count += 1) apps.push(await subscribe());
  const [leaving, ...staying] = apps;
  assert.ok(leaving !== undefined);
  let sentToLeaving = 0;
  const busy = { isOver: false };
  const time = keepTimeGoing(busy);
  for (let number = 0; number < EVENTS; number += 1) {
    const app = apps[number % APPS];
    if (app !== undefined) await topUp(app.appId, `user-${number}`, 1_000 + number);
    if (number % Math.floor(EVENTS / KILLS) === 0) await workers.replaceOne();
    if (number === Math.floor(EVENTS / 2)) {
      await owner.get(204, 'DELETE', `/apps/${leaving.appId}/webhook`);
      sentToLeaving = receiver.at(leaving.path).length;
    }
  }
  for (const { appId } of staying) {
    await waitUntil(
      'every event has been delivered',
      async () => (await events(appId)).every(({ state }) => state === 'delivered'),
      END_MS_MAX,
    );
  }
  busy.isOver = true;
  await time;
  assert.equal(receiver.at(leaving.path).length, sentToLeaving, 'nothing is sent after the subscription was removed');
  for (const app of staying) await assertArrived(app);
  const repeated = receiver.received.length - new Set(receiver.received.map(({ headers }) => attemptOf(headers))).size;
  console.log(`${EVENTS} events, ${receiver.received.length} attempts, ${repeated} of them made twice, ${KILLS} kills`);
});

/** Makes due at once everything that waits for its time or for the lease of a killed worker. */
async function keepTimeGoing(busy: { readonly isOver: boolean }): Promise<void> {
  while (!busy.isOver) {
    await endWaits();
    await sql(service)`update webhooks.events set lease_until = lease_until - interval '3 s' where state = 'sending'`;
    await new Promise((resolve) => {
      setTimeout(resolve, 500);
    });
  }
}

function attemptOf(headers: Readonly<Record<string, unknown>>): string {
  return `${String(headers['x-service-event-id'])} ${String(headers['x-service-delivery-attempt'])}`;
}

async function assertArrived({ appId, path }: SubscribedApp): Promise<void> {
  const bodies = new Map<string, string>();
  for (const { headers, body } of receiver.at(path)) {
    const id = String(headers['x-service-event-id']);
    const text = body.toString('utf8');
    assert.equal(bodies.get(id) ?? text, text, 'the body is the same at every attempt');
    assert.equal((JSON.parse(text) as { id: string }).id, id);
    bodies.set(id, text);
  }
  const stored = (await events(appId)).map(({ event_id: id }) => id);
  assert.deepEqual([...bodies.keys()].toSorted(), stored.toSorted(), 'each event arrived, and nothing else did');
}
