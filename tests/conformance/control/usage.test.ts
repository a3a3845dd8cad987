import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat } from '../../support/client.ts';
import { newOwnApp, newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { addUsage } from '../../support/usage-rows.ts';

/** Usage for app owners: by day, model and user, as JSON and as CSV, in pages. */

const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };

const { upstream, service, app: strangers } = await setStage();
const owner = await newOwner(service);
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
const app = await newOwnApp(owner);

async function call(user: string, { key = app.liveKey, model = 'large' } = {}): Promise<number> {
  const reply = await chat({ url: service.url, key, user }, { model });
  assert.equal(reply.status, 200, reply.text);
  return Number(reply.headers.get('x-service-charge-micros'));
}

interface Row {
  readonly day?: string;
  readonly model?: string;
  readonly userId?: string;
  readonly requests: number;
  readonly chargedMicros: number;
}

interface Report {
  readonly rows: readonly Row[];
  readonly next: string | null;
}

async function report(query: string, appId: string = app.appId): Promise<Report> {
  return (await owner.get(200, 'GET', `/apps/${appId}/usage?${query}`)) as unknown as Report;
}

async function allPages(query: string, appId: string): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page = await report(`${query}${after === '' ? '' : `&after=${after}`}`, appId);
    rows.push(...page.rows);
    assert.ok(rows.length < 100, 'the pages come to an end');
    after = page.next;
  }
  return rows;
}

const ODD_USER = '=bert,"x"';
await service.fund(app, 'anna', 1_000_000);
await service.fund(app, ODD_USER, 1_000_000);
const annas = await call('anna');
const charge = await call(ODD_USER);
await call(ODD_USER);

test('CP-04 usage is reported by day, model and user', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const day = { day: today };
  const model = { model: 'acme.large-1' };
  const odd = { requests: 2, promptTokens: 80, completionTokens: 40, chargedMicros: 2 * charge };
  const anna = { requests: 1, promptTokens: 40, completionTokens: 20, chargedMicros: annas };
  const all = { requests: 3, promptTokens: 120, completionTokens: 60, chargedMicros: 2 * charge + annas };
  const byUser = (group: object) => [
    { ...group, userId: ODD_USER, ...odd },
    { ...group, userId: 'anna', ...anna },
  ];
  for (const [query, rows] of [
    ['', byUser({ ...day, ...model })],
    ['groupBy=day,model,user', byUser({ ...day, ...model })],
    ['groupBy=user,model,day,day', byUser({ ...day, ...model })],
    ['groupBy=day', [{ ...day, ...all }]],
    ['groupBy=model', [{ ...model, ...all }]],
    ['groupBy=user', byUser({})],
    ['groupBy=day,model', [{ ...day, ...model, ...all }]],
    ['groupBy=day,user', byUser(day)],
    ['groupBy=model,user', byUser(model)],
    [`from=${today}&to=${today}`, []],
    ['from=2020-01-01&to=2020-02-01', []],
    ['from=2999-01-01&to=2000-01-01', []],
    ['from=2000-01-01&to=2999-12-31', byUser({ ...day, ...model })],
  ] as const) {
    assert.deepEqual(await report(query), { rows, next: null }, query);
  }
});

test('SB-03 sandbox money is in no report', async () => {
  const { rows } = await report('groupBy=user');
  await call('anna', { key: app.testKey });
  assert.deepEqual((await report('groupBy=user')).rows, rows);
});

test('CP-04 a call counts on the UTC day it ended', async () => {
  const other = await newOwnApp(owner);
  const { appId } = other;
  await service.fund(other, 'u', 0);
  for (const [at, month] of [
    ['2026-01-31T23:59:59.999Z', '2026-01'],
    ['2026-02-01T00:00:00.000Z', '2026-01'],
    ['2026-02-28T23:59:59.999Z', '2026-02'],
    ['2026-03-01T00:00:00.000Z', '2026-02'],
    ['2026-03-31T22:30:00.000Z', '2026-03'], // In central Europe this is already the next day.
  ] as const) {
    await addUsage(service.database, { appId, user: 'u', at, month });
  }
  const days = async (query: string): Promise<readonly unknown[]> =>
    (await report(`groupBy=day&${query}`, appId)).rows.map(({ day, requests }) => [day, requests]);
  assert.deepEqual(await days('from=2026-01-01&to=2026-02-01'), [['2026-01-31', 1]]);
  assert.deepEqual(await days('from=2026-02-01&to=2026-03-01'), [
    ['2026-02-01', 1],
    ['2026-02-28', 1],
  ]);
  assert.deepEqual(await days('from=2026-03-01&to=2026-04-01'), [
    ['2026-03-01', 1],
    ['2026-03-31', 1],
  ]);
  assert.deepEqual(await days('from=2026-02-28&to=2026-03-02'), [
    ['2026-02-28', 1],
    ['2026-03-01', 1],
  ]);
});

test('CP-04 an undated report covers the current UTC month', async () => {
  const other = await newOwnApp(owner);
  const { appId } = other;
  await service.fund(other, 'u', 0);
  const now = new Date();
  const month = now.toISOString().slice(0, 7);
  const before = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1) - 1).toISOString();
  for (const at of [before, `${month}-01T00:00:00.000Z`, now.toISOString()]) {
    await addUsage(service.database, { appId, user: 'u', at });
  }
  assert.deepEqual(
    (await report('groupBy=model', appId)).rows.map(({ requests }) => requests),
    [2],
  );
});

test('CP-04 abandoned calls count, failed and lost ones do not', async () => {
  const other = await newOwnApp(owner);
  const { appId } = other;
  await service.fund(other, 'u', 0);
  const at = '2026-05-05T05:05:05.000Z';
  for (const outcome of ['answered', 'abandoned', 'failed', 'expired']) {
    await addUsage(service.database, { appId, user: 'u', at, outcome, charged: outcome === 'answered' ? 5 : 0 });
  }
  const { rows } = await report('from=2026-05-01&to=2026-06-01&groupBy=user', appId);
  assert.deepEqual(rows, [{ userId: 'u', requests: 2, promptTokens: 6, completionTokens: 4, chargedMicros: 5 }]);
});

test('CP-04 a paged report has each row once while calls land', async () => {
  const other = await newOwnApp(owner);
  const { appId } = other;
  const users = ['a', 'b', 'c', 'd'];
  for (const user of users) await service.fund(other, user, 0);
  const land = (user: string, at: string) => addUsage(service.database, { appId, user, at });
  for (const user of users) {
    await land(user, '2026-06-01T10:00:00Z');
    await land(user, '2026-06-03T10:00:00Z');
  }
  const range = 'from=2026-06-01&to=2026-07-01';
  for (const groupBy of ['day', 'model', 'user', 'day,model', 'day,user', 'model,user', 'day,model,user']) {
    const whole = (await report(`${range}&groupBy=${groupBy}`, appId)).rows;
    assert.deepEqual(await allPages(`${range}&groupBy=${groupBy}&limit=1`, appId), whole, groupBy);
    assert.deepEqual(await allPages(`${range}&groupBy=${groupBy}&limit=3`, appId), whole, groupBy);
  }
  const seen: string[] = [];
  const query = `${range}&groupBy=day,user&limit=2`;
  let page = await report(query, appId);
  for (let turn = 0; ; turn += 1) {
    seen.push(...page.rows.map(({ day, userId }) => `${day} ${userId}`));
    assert.ok(turn < 10, 'the pages come to an end');
    if (page.next === null) break;
    await land('a', `2026-06-01T1${turn}:00:00Z`); // Already reported.
    await land('d', '2026-06-02T10:00:00Z'); // At first between the reported rows and the rest, later behind.
    page = await report(`${query}&after=${page.next}`, appId);
  }
  const days = ['01', '03'].flatMap((day) => users.map((user) => `2026-06-${day} ${user}`));
  assert.deepEqual(seen, [...days.slice(0, 4), '2026-06-02 d', ...days.slice(4)]);
});

test('CP-04 a CSV report is quoted, paged and free of formulas', async () => {
  for (const user of ['+1', '-2', '@x', "'q", 'a=b', 'plain']) await service.fund(app, user, 0);
  const at = '2026-07-01T00:00:00Z';
  for (const user of ['+1', '-2', '@x', "'q", 'a=b', 'plain', ODD_USER]) {
    await addUsage(service.database, { appId: app.appId, user, at });
  }
  const address = `/apps/${app.appId}/usage?from=2026-07-01&to=2026-08-01&groupBy=user&format=csv`;
  const reply = await owner.ask('GET', address);
  assert.equal(reply.headers.get('content-type'), 'text/csv; charset=utf-8');
  assert.equal(reply.headers.get('content-disposition'), 'attachment; filename="usage-2026-07-01-2026-08-01.csv"');
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
  assert.equal(reply.headers.get('link'), null);
  const users = [`'q`, `'+1`, `'-2`, `"'=bert,""x"""`, `'@x`, 'a=b', 'plain'];
  const lines = users.map((user) => `,,${user},1,3,2,7`);
  const head = 'day,model,userId,requests,promptTokens,completionTokens,chargedMicros';
  assert.equal(reply.text, `${[head, ...lines].join('\r\n')}\r\n`);
  const pages: string[] = [];
  for (let next: string | undefined = `${address}&limit=3`; next !== undefined; ) {
    const page = await owner.ask('GET', next);
    pages.push(...page.text.trimEnd().split('\r\n').slice(1));
    const [, path, rel] = /^<(\/[^>]*)>; rel="(\w+)"$/.exec(page.headers.get('link') ?? '') ?? [];
    assert.equal(rel, path === undefined ? undefined : 'next');
    assert.ok(pages.length <= lines.length, 'the pages come to an end');
    next = path;
  }
  assert.deepEqual(pages, lines);
  const day = await owner.ask('GET', address.replace('groupBy=user', 'groupBy=day'));
  assert.equal(day.text, `${head}\r\n2026-07-01,,,7,21,14,49\r\n`);
  const none = await owner.ask('GET', address.replace('2026-08-01', '2026-07-01'));
  assert.equal(none.text, `${head}\r\n`);
});

test('AU-06 CP-04 another owner’s app and a missing app have no usage', async () => {
  for (const appId of [strangers.appId, 'app_none']) {
    for (const rest of ['usage', 'usage?format=csv', 'usage?from=2026-01-01']) {
      assertRefusal(await owner.ask('GET', `/apps/${appId}/${rest}`), { code: 'NOT_FOUND', hasLink: false }, rest);
    }
  }
});

function cursor(row: unknown): string {
  return Buffer.from(JSON.stringify(row)).toString('base64url');
}

test('CP-04 an invalid query is refused by its parameter', async () => {
  const good = { day: '2026-06-01', model: 'm', userId: 'u' };
  for (const [query, param] of [
    ...[
      'yesterday',
      '2026-02-30',
      '2026-13-01',
      '2026-1-1',
      '0000-01-01',
      '1999-12-31',
      '10000-01-01',
      '-infinity',
      '',
    ].flatMap(
      (day) =>
        [
          [`from=${day}`, 'from'],
          [`to=${day}`, 'to'],
        ] as const,
    ),
    ['from=2026-01-01T00:00:00Z', 'from'],
    ['groupBy=hour', 'groupBy'],
    ['groupBy=', 'groupBy'],
    ['groupBy=day,', 'groupBy'],
    ['format=xml', 'format'],
    ...['0', '-1', '1.5', '10001', 'x', '', '1e9', '9007199254740993'].map(
      (limit) => [`limit=${limit}`, 'limit'] as const,
    ),
    ...[
      'x',
      '',
      cursor(null),
      cursor([]),
      cursor({ ...good, day: 7 }),
      cursor({ ...good, day: '2026-02-30' }),
      cursor({ ...good, day: 'x' }),
      cursor({ ...good, userId: undefined }),
      cursor({ ...good, userId: '' }),
      cursor({ ...good, model: 'a\u0000' }),
      'x'.repeat(3_000),
    ].map((after) => [`after=${after}`, 'after'] as const),
    [`groupBy=user&after=${cursor(good)}`, 'after'],
    ['colour=red', 'colour'],
  ] as const) {
    const reply = await owner.ask('GET', `/apps/${app.appId}/usage?${query}`);
    assertRefusal(reply, { code: 'BAD_REQUEST', param, hasLink: false }, query);
  }
  assert.deepEqual(
    (await report(`from=2026-06-01&after=${cursor(good)}&groupBy=day,model,user&limit=1`)).rows.length,
    1,
  );
});
