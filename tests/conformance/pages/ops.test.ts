import { sealedEmail } from '../../support/database.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OperatorRole } from '../../../packages/contract/src/operator-access.ts';
import { chat, type Reply } from '../../support/client.ts';
import { emailOf, newOperator, newOwnApp, newOwner } from '../../support/control.ts';
import { seedDisputes } from '../../support/payments.ts';
import { IN_CONSOLE, mainOf, signedInBrowser } from '../../support/page.ts';
import { type Answer, assertAnswer } from '../../support/scenarios.ts';
import { newEvent } from '../../support/events.ts';
import { completionBody } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { statementsOf } from '../../support/statements.ts';
import { opsPages, seedPending, sendDraft } from './every-ops-page.ts';

/** The most statements that one page may run. That the session was used is one more, once a minute. */
const STATEMENTS_MAX = 10;
/** The most statements that a page may run that shows at once what an act will do. */
const PREVIEW_STATEMENTS_MAX = 30;

/** The pages for operators, in a browser without scripts. One service for all of them. */
const { upstream, service } = await setStage();
const db = service.database.owner;
const owner = await newOwner(service);
const NAME = 'Reading room';
const app = await newOwnApp(owner, NAME);
await service.fund(app, 'anna', 10_000_000);
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
const paid = await chat({
  url: service.url,
  key: app.liveKey,
  user: 'anna',
  headers: { 'x-correlation-id': 'a-paid-call' },
});
const callId = String(paid.headers.get('x-service-call-id'));

/** An operator of this role in a browser, and with the API. */
async function operatorOf(role: OperatorRole) {
  const person = await newOperator(service, role);
  const { account } = (await person.get(200, 'GET', '/sessions/current')) as {
    account: { email: string; accountId: string };
  };
  return { browser: await signedInBrowser(service, account.email, 'Overview'), person, accountId: account.accountId };
}

const admin = await operatorOf('admin');
const EVENT = await newEvent(db, app.appId);

/** Asserts that it is a page of the console with this heading and these texts. */
function shows(reply: Reply, page: string, contains: Answer['contains'] = [], more: Answer = {}): void {
  assertAnswer(reply, { may: IN_CONSOLE, page, contains, ...more });
}

const MISSING = { status: 404 };

test('CP-10 the overview begins with what needs a person', async () => {
  const { browser, person, accountId } = admin;
  const stats = await waitUntil('the charge is in the sums', async () => {
    const { totals } = (await person.get(200, 'GET', '/operator/stats')) as {
      totals: { chargedMicros: number; costMicros: number };
    };
    return totals.chargedMicros > 0 && totals;
  });
  assert.ok(stats.costMicros > 0 && stats.costMicros < stats.chargedMicros);
  const email = `>${await emailOf(person)}</a>`;
  const sums = ['Provider cost', 'Margin', 'On hold now', app.appId, /Needs attention[^]*Charged to users/];
  const books = /The books were correct when they were checked \d+ s ago|has not been checked yet/;
  shows(await browser.open('/ops'), 'Overview', [`/ops/account?id=${accountId}`, email, books, ...sums]);

  await seedDisputes(db, app.appId);
  await sql(db)`insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id, placed_at)
    select gen_random_uuid(), wallet_id, 1, '2026-11-01', false, 0, now() - interval '2 hours'
    from ledger.wallets where app_id = ${app.appId} and user_id = 'anna'`;
  await sql(db)`update ledger.last_check set differences = 3, ended_at = now()`;
  const overview = (await person.get(200, 'GET', '/operator/overview')) as {
    findings: { kind: string; count: number; of: string[] }[];
    held: { amountMicros: number; calls: number };
    books: { differences: number };
  };
  assert.deepEqual(
    overview.findings.slice(0, 4).map(({ kind, count }) => [kind, count]),
    [
      ['ledger-wrong', 3],
      ['payments-kept', 1],
      ['disputes-open', 1],
      ['money-held-long', 1],
    ],
  );
  assert.deepEqual([overview.held, overview.books.differences], [{ amountMicros: 1, calls: 1 }, 3]);
  const payments = ['1 payment needs a decision', '1 dispute is open', '/ops/payments?kind=dispute&#38;state=taken'];
  shows(await browser.open('/ops?period=week'), 'Overview', ['found 3 differences', ...payments]);
  await sql(db)`delete from ledger.holds where instance_id = 0`;
  await sql(db)`update ledger.last_check set differences = 0`;
});

test('CP-10 an operator finds anything by id, people by exact address', async () => {
  const { browser, person } = admin;
  const { keys } = (await person.get(200, 'GET', `/operator/apps/${app.appId}`)) as { keys: { keyId: string }[] };
  const [anna, theirs] = ['anna@example.test', owner.email].map(sealedEmail);
  const ofOwner = `select account_id from accounts.accounts where email = '${theirs}'`;
  const [ownerAccount] = (await db.query<{ account_id: string }>(ofOwner)).rows;
  await db.query(`insert into identities.identities (identity_id, email) values ('idn_found', '${anna}')`);
  await db.query(`insert into connections.connections (connection_id, app_id, user_id, identity_id)
    values ('con_found', '${app.appId}', 'anna', 'idn_found')`);
  const keyId = String(keys[0]?.keyId);
  const {
    rows: [numbered],
  } = await db.query<{ wallet_id: bigint }>('select wallet_id from ledger.wallets where app_id = $1 and user_id = $2', [
    app.appId,
    'anna',
  ]);
  const walletId = String(numbered?.wallet_id);
  await sql(db)`
    insert into payments.refunds (refund_id, payment_id, amount_micros, state, processor, is_ours, app_id, user_id)
    values ('ref_kept', 'pay_kept0000000000000000000', 1000000, 'paid', 'test', false, ${app.appId}, 'anna')`;
  const found = async (q: string) => {
    const list = (await person.get(200, 'GET', `/operator/find?q=${encodeURIComponent(q)}`)) as {
      found: { kind: string; id: string; related: { kind: string; id: string }[] }[];
    };
    return list.found.map(({ kind, id, related }) => [kind, id, related.map((one) => one.kind).join(' ')]);
  };
  const wallet = `${app.appId} anna`;
  for (const [q, ...expected] of [
    [callId, 'call', callId, 'app wallet'],
    ['a-paid-call', 'call', callId, 'app wallet'],
    [`  ${callId.toUpperCase()} `, 'call', callId, 'app wallet'],
    [app.appId, 'app', app.appId, 'account'],
    [keyId, 'key', keyId, 'app account'],
    [EVENT, 'event', EVENT, 'app account wallet'],
    ['tp_kept', 'payment', 'pay_kept0000000000000000000', 'checkout wallet app'],
    [walletId, 'wallet', wallet, 'app identity payment'],
    [wallet, 'wallet', wallet, 'app identity payment'],
    ['con_found', 'wallet', wallet, 'app identity payment'],
    ['chk_kept', 'checkout', 'chk_kept', 'payment wallet app'],
    ['won', 'dispute', 'dsp_won', 'checkout payment wallet app'],
    ['ref_kept', 'refund', 'ref_kept', 'payment wallet app'],
    ['idn_found', 'identity', 'idn_found', 'wallet'],
    ['pay_kept0000000000000000000', 'payment', 'pay_kept0000000000000000000', 'checkout wallet app'],
    [String(ownerAccount?.account_id), 'account', String(ownerAccount?.account_id), 'app'],
    [owner.email, 'account', String(ownerAccount?.account_id), 'app'],
    ['ANNA@example.test', 'identity', 'idn_found', 'wallet'],
  ] as const) {
    assert.deepEqual(await found(q), [expected], q);
  }
  for (const q of ['anna@example', 'pay_none', 'evt_none', 'app_none', `${app.appId} berta`, 'nothing at all', '%']) {
    assert.deepEqual(await found(q), [], q);
  }
  const page = 'Find anything';
  const links = [`/ops/call?id=${callId}`, `/ops/app?id=${app.appId}`, 'action="/ops/find"', `value="${callId}"`];
  shows(await browser.open(`/ops/find?q=${callId}`), page, links);
  shows(await browser.open('/ops/find?q=%3Cb%3E'), page, [], { ...MISSING, lacks: ['<b>'] });
  shows(await browser.open('/ops/find'), page);
});

test('CP-10 WH-14 AU-01 found keys and events have pages with their context', async () => {
  const { browser, person } = admin;
  const { keys } = (await person.get(200, 'GET', `/operator/apps/${app.appId}`)) as {
    keys: { keyId: string; mode: string }[];
  };
  const keyId = String(keys.find(({ mode }) => mode === 'live')?.keyId);
  assert.ok((await browser.open(`/ops/app?id=${app.appId}`)).text.includes(`/ops/event?id=${EVENT}`));
  const { days } = await waitUntil('the call is in the sums of the key', async () => {
    const details = (await person.get(200, 'GET', `/operator/keys/${keyId}`)) as { days: { calls: number }[] };
    return details.days.at(-1)?.calls === 1 && details;
  });
  assert.equal(days.length, 30);
  const context = [keyId, `/ops/app?id=${app.appId}`, owner.email, 'Calls with this key by day', 'What was done to it'];
  shows(await browser.open(`/ops/key?id=${keyId}`), 'API key', context, { lacks: [app.liveKey] });
  const ofEvent = [`/ops/wallet?app=${app.appId}&#38;user=anna`, owner.email, 'balance.low', '503'];
  shows(await browser.open(`/ops/event?id=${EVENT}`), 'Webhook event', ofEvent);
  const told = (await person.get(200, 'GET', `/operator/events/${EVENT}`)) as {
    appId: string;
    event: { state: string; attempts: { status: number }[] };
  };
  assert.deepEqual([told.appId, told.event.state, told.event.attempts[0]?.status], [app.appId, 'dropped', 503]);
  for (const id of ['key_none', `key_${'5'.repeat(22)}`]) {
    shows(await browser.open(`/ops/key?id=${id}`), 'Not found', [], MISSING);
    assert.equal((await person.ask('GET', `/operator/keys/${id}`)).status, 404);
  }
  shows(await browser.open('/ops/event?id=evt_none'), 'Not found', [], MISSING);
  assert.equal((await person.ask('GET', '/operator/events/evt_none')).status, 404);
});

test('CC-19 CP-10 a call’s page has its receipt, entry and upstream', async () => {
  const { browser, person } = admin;
  const receipt = ['Entries in the ledger', '>charge<', '>earned<', callId, 'Upstream', 'Price number'];
  shows(await browser.open('/ops/call?id=a-paid-call'), 'One call', receipt);
  const asked = (await person.get(200, 'GET', `/operator/calls?callId=${callId}`)) as {
    entries: { kind: string; amountMicros: number }[];
    hold: unknown;
  };
  const charge = Number(paid.headers.get('x-service-charge-micros'));
  assert.deepEqual(
    asked.entries.map(({ kind, amountMicros }) => [kind, amountMicros]),
    [['charge', charge]],
  );
  assert.equal(asked.hold, null);

  const running = '01900000-0000-7000-8000-000000000001';
  await sql(db)`insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select ${running}, wallet_id, 77, '2026-11-01', true, 0 from ledger.wallets where app_id = ${app.appId} and user_id = 'anna'`;
  shows(await browser.open(`/ops/call?id=${running}`), 'One call', ['Money on hold', '0.000077']);
  shows(await browser.open(`/ops/find?q=${running}`), 'Find anything', ['running']);
  const { hold } = await person.get(200, 'GET', `/operator/calls?callId=${running}`);
  assert.equal((hold as { amountMicros: number }).amountMicros, 77);
  await sql(db)`delete from ledger.holds where call_id = ${running}`;
  shows(await browser.open('/ops/call?id=none'), 'Not found', [], MISSING);
});

test('CP-10 CP-05 an app’s page changes its limits and suspension', async () => {
  const { browser, person } = admin;
  const path = `/ops/app?id=${app.appId}`;
  shows(await browser.open(`/ops/apps?query=${app.appId}`), 'Apps', [`/ops/app?id=${app.appId}`]);
  const told = [owner.email, app.liveKey.slice(-4), 'Rights and limits', 'its 2 keys'];
  shows(await browser.open(path), NAME, told, { lacks: [app.liveKey] });

  const limits = { ratePerMinute: '1000', rateBurst: '50', maxStreams: '3', act: 'change' };
  const submit = (fields: Readonly<Record<string, string>>, which?: string) => browser.submit(path, fields, which);
  const again = ['Reason, for the audit trail: ', 'value="1000"'];
  shows(await submit({ ...limits, 'reason-change': ' ' }), NAME, again, { status: 400 });
  shows(await submit({ ...limits, maxStreams: 'many', 'reason-change': 'x' }), NAME, [], { status: 400 });
  const changed = await submit({ ...limits, firstParty: 'yes', 'reason-change': 'They grow' });
  shows(changed, NAME, ['were changed']);
  const { app: now } = await person.get(200, 'GET', `/operator/apps/${app.appId}`);
  const inForce = { rateLimit: { perMinute: 1000, burst: 50 }, maxStreamsPerUser: 3, firstParty: true };
  assert.partialDeepStrictEqual(now, inForce);

  const suspended = await submit({ act: 'suspend', 'reason-suspend': 'A leaked key' }, 'suspend');
  shows(suspended, NAME, ['The app is suspended.', 'Lift the suspension', 'A leaked key', 'app.suspend']);
  const refused = await chat({ url: service.url, key: app.liveKey, user: 'anna' });
  assert.equal(refused.status, 403);
  shows(await browser.open('/ops/apps?status=suspended'), 'Apps', [app.appId]);
  await browser.open(path);
  const resumed = await submit({ act: 'resume', 'reason-resume': 'A new key' }, 'resume');
  shows(resumed, NAME, ['suspension is lifted']);
  shows(await browser.open('/ops/apps?status=suspended'), 'Apps', [], { lacks: [app.appId] });

  const viewer = await operatorOf('viewer');
  const hidden = ['A leaked key', 'action="/ops/find"'];
  shows(await viewer.browser.open(path), NAME, ['Your role does not allow changes here'], { lacks: hidden });
});

test('CP-10 every operator page makes at most ten statements', async (t) => {
  const { browser, accountId } = admin;
  await seedPending(db, { subject: `${app.appId} anna`, accountId });
  const keyOf = 'select key_id from accounts.api_keys where app_id = $1';
  const keys = await db.query<{ key_id: string }>(keyOf, [app.appId]);
  const pages = opsPages({
    app: app.appId,
    user: 'anna',
    account: accountId,
    call: callId,
    event: EVENT,
    key: String(keys.rows[0]?.key_id),
    payment: 'pay_kept0000000000000000000',
    paymentCase: 'cas_0000000000000000000000',
    pending: 'pnd_waits',
    draft: await sendDraft(service, admin.person),
    email: 'anna@example.test',
  });
  const statements = statementsOf(t);
  for (const { page, isPreview } of pages) {
    const most = isPreview ? PREVIEW_STATEMENTS_MAX : STATEMENTS_MAX;
    const look = async (): Promise<void> => {
      const reply = await browser.open(page);
      const isWaiting = page.startsWith('/ops/wallet-release'); // An act on this wallet waits for a second person.
      assert.equal(reply.status, isWaiting ? 409 : 200, page);
      const hasId = !/^.ops.account/.test(page) && mainOf(reply).includes(`>${app.appId}<`);
      assert.ok(!hasId || mainOf(reply).includes(NAME), `${page} has the id of an app without its name`);
    };
    const counts: number[] = [];
    // What many pages share is read once for all that look at about the same time.
    while (counts.length < 5 && !(Math.min(...counts) <= most)) counts.push(await statements(look));
    const least = Math.min(...counts);
    assert.ok(least >= 1 && least <= most, `${page}: ${counts.join()}`);
  }
});
