import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../../support/catalogue.ts';
import { COMPLETIONS, type Reply, send } from '../../support/client.ts';
import { createGate } from '../../support/gate.ts';
import { lockWallet } from '../../support/lock-wait.ts';
import { receiptOf } from '../../support/receipts.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { spoolIn, untilEmpty } from '../../support/spool.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { setStage } from '../../support/stage.ts';

const RICH = 1_000_000_000;
const CALLS = 200;
const CALLERS = 25;
const LOSSES = 12;
/** A hold in doubt is released within seconds after it appears. */
const RELEASE_MS_MAX = 30_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const FACTS = { model: 'large-upstream', usage: USAGE };

const { upstream, service, app } = await setStage({ model: { timeoutMs: 60_000 } });

function bodyOf(isStream: boolean): object {
  return { model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: isStream };
}

function call(user: string, isStream = false): Promise<Reply> {
  return send(COMPLETIONS, { url: service.url, key: app.liveKey, user, body: bodyOf(isStream) });
}

/** Ends every connection to the database except its own, as a restarting server does. */
async function loseAllConnections(): Promise<void> {
  await sql(service)`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
}

async function chargesOf(user: string): Promise<number> {
  const charges = await sqlValue<number>(service)`select count(*)::int as charges from ledger.entries e
    join ledger.wallets w on w.wallet_id = e.wallet_id
    where w.user_id = ${user} and e.kind = 'charge' and e.amount_micros = ${CHARGE}`;
  return charges ?? 0;
}

function isAnswered({ status, text }: Reply, isStream: boolean): boolean {
  return status === 200 && (!isStream || text.endsWith('data: [DONE]\n\n'));
}

for (const isStream of [false, true]) {
  const kind = isStream ? 'streams' : 'plain calls';

  test(`WA-17 through ${LOSSES} database losses answered ${kind} are charged once`, async () => {
    const user = kind.replace(' ', '-');
    await service.fund(app, user, RICH);
    upstream.script({
      body: isStream
        ? streamSteps({ ...FACTS, pieces: ['Hi', '.'], includeUsageChunk: true })
        : completionBody({ ...FACTS, content: 'Hi.' }),
    });
    const replies: Reply[] = [];
    let begun = 0;
    const callers = Array.from({ length: CALLERS }, async () => {
      while (begun < CALLS) {
        begun += 1;
        replies.push(await call(user, isStream));
      }
    });
    for (let loss = 1; loss <= LOSSES; loss += 1) {
      await waitUntil('more calls are answered', () => replies.length >= (loss * (CALLS - CALLERS)) / LOSSES);
      await loseAllConnections();
    }
    await Promise.all(callers);
    await untilEmpty(spoolIn(service.dataDirectory)); // A caller may get the answer before the charge reaches the database.

    const answered = replies.filter((reply) => isAnswered(reply, isStream));
    const faults = replies.filter(({ status }) => status === 500);
    assert.equal(answered.length + faults.length, replies.length); // Every call got a response of some kind.
    assert.ok(answered.length > 0);
    for (const { headers } of answered) {
      const receipt = await receiptOf(service.database, headers.get('x-service-call-id') ?? '');
      assert.deepEqual([receipt?.outcome, receipt?.charged], ['answered', CHARGE]);
    }
    await waitUntil('no hold is left', async () => (await service.wallet(app, user)).held === 0, RELEASE_MS_MAX);
    assert.equal(await chargesOf(user), answered.length);
    const balance = RICH - answered.length * CHARGE;
    assert.deepEqual(await service.wallet(app, user), { balance, held: 0, openStreams: 0 });
    assert.deepEqual(await service.check(), []);
  });
}

test('WA-17 a call answered in an outage is charged later', async () => {
  await service.fund(app, 'waiting', RICH);
  const gate = createGate();
  const write = completionBody({ ...FACTS, content: 'Hi.' });
  upstream.script({ headers: { 'content-type': 'application/json' }, body: [{ waitFor: gate.opened }, { write }] });
  const before = upstream.requests.length;
  const calls = Array.from({ length: 20 }, () => call('waiting'));
  await upstream.arrival(before + calls.length - 1);
  await loseAllConnections();
  gate.open();
  await loseAllConnections();
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assert.deepEqual(new Set(statuses), new Set([200]));
  await untilEmpty(spoolIn(service.dataDirectory));
  const balance = RICH - calls.length * CHARGE;
  assert.deepEqual(await service.wallet(app, 'waiting'), { balance, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});

test('WA-17 a locked wallet loses no charge and delays no other', async () => {
  await service.fund(app, 'locked', RICH);
  await service.fund(app, 'free', RICH);
  const gate = createGate();
  const write = completionBody({ ...FACTS, content: 'Hi.' });
  upstream.script({ headers: { 'content-type': 'application/json' }, body: [{ waitFor: gate.opened }, { write }] });
  const before = upstream.requests.length;
  const stuck = call('locked');
  await upstream.arrival(before);
  const lock = await lockWallet(service.database, 'locked');
  gate.open();
  await lock.waiting(1);
  assert.equal((await call('free')).status, 200);
  const tries = new Set<unknown>();
  await waitUntil('the settlement has been tried six times', async () => {
    const rows = await sql<{ at: Date }>(service)`select query_start as at from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock' and query like '%ledger.settle%'`;
    for (const { at } of rows) tries.add(at.getTime());
    return tries.size >= 6;
  });
  assert.equal((await stuck).status, 200); // The caller gets the answer as soon as the charge is on disk.
  await lock.release();
  await untilEmpty(spoolIn(service.dataDirectory));
  assert.deepEqual(await service.wallet(app, 'locked'), { balance: RICH - CHARGE, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
});

test('WA-07 a hold of no running call is released', async () => {
  await service.fund(app, 'orphan', RICH);
  await sql(service)`with held as (
      update ledger.wallets set held_micros = 60, cap_month = db.current_month(), cap_held_micros = 60, open_calls = 1, version = version + 1
      where user_id = 'orphan' returning wallet_id, cap_month
    )
    insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
    select gen_random_uuid(), wallet_id, 60, cap_month, false, (select instance_id from db.instances where state = 'live')
    from held`;
  await waitUntil('the hold is released', async () => (await service.wallet(app, 'orphan')).held === 0);
  assert.deepEqual(await service.check(), []);
});

test('SB-02 the sandbox answers again after a database loss', async () => {
  const sandboxCall = () =>
    send(COMPLETIONS, { url: service.url, key: app.testKey, user: 'tester', body: bodyOf(false) });
  assert.equal((await sandboxCall()).status, 200);
  await loseAllConnections();
  const replies = await Promise.all(Array.from({ length: 20 }, sandboxCall));
  assert.ok(replies.every(({ status }) => status === 200 || status === 500));
  await waitUntil('the sandbox answers', async () => (await sandboxCall()).status === 200);
  const rows = await sql(service)`select held_micros::int as held, (select count(*)::int from sandbox.holds) as holds
    from sandbox.wallets`;
  assert.deepEqual(rows, [{ held: 0, holds: 0 }]);
});
