import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { z } from 'zod';
import type { healthSchema } from '../../../packages/contract/src/operator-health.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { newOperator, newOwner, PASSWORD, signIn } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, signedInBrowser } from '../../support/page.ts';
import { assertRefused } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { type FullLine, idOf, type TrailLine, trailOf } from '../../support/trail.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { statementsOf } from '../../support/statements.ts';

const stage = await setStage();
const scenarios = scenariosOf(stage);
const { service, app, newUser } = stage;
const operator = await newOperator(service);
const owner = await newOwner(service);
const actor = await idOf(operator);
type Health = z.infer<typeof healthSchema>;
const DENIED = { code: '42501' };

interface Page {
  readonly entries: readonly (TrailLine & { readonly at: string })[];
  readonly next: string | null;
}

async function page(query: string): Promise<Page> {
  return (await operator.get(200, 'GET', `/operator/audit${query}`)) as unknown as Page;
}

async function linesOfTrail(): Promise<number> {
  return (await page('?limit=500')).entries.length;
}

function poolOf(role: 'live' | 'sandbox'): Pool {
  const pool = createPool({ url: service.database.url, role, connectionsMax: 1, log: createLog('silent') });
  after(() => pool.end());
  return pool;
}

test('CP-05 the trail is read in pages, newest first', async () => {
  const before = Date.now();
  for (const reason of ['one', 'two', 'three', 'four']) {
    await operator.get(200, 'POST', `/operator/apps/${app.appId}/suspend`, { reason });
  }
  await operator.get(200, 'POST', `/operator/apps/${app.appId}/resume`, { reason: 'five' });
  const count = await sqlValue<number>(service)`select count(*)::int as count from audit.entries`;
  const seen: string[] = [];
  let pages = 0;
  for (let query: string | null = '?limit=2'; query !== null; pages += 1) {
    const { entries, next }: Page = await page(query);
    seen.push(...entries.map(({ reason }) => reason ?? ''));
    for (const { at, ...line } of entries.filter(({ reason }) => reason !== null)) {
      assert.ok(Date.parse(at) >= before - 60_000 && Date.parse(at) <= Date.now() + 60_000, at);
      assert.deepEqual([line.actor, line.subject], [actor, app.appId]);
    }
    query = next === null ? null : `?limit=2&before=${next}`;
  }
  assert.deepEqual(seen.slice(0, 5), ['five', 'four', 'three', 'two', 'one']);
  assert.deepEqual([seen.length, pages], [count, Math.ceil(seen.length / 2)]);
  assert.equal((await page(`?limit=${seen.length}`)).next, null);
});

scenarios({ as: operator, name: 'CP-05 an odd question about the trail', code: 'BAD_REQUEST' }, [
  { request: 'GET /operator/audit?limit=0', param: 'limit' },
  { request: 'GET /operator/audit?limit=501', param: 'limit' },
  { request: 'GET /operator/audit?limit=x', param: 'limit' },
  { request: 'GET /operator/audit?before=-1', param: 'before' },
  { request: 'GET /operator/audit?before=1;x', param: 'before' },
  { request: 'GET /operator/audit?actor=x', param: 'actor' },
  { request: 'GET /operator/audit?action=Wallet', param: 'action' },
  { request: 'GET /operator/audit?from=today', param: 'from' },
  { request: 'GET /operator/audit?amountFrom=-1', param: 'amountFrom' },
  { request: 'GET /operator/audit?amountTo=1e3', param: 'amountTo' },
  { request: 'GET /operator/audit?who=', param: 'who' },
  { request: 'GET /operator/accounts?limit=1001', param: 'limit' },
]);

test('CP-05 the trail records every action and no other request', async () => {
  const user = await newUser(0);
  const wallet = `/operator/apps/${app.appId}/wallets/${user}`;
  const body = { amountMicros: 5, reason: 'gift', idempotencyKey: 'k' };
  const before = await linesOfTrail();
  await operator.get(200, 'POST', `${wallet}/credit`, body);
  await operator.get(200, 'POST', `${wallet}/credit`, body);
  await operator.get(409, 'POST', `${wallet}/credit`, { ...body, amountMicros: 6 });
  await operator.get(200, 'POST', `${wallet}/refund`, { ...body, reason: 'returned' });
  await operator.get(200, 'POST', `${wallet}/clawback`, { ...body, reason: 'disputed' });
  await operator.get(409, 'POST', `${wallet}/reinstate`, { reason: 'please' });
  await operator.get(200, 'POST', `${wallet}/reinstate`, { reason: 'lost', writeOff: true });
  await operator.get(400, 'POST', `${wallet}/credit`, { ...body, amountMicros: -1 });
  await operator.get(404, 'POST', `/operator/apps/${app.appId}/wallets/none/credit`, body);
  await operator.get(404, 'DELETE', '/operator/models/acme.none');
  for (const path of ['apps', 'catalogue', 'accounts', 'audit', 'ledger/check']) {
    await operator.get(200, 'GET', `/operator/${path}`);
  }
  await operator.get(200, 'GET', wallet);
  const subject = `${app.appId} ${user}`;
  const line = (action: string, reason: string) => ({ actor, action, subject, reason });
  assert.deepEqual(await trailOf(operator, subject), [
    line('wallet.reinstate', 'lost'),
    line('wallet.clawback', 'disputed'),
    line('wallet.refund', 'returned'),
    line('wallet.credit', 'gift'),
  ]);
  assert.equal(await linesOfTrail(), before + 4);
});

for (const [who, as, code] of [
  ['an owner', owner, 'FORBIDDEN'],
  ['an API key', { key: app.liveKey }, 'UNAUTHORIZED'],
  ['nobody', 'nobody', 'UNAUTHORIZED'],
] as const) {
  scenarios({ as, name: `CP-05 ${who} neither reads the trail nor acts`, code, param: null }, [
    { request: 'GET /operator/audit' },
    { request: `POST /operator/apps/${app.appId}/suspend`, body: { reason: 'x' } },
  ]);
}

test('CP-05 the trail of an app has only the acts of operators', async () =>
  assert.deepEqual((await trailOf(operator, app.appId)).length, 5));

test('CP-05 CP-09 operators filter the trail, and every entry is chained', async () => {
  interface Found extends FullLine {
    readonly entryId: string;
    readonly line: string | null;
    readonly hash: string | null;
  }
  const list = async (filter: Readonly<Record<string, string>> = {}) => {
    const query = new URLSearchParams({ limit: '500', ...filter }).toString();
    return (await operator.get(200, 'GET', `/operator/audit?${query}`))['entries'] as readonly Found[];
  };
  const user = await newUser(10);
  const wallet = `/operator/apps/${app.appId}/wallets/${user}`;
  for (const amountMicros of [5, 6]) {
    const body = { amountMicros, reason: 'gift', idempotencyKey: `n${amountMicros}` };
    await operator.get(200, 'POST', `${wallet}/credit`, body);
  }
  const all = await waitUntil('every entry has its line', async () => {
    const found = await list();
    return found.every(({ line, hash }) => line !== null && /^[0-9a-f]{64}$/.test(hash ?? '')) && found;
  });
  const lines = all.map(({ line }) => Number(line)).toSorted((left, right) => left - right);
  assert.deepEqual(
    lines,
    all.map((_, at) => at + 1),
  );
  const [newestOne] = all;
  assert.ok(newestOne !== undefined);
  const { at, subject, actorName } = newestOne;
  const cases: readonly (readonly [Readonly<Record<string, string>>, (entry: Found) => boolean])[] = [
    [{ who: actor }, (entry) => entry.actor === actor],
    [{ who: String(actorName) }, (entry) => entry.actorName === actorName],
    [{ action: 'wallet.credit' }, ({ action }) => action === 'wallet.credit'],
    [{ action: 'wallet' }, ({ action }) => action.startsWith('wallet.')],
    [{ subject }, (entry) => entry.subject === subject],
    [{ appId: app.appId }, (entry) => entry.subject.split(' ')[0] === app.appId],
    [{ from: at }, (entry) => entry.at >= at],
    [{ to: at }, (entry) => entry.at < at],
    [{ amountFrom: '6' }, ({ amountMicros }) => (amountMicros ?? 0) >= 6],
    [{ amountTo: '5' }, ({ amountMicros }) => amountMicros !== null && amountMicros <= 5],
    [{ subject, amountFrom: '6', who: actor, action: 'wallet', from: at }, (entry) => entry === newestOne],
  ];
  for (const [filter, fits] of cases) {
    const expected = all.filter(fits);
    assert.ok(expected.length > 0, JSON.stringify(filter));
    assert.deepEqual(await list(filter), expected, JSON.stringify(filter));
  }
  const head = await operator.get(200, 'GET', '/operator/audit/head');
  const last = all.find(({ line }) => line === head['line']);
  assert.deepEqual([head['waiting'], head['hash']], [0, last?.hash]);
});

test('CP-05 trail lines can only be added', async () => {
  const live = poolOf('live');
  for (const text of [
    'update audit.entries set reason = null',
    'delete from audit.entries',
    'truncate audit.entries',
    `insert into audit.entries (at, actor, action, subject) values ('2020-01-01', 'a', 'b', 'c')`,
  ]) {
    await assert.rejects(live.query(text), DENIED, text);
  }
  for (const text of ['select from audit.entries', `insert into audit.entries (actor) values ('a')`]) {
    await assert.rejects(poolOf('sandbox').query(text), DENIED, text);
  }
  for (const text of [
    'update audit.entries set reason = null',
    'delete from audit.entries',
    'truncate audit.entries',
  ]) {
    await assert.rejects(service.database.owner.query(text), /never changed or removed/, text);
  }
});

test('WA-09 CP-05 a check of the books detects one micro', async () => {
  const user = await newUser(100);
  const right = await operator.get(200, 'GET', '/operator/ledger/check');
  assert.deepEqual([right['ok'], right['differences']], [true, []]);
  assert.ok(Number(right['wallets']) >= 1 && Number(right['entries']) >= 1);
  await service.setWallet(app, user, 'balance_micros = balance_micros + 1');
  const wrong = await operator.get(200, 'GET', '/operator/ledger/check');
  assert.equal(wrong['ok'], false);
  const [difference, ...others] = wrong['differences'] as Record<string, string>[];
  const { walletId: _walletId, ...figures } = difference ?? {};
  assert.deepEqual(figures, { rule: 'the balance is the sum of the entries', expected: '100', found: '101' });
  assert.deepEqual(others, []);
  await service.setWallet(
    app,
    user,
    `balance_micros = balance_micros - 1, is_suspended = true,
    shortfall_micros = ${2n ** 62n}`,
  );
  const { differences } = await operator.get(200, 'GET', '/operator/ledger/check');
  assert.equal((differences as Record<string, string>[])[0]?.['found'], String(2n ** 62n));
  await service.setWallet(app, user, 'is_suspended = false, shortfall_micros = 0');
  assert.deepEqual(await service.check(), []);
});

test('CP-05 operators see how the service runs, without setting values', async (context) => {
  await operator.get(200, 'GET', '/operator/ledger/check');
  const health = (await operator.get(200, 'GET', '/operator/health')) as unknown as Health;
  assert.deepEqual([health.processes.count >= 1, health.leases.length, health.database.schema > 0], [true, 1, true]);
  assert.deepEqual(
    health.queues.map(({ name }) => name),
    ['settlements', 'deliveries', 'mail', 'traces', 'audit'],
  );
  const levels = new Map(health.doctor.findings.map(({ check, level }) => [check, level]));
  assert.deepEqual(
    ['database', 'schema', 'secret', 'gateways'].map((check) => levels.get(check as 'secret')),
    Array(4).fill('good'),
  );
  assert.ok(health.disk !== null && health.disk.freeBytes > 0 && health.disk.freeBytes <= health.disk.totalBytes);
  const [check] = health.checks.filter(({ kind }) => kind === 'full');
  assert.deepEqual([check?.passes, check?.differences, check?.process.startsWith(`${process.pid}@`)], [1, '0', true]);
  const names = health.settings.map(({ name }) => name);
  for (const name of ['PURSER_SECRET', 'DATABASE_URL', 'PURSER_LEASE_SECONDS']) assert.ok(names.includes(name), name);
  assert.equal(health.settings.find(({ name }) => name === 'DATABASE_URL')?.set, true);
  const { account } = (await operator.get(200, 'GET', '/sessions/current')) as { account: { email: string } };
  const browser = await signedInBrowser(service, account.email, 'Overview');
  const statements = statementsOf(context);
  const counts: number[] = [];
  for (let times = 0; times < 4; times += 1) {
    counts.push(await statements(async () => assertPage(await browser.open('/ops/health'), 200, 'Health', IN_CONSOLE)));
  }
  assert.ok(Math.min(...counts) >= 6 && Math.min(...counts) <= 10, counts.join());
  const { text } = await browser.open('/ops/health');
  assert.ok(['PURSER_SECRET', 'shared_buffers', 'What the doctor found'].every((one) => text.includes(one)));
  assert.ok(!text.includes(service.database.url) && !text.includes('postgres://'), text);
});

test('CP-05 an operator creates accounts of both roles', async () => {
  const email = 'Second@Example.Test';
  const account = await operator.get(201, 'POST', '/operator/accounts', {
    email,
    password: PASSWORD,
    name: 'Second',
    role: 'operator',
  });
  assert.deepEqual([account['email'], account['name'], account['role']], ['second@example.test', 'Second', 'operator']);
  const colleague = await signIn(service, email);
  await colleague.get(200, 'GET', '/operator/audit');
  const other = { email: 'plain@example.test', password: PASSWORD, role: 'owner' };
  const { accountId } = await colleague.get(201, 'POST', '/operator/accounts', other);
  assertRefused(await (await signIn(service, other.email)).ask('GET', '/operator/audit'), 'FORBIDDEN');
  assertRefused(await operator.ask('POST', '/operator/accounts', { ...other, email: email.toUpperCase() }), 'CONFLICT');
  const [line, ...more] = await trailOf(operator, String(accountId));
  assert.deepEqual([line?.action, line?.actor, more], ['account.create', await idOf(colleague), []]);
});

const account = { email: 'n@example.test', password: PASSWORD, role: 'owner' };

scenarios({ as: operator, request: 'POST /operator/accounts', body: account, code: 'BAD_REQUEST' }, [
  { name: 'CP-05 no account of an unknown role is made', body: { role: 'admin' }, param: 'role' },
  { name: 'CP-05 no account without a role is made', body: { role: undefined }, param: 'role' },
  { name: 'CP-05 no account without an e-mail address is made', body: { email: 'x' }, param: 'email' },
  { name: 'CP-05 no account with a short password is made', body: { password: 'too short' }, param: 'password' },
]);

test('CP-05 accounts are read in pages without their passwords', async () => {
  const seen: unknown[] = [];
  for (let query: string | null = '?limit=2'; query !== null; ) {
    const reply = await operator.ask('GET', `/operator/accounts${query}`);
    const { accounts, next } = reply.body as { accounts: { accountId: string }[]; next: string | null };
    assert.ok(accounts.length <= 2 && !reply.text.includes('argon2'));
    seen.push(...accounts.map(({ accountId }) => accountId));
    query = next === null ? null : `?limit=2&after=${next}`;
  }
  const rows = await sql<{ account_id: string }>(service)`select account_id from accounts.accounts
    order by created_at, account_id`;
  assert.deepEqual(
    seen,
    rows.map(({ account_id: id }) => id),
  );
  assert.ok(seen.length > 4);
});
