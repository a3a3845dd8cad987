import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVENT_SCHEMAS } from '../../../packages/contract/src/webhook-events.ts';
import type { EventType } from '../../../packages/contract/src/webhooks.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { sha256 } from '../../../packages/service/src/kernel/crypto/crypto.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createFunding } from '../../../packages/service/src/ledger/funding/funding.ts';
import { chat, send } from '../../support/client.ts';
import { sql } from '../../support/sql.ts';
import { setWebhookStage, type SubscribedApp } from '../../support/webhook-stage.ts';

const stage = await setWebhookStage();
const { receiver, subscribe, topUp, connect, whenQuiet, service, upstream } = stage;
const db = service.database.owner;
const ALL = ['balance.low', 'topup.completed', 'connection.created'];
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface Event {
  readonly id: string;
  readonly type: EventType;
  readonly createdAt: string;
  readonly appId: string;
  readonly data: Readonly<Record<string, unknown>>;
}

async function sentTo({ path }: SubscribedApp): Promise<readonly Event[]> {
  await whenQuiet();
  return receiver.at(path).map(({ body }) => {
    const event = JSON.parse(body.toString('utf8')) as Event;
    EVENT_SCHEMAS[event.type].parse(event); // Strict: every field is described, and none is missing.
    return event;
  });
}

/** Holds money and settles later, as calls do. */
async function hold({ appId }: SubscribedApp, user: string, amount: number): Promise<string> {
  const rows = await sql<{ call_id: string; outcome: string }>(db)`with i as (insert into db.instances (lease_until)
    values (clock_timestamp() + interval '1 minute') returning instance_id),
      c as (select gen_random_uuid() as call_id)
    select c.call_id, null as outcome from c, i`;
  const call = rows[0]?.call_id ?? '';
  const instance = await db.query<{ id: bigint }>('select max(instance_id) as id from db.instances');
  const placed = await db.query<{ outcome: string }>(
    `select outcome from ledger.reserve($1, array[row($2, $3, $4, $5, $5, 0, null, null, false, null, 0, null, null)::db.hold_request])`,
    [instance.rows[0]?.id, call, appId, user, amount],
  );
  assert.equal(placed.rows[0]?.outcome, 'granted');
  return call;
}

async function settle(call: string, charge: number): Promise<void> {
  await sql(db)`select ledger.settle(
    array[row(${call}, ${charge}, 'answered', 'm', null, false, false, 1, 0, 1, 0, 'c', false, 0, null)::ledger.settlement])`;
}

function move(kind: 'refund' | 'claw_back', { appId }: SubscribedApp, user: string, amount: number, key: string) {
  const takeBack = { appId, userId: user as EndUserId, kind, amount: micros(BigInt(amount)), key } as const;
  return createFunding(db).takeBack(takeBack);
}

test('WH-04 WH-06 a payment is reported once with exact fields', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 1 });
  await topUp(app.appId, 'anna', 1_000, 'payment');
  await topUp(app.appId, 'anna', 1_000, 'payment'); // The webhook came twice.
  const [event, ...others] = await sentTo(app);
  assert.deepEqual(others, []);
  assert.match(event?.id ?? '', /^evt_[0-9a-f]{32}$/);
  assert.match(event?.createdAt ?? '', ISO);
  assert.deepEqual(
    { ...event, id: '', createdAt: '' },
    {
      id: '',
      type: 'topup.completed',
      createdAt: '',
      appId: app.appId,
      data: { userId: 'anna', balanceMicros: 1_000, availableMicros: 1_000, currency: 'EUR' },
    },
  );
});

test('WH-09 the document describes events and headers as sent', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 500 });
  await connect(app.appId, 'described', true);
  await topUp(app.appId, 'described', 1_000);
  await settle(await hold(app, 'described', 600), 600);
  const { webhooks } = (await send('/openapi.json', { url: service.url })).body as { webhooks: Described };
  const events = await sentTo(app);
  assert.deepEqual(events.map(({ type }) => type).toSorted(), Object.keys(webhooks).toSorted());
  for (const { headers, body } of receiver.at(app.path)) {
    const event = JSON.parse(body.toString('utf8')) as Event;
    const told = webhooks[event.type]?.post.parameters ?? [];
    const sent = Object.keys(headers).filter((name) => name.startsWith('x-') || name === 'user-agent');
    assert.deepEqual(told.map(({ name }) => name).toSorted(), sent.toSorted());
    for (const { name, schema } of told) {
      if (schema.pattern !== undefined) assert.match(String(headers[name]), new RegExp(schema.pattern));
      if (schema.const !== undefined) assert.equal(headers[name], schema.const);
    }
  }
});

interface Described {
  readonly [type: string]: {
    readonly post: {
      readonly parameters: readonly {
        readonly name: string;
        readonly schema: { readonly pattern?: string; readonly const?: string };
      }[];
    };
  };
}

test('WH-04 an event id is stable, hiding wallet numbers', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 500 });
  await connect(app.appId, 'numbered', true);
  await topUp(app.appId, 'numbered', 1_000, 'numbered');
  await settle(await hold(app, 'numbered', 600), 600);
  const events = await sentTo(app);
  assert.deepEqual(events.map(({ type }) => type).toSorted(), ['balance.low', 'connection.created', 'topup.completed']);
  const rows = await sql<{ cause: string }>(db)`select distinct e.cause from ledger.entries e
    union select w.wallet_id::text from ledger.wallets w
    union select w.wallet_id || ':' || n from ledger.wallets w, generate_series(0, 100) n`;
  const guesses = new Set(
    rows.flatMap(({ cause }) => ALL.map((type) => `evt_${sha256(`${type}:${cause}`).toString('hex').slice(0, 32)}`)),
  );
  assert.deepEqual(
    events.filter(({ id }) => guesses.has(id)),
    [],
  );
  const cause = `select webhooks.event_id('balance.low', '1:1') as id`;
  assert.deepEqual((await db.query(cause)).rows, (await db.query(cause)).rows);
  const right = `select has_table_privilege('purser_live', 'webhooks.event_key', 'select') as may_read`;
  assert.deepEqual((await db.query(right)).rows, [{ may_read: false }]);
});

test('WH-06 credits, refunds and claw-backs are not reported as payments', async () => {
  const app = await subscribe({ events: ['topup.completed'] });
  await stage.open(app.appId, 'anna');
  const credit = { appId: app.appId, userId: 'anna' as EndUserId, amount: micros(500n), key: 'k' };
  await createFunding(db).credit({ ...credit, kind: 'contract_credit' });
  await move('refund', app, 'anna', 100, 'k');
  await move('claw_back', app, 'anna', 100, 'k');
  assert.deepEqual(await sentTo(app), []);
});

test('WH-07 only the first connection is reported', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 1 });
  for (const isConnected of [true, false, true]) await connect(app.appId, 'anna', isConnected);
  const [event, ...others] = await sentTo(app);
  await sql(db)`delete from webhooks.events where app_id = ${app.appId}`; // As after 30 days.
  for (const isConnected of [false, true]) await connect(app.appId, 'anna', isConnected);
  assert.deepEqual(await stage.events(app.appId), []);
  assert.deepEqual(others, []);
  assert.equal(event?.type, 'connection.created');
  assert.deepEqual(Object.keys(event?.data ?? {}), ['userId', 'connectedAt']);
  assert.equal(event?.data['userId'], 'anna');
  assert.match(String(event?.data['connectedAt']), ISO);
});

test('WH-05 each fall below the threshold is reported', async () => {
  const app = await subscribe({ events: ['balance.low'], lowBalanceThresholdMicros: 100 });
  await topUp(app.appId, 'anna', 120);
  const first = await hold(app, 'anna', 50); // 70 left.
  await settle(first, 5); // Back to 115.
  await hold(app, 'anna', 50); // 65 left.
  await hold(app, 'anna', 10); // Already below.
  const sent = await sentTo(app);
  assert.deepEqual(
    sent.map(({ type, data }) => [type, data]),
    [70, 65].map((availableMicros) => [
      'balance.low',
      { userId: 'anna', availableMicros, thresholdMicros: 100, currency: 'EUR' },
    ]),
  );
  assert.equal(new Set(sent.map(({ id }) => id)).size, 2);
});

test('WH-05 a balance at the threshold is not below', async () => {
  const app = await subscribe({ events: ['balance.low'], lowBalanceThresholdMicros: 100 });
  for (const user of ['r', 'c', 'e']) await topUp(app.appId, user, 150);
  await hold(app, 'e', 50); // 100 left.
  await move('refund', app, 'r', 51, 'k');
  await move('claw_back', app, 'c', 500, 'k');
  const told = (await sentTo(app)).map(({ data }) => `${String(data['userId'])} ${String(data['availableMicros'])}`);
  assert.deepEqual(told.toSorted(), ['c 0', 'r 99']);
});

test('WH-05 real calls with large holds cross the threshold', async () => {
  upstream.script(() => ({
    body: JSON.stringify({
      id: 'x',
      object: 'chat.completion',
      created: 1,
      model: 'any',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }),
  }));
  const app = await subscribe({ events: ['balance.low'], lowBalanceThresholdMicros: 5_000_000 });
  await topUp(app.appId, 'anna', 5_000_100);
  for (let times = 0; times < 2; times += 1) {
    const reply = await chat({ url: service.url, key: app.liveKey, user: 'anna' });
    assert.equal(reply.status, 200, reply.text);
  }
  const sent = await sentTo(app);
  assert.equal(sent.length, 2);
  for (const { data } of sent) assert.ok(Number(data['availableMicros']) < 5_000_000);
  const { body } = await send('/balance', { url: service.url, key: app.liveKey, user: 'anna', method: 'GET' });
  assert.equal(body['reservedMicros'], 0);
  assert.ok(Number(body['balanceMicros']) >= 5_000_000, 'the money itself is still above the threshold');
});

test('WH-05 WH-06 a disconnected wallet causes no event until it reconnects', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 100 });
  await connect(app.appId, 'anna', true);
  await topUp(app.appId, 'anna', 200);
  const running = await hold(app, 'anna', 60);
  const before = (await sentTo(app)).map(({ type }) => type);
  assert.deepEqual(before.toSorted(), ['connection.created', 'topup.completed']);
  await connect(app.appId, 'anna', false);
  await move('claw_back', app, 'anna', 100, 'k'); // 40 left.
  await settle(running, 60);
  await topUp(app.appId, 'anna', 500); // It completes meanwhile.
  await move('refund', app, 'anna', 500, 'k');
  await connect(app.appId, 'anna', true);
  assert.deepEqual(await sentTo(app).then((sent) => sent.length), before.length);
  await topUp(app.appId, 'anna', 100);
  await move('refund', app, 'anna', 100, 'again');
  const after = (await sentTo(app)).slice(before.length).map(({ type }) => type);
  assert.deepEqual(after.toSorted(), ['balance.low', 'topup.completed']);
});

test('WH-03 events of unsubscribed types are not stored', async () => {
  for (let set = 1; set < 8; set += 1) {
    const types = ALL.filter((_, place) => (set >> place) & 1);
    const low = types.includes('balance.low') ? { lowBalanceThresholdMicros: 100 } : {};
    const app = await subscribe({ events: types, ...low });
    await connect(app.appId, 'anna', true);
    await topUp(app.appId, 'anna', 150);
    await move('refund', app, 'anna', 100, 'k');
    const sent = (await sentTo(app)).map(({ type }) => type);
    assert.deepEqual(sent.toSorted(), types.toSorted());
    assert.equal((await stage.events(app.appId)).length, types.length);
  }
});

test('WH-13 a rolled-back change sends no event', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 100 });
  await stage.open(app.appId, 'anna');
  const client = await db.connect();
  await client.query('begin');
  await client.query(`select ledger.credit($1, 'anna', 'top_up', 500, 'k')`, [app.appId]);
  await client.query(`select ledger.take_back($1, 'anna', 'refund', 450, 'k')`, [app.appId]);
  await client.query('rollback');
  client.release();
  assert.deepEqual(await sentTo(app), []);
  assert.deepEqual(await stage.events(app.appId), []);
});

test('SB-03 sandbox money sends no event', async () => {
  const app = await subscribe({ events: ALL, lowBalanceThresholdMicros: 5_000_000 });
  const { apiKey } = await stage.owner.get(201, 'POST', `/apps/${app.appId}/keys`, { mode: 'sandbox' });
  const reply = await chat({ url: service.url, key: String(apiKey), user: 'anna' });
  assert.equal(reply.status, 200);
  assert.deepEqual(await stage.events(app.appId), []);
});
