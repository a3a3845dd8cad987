import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { sqlRow } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';

const { upstream, service, app, callAs } = await setStage({ app: { isFirstParty: true } });

function summaryOf(user: string, query = '', key = app.liveKey): Promise<Reply> {
  return send(`/usage/summary${query}`, { url: service.url, key, user });
}

/** This month by the database’s clock, which decides the month that a call belongs to. */
async function thisMonth(): Promise<{ readonly month: string; readonly start: string; readonly end: string }> {
  const row = await sqlRow<{ month: string; start: string; end: string }>(service)`
    select to_char(m, 'YYYY-MM') as month, to_char(m, 'YYYY-MM-DD"T00:00:00.000Z"') as start,
      to_char(m + interval '1 month', 'YYYY-MM-DD"T00:00:00.000Z"') as end
    from (select date_trunc('month', clock_timestamp() at time zone 'UTC') as m) months`;
  assert.ok(row !== undefined);
  return row;
}

function emptySummary(user: string, periodStart: string, periodEnd: string) {
  const nothing = { requests: 0, promptTokens: 0, completionTokens: 0, totalTokens: 0, chargedMicros: 0, models: [] };
  return { userId: user, currency: 'EUR', periodStart, periodEnd, ...nothing };
}

test('BI-03 a summary sums this month’s calls per model', async () => {
  await service.fund(app, 'busy', 10_000_000);
  const options = { url: service.url, key: app.liveKey, user: 'busy' };
  const first = { prompt_tokens: 100, completion_tokens: 10, prompt_tokens_details: { cached_tokens: 40 } };
  const second = { prompt_tokens: 7, completion_tokens: 0 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: first }) });
  await chat(options);
  await chat(options, { model: 'secret' });
  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hi'], usage: second, includeUsageChunk: true }) });
  await chat(options, { stream: true });
  upstream.script({ status: 500, body: '' });
  await chat(options);
  await chat(options, { model: 'nothing' });

  const { start, end } = await thisMonth();
  const charges = [
    chargeFor({ prompt: 100, cached: 40, completion: 10 }),
    chargeFor({ prompt: 7, completion: 0 }),
  ] as const;
  const large = { requests: 2, promptTokens: 107, completionTokens: 10, chargedMicros: charges[0] + charges[1] };
  const secret = { requests: 1, promptTokens: 100, completionTokens: 10, chargedMicros: charges[0] };
  const reply = await summaryOf('busy');
  assert.equal(reply.status, 200);
  assert.deepEqual(reply.body, {
    userId: 'busy',
    currency: 'EUR',
    periodStart: start,
    periodEnd: end,
    requests: 3,
    promptTokens: 207,
    completionTokens: 20,
    totalTokens: 227,
    chargedMicros: 2 * charges[0] + charges[1],
    models: [
      { model: 'acme.large-1', ...large },
      { model: 'acme.secret-1', ...secret },
    ],
  });
  assert.equal(reply.headers.get('x-service-mode'), null);
});

/** A receipt of a past month, as a settlement would have left it. */
async function addReceipt(user: string, month: string, charged: number): Promise<void> {
  await service.database.owner.query(
    `insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens,
       completion_tokens, reasoning_tokens, held_micros, charged_micros)
     select gen_random_uuid(), wallet_id, $3, 'acme.old-1', 'answered', false, 1, 0, 2, 0, $4, $4
     from ledger.wallets where app_id = $1 and user_id = $2`,
    [app.appId, user, month, charged],
  );
}

test('BI-03 the summary covers exactly the requested month', async () => {
  await service.fund(app, 'old', 1_000_000);
  for (const [month, charged] of [
    ['2024-01-01', 5],
    ['2024-02-01', 7],
    ['2024-12-01', 11],
  ] as const) {
    await addReceipt('old', month, charged);
  }
  const expected = [
    ['2024-01', '2024-01-01T00:00:00.000Z', '2024-02-01T00:00:00.000Z', 5],
    ['2024-02', '2024-02-01T00:00:00.000Z', '2024-03-01T00:00:00.000Z', 7],
    ['2024-12', '2024-12-01T00:00:00.000Z', '2025-01-01T00:00:00.000Z', 11],
  ] as const;
  for (const [month, start, end, charged] of expected) {
    const { body } = await summaryOf('old', `?month=${month}`);
    assert.deepEqual([body['periodStart'], body['periodEnd']], [start, end]);
    assert.deepEqual([body['requests'], body['totalTokens'], body['chargedMicros']], [1, 3, charged]);
  }
  const none = await summaryOf('old', '?month=2024-03');
  assert.deepEqual(none.body, emptySummary('old', '2024-03-01T00:00:00.000Z', '2024-04-01T00:00:00.000Z'));
  assert.equal((await summaryOf('old')).body['requests'], 0);
});

test('BI-03 naming the current month changes nothing', async () => {
  const { month } = await thisMonth();
  assert.deepEqual((await summaryOf('busy', `?month=${month}`)).body, (await summaryOf('busy')).body);
});

test('BI-03 an invalid month is refused', async () => {
  const months = [
    '',
    '2026',
    '2026-0',
    '2026-00',
    '2026-13',
    '2026-1',
    '26-01',
    '2026-01-01',
    'now',
    '2026-01%00',
    '2026%2F01',
  ];
  for (const month of [...months, '%EF%BC%92026-01', '2026-01%0A', '-2026-01', '+02026-01']) {
    for (const [user, key] of [
      ['busy', app.liveKey],
      ['nobody', app.liveKey],
      ['busy', app.testKey],
    ] as const) {
      const reply = await summaryOf(user, `?month=${month}`, key);
      assertRefusal(reply, { code: 'BAD_REQUEST', param: 'month', hasLink: false }, month);
    }
  }
});

test('BI-03 a month of year 0 causes no fault', async () => {
  for (const month of ['0000-01', '0000-12']) {
    const reply = await summaryOf('busy', `?month=${month}`);
    assert.ok(reply.status === 200 || reply.status === 400, `${month}: ${reply.status} ${reply.text}`);
  }
});

test('BI-03 a first-century month is not read as twentieth', async () => {
  for (const month of ['0001-01', '0050-06', '0099-12']) {
    const reply = await summaryOf('busy', `?month=${month}`);
    if (reply.status === 400) continue;
    assert.equal(String(reply.body['periodStart']).slice(0, 7), month);
  }
});

test('BI-03 users without a connection get an empty summary', async () => {
  await service.fund(app, 'gone', 1_000_000);
  await addReceipt('gone', '2024-01-01', 5);
  await service.setWallet(app, 'gone', 'is_connected = false');
  for (const user of ['gone', 'nobody']) {
    const reply = await summaryOf(user, '?month=2024-01');
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body, emptySummary(user, '2024-01-01T00:00:00.000Z', '2024-02-01T00:00:00.000Z'));
  }
  await service.setWallet(app, 'gone', 'is_connected = true');
  assert.equal((await summaryOf('gone', '?month=2024-01')).body['chargedMicros'], 5);
});

test('BI-03 usage stays separate for namesakes in two apps', async () => {
  const other = await service.addApp();
  await service.fund(other, 'busy', 1_000_000);
  assert.equal((await summaryOf('busy', '', other.liveKey)).body['requests'], 0);
});

test('BI-03 absurd provider counts still give exact numbers', async () => {
  await service.fund(app, 'absurd', 100_000_000);
  const usage = { prompt_tokens: 1e300, completion_tokens: 1e300 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage }) });
  for (let count = 0; count < 3; count += 1) {
    const reply = await callAs('absurd');
    assert.equal(reply.status, 200, reply.text);
  }
  const { body } = await summaryOf('absurd');
  assert.equal(body['requests'], 3);
  for (const name of ['promptTokens', 'completionTokens', 'totalTokens', 'chargedMicros']) {
    assert.ok(Number.isSafeInteger(body[name]), `${name} is ${String(body[name])}`);
  }
});

test('SB-09 a test key always gets an empty summary', async () => {
  await chat({ url: service.url, key: app.testKey, user: 'busy' });
  const { start, end } = await thisMonth();
  for (const user of ['busy', 'nobody']) {
    const reply = await summaryOf(user, '', app.testKey);
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body, emptySummary(user, start, end));
    assert.equal(reply.headers.get('x-service-mode'), null);
  }
});
