import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat } from '../../support/client.ts';
import { newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';

const USAGE = {
  prompt_tokens: 40,
  completion_tokens: 20,
  total_tokens: 60,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5 },
};

const { upstream, service } = await setStage();
const owner = await newOwner(service);
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });

const app = await newFundedApp();

async function newFundedApp() {
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'App' })) as { appId: string };
  const { apiKey } = (await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'live' })) as { apiKey: string };
  return { appId, liveKey: apiKey, testKey: apiKey } as Awaited<ReturnType<typeof service.addApp>>;
}

async function call(user: string, correlationId = 'x'): Promise<{ readonly callId: string; readonly charge: number }> {
  const headers = { 'x-correlation-id': correlationId };
  const reply = await chat({ url: service.url, key: app.liveKey, user, headers });
  assert.equal(reply.status, 200, reply.text);
  const charge = Number(reply.headers.get('x-service-charge-micros'));
  return { callId: reply.headers.get('x-service-call-id') ?? '', charge };
}

interface Row {
  readonly day?: string;
  readonly model?: string;
  readonly userId?: string;
  readonly requests: number;
  readonly chargedMicros: number;
}

async function report(query: string): Promise<{ readonly rows: readonly Row[]; readonly next: string | null }> {
  return (await owner.get(200, 'GET', `/apps/${app.appId}/usage?${query}`)) as never;
}

await service.fund(app, 'anna', 1_000_000);
await service.fund(app, '=bert,"x"', 1_000_000);
const first = await call('anna', 'cor-1');
const { charge } = await call('=bert,"x"');
await call('=bert,"x"');

test('CP-04 usage is told by day, model and user, and by any of them', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const { rows, next } = await report('');
  assert.equal(next, null);
  const common = { day: today, model: 'acme.large-1', promptTokens: 80, completionTokens: 40 };
  assert.deepEqual(rows[0], { ...common, userId: '=bert,"x"', requests: 2, chargedMicros: 2 * charge });
  assert.deepEqual(rows[1]?.userId, 'anna');
  const all = { requests: 3, promptTokens: 120, completionTokens: 60, chargedMicros: 2 * charge + first.charge };
  assert.deepEqual((await report('groupBy=day')).rows, [{ day: today, ...all }]);
  assert.deepEqual((await report('groupBy=model')).rows, [{ model: 'acme.large-1', ...all }]);
  assert.deepEqual(
    (await report('groupBy=user')).rows.map(({ userId, requests }) => [userId, requests]),
    [
      ['=bert,"x"', 2],
      ['anna', 1],
    ],
  );
  assert.deepEqual((await report(`from=${today}&to=${today}`)).rows, []);
  assert.deepEqual((await report('from=2020-01-01&to=2020-02-01')).rows, []);
});

test('CP-04 a report is read in pages, each row once', async () => {
  const seen: unknown[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await report(`groupBy=user&limit=1${after === '' ? '' : `&after=${after}`}`);
    seen.push(...page.rows.map(({ userId }) => userId));
    after = page.next;
  }
  assert.deepEqual(seen, ['=bert,"x"', 'anna']);
});

test('CP-04 as CSV: quoted, and no user id is a formula', async () => {
  const reply = await owner.ask('GET', `/apps/${app.appId}/usage?groupBy=user&format=csv`);
  assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8');
  const lines = reply.text.split('\r\n');
  assert.equal(lines[0], 'day,model,userId,requests,promptTokens,completionTokens,chargedMicros');
  assert.equal(lines[1], `,,"'=bert,""x""",2,80,40,${2 * charge}`);
});

test('CP-04 the receipt of a call, by its id and by its correlation id', async () => {
  const receipt = await owner.get(200, 'GET', `/apps/${app.appId}/calls/${first.callId}`);
  const { at, price, heldMicros, releasedMicros, ...rest } = receipt;
  assert.deepEqual(rest, {
    callId: first.callId,
    correlationId: 'cor-1',
    userId: 'anna',
    model: 'acme.large-1',
    outcome: 'answered',
    estimated: false,
    tokens: { prompt: 40, cached: 8, completion: 20, reasoning: 5 },
    chargedMicros: first.charge,
  });
  assert.equal(Number(heldMicros) - Number(releasedMicros), first.charge);
  assert.ok(Date.parse(String(at)) > 0 && (price as { version: number }).version > 0);
  const found = await owner.get(200, 'GET', `/apps/${app.appId}/calls?correlationId=cor-1`);
  assert.deepEqual(found['calls'], [receipt]);
});

test('CP-04 calls of other apps are not there, and bad questions are refused', async () => {
  const other = await newFundedApp();
  for (const id of [first.callId, 'x', '00000000-0000-0000-0000-000000000000']) {
    const reply = await owner.ask('GET', `/apps/${other.appId}/calls/${id}`);
    assertRefusal(reply, { code: 'NOT_FOUND', hasLink: false });
  }
  const found = await owner.get(200, 'GET', `/apps/${other.appId}/calls?correlationId=cor-1`);
  assert.deepEqual(found['calls'], []);
  for (const [query, param] of [
    ['from=yesterday', 'from'],
    ['from=2026-02-30', 'from'],
    ['groupBy=hour', 'groupBy'],
    ['format=xml', 'format'],
    ['limit=0', 'limit'],
    ['after=x', 'after'],
    ['colour=red', null],
  ] as const) {
    const reply = await owner.ask('GET', `/apps/${app.appId}/usage?${query}`);
    assertRefusal(reply, { code: 'BAD_REQUEST', param, hasLink: false }, query);
  }
  const reply = await owner.ask('GET', `/apps/${app.appId}/calls`);
  assertRefusal(reply, { code: 'BAD_REQUEST', param: 'correlationId', hasLink: false });
});
