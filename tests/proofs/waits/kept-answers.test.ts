import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { hasLeft } from '../../support/callers-gone.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { type CallOptions, chat } from '../../support/client.ts';
import { createGate } from '../../support/gate.ts';
import { lockWallet } from '../../support/lock-wait.ts';
import { keptCount, receiptOf } from '../../support/receipts.ts';
import { readSandboxWallet } from '../../support/sandbox-wallet.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { sql, sqlRow, sqlValue } from '../../support/sql.ts';
import { SHARED_SECRET } from '../../support/keys.ts';
import { saying, USAGE } from '../../support/scripted-upstream.ts';
import { setTwoGateways } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Answers that are kept for retries: in the database, and when a process or the database fails. */

const { service, app, upstream, newUser, callAs, second } = await setTwoGateways();
const { owner } = service.database;
const CHARGE = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });
const FUNDS = 1_000_000;

const keyed = (user: string, key: string, more: Partial<CallOptions> = {}): CallOptions => {
  return { url: service.url, key: app.liveKey, user, headers: { 'idempotency-key': key }, ...more };
};

async function keptOf(callId: string | null): Promise<Record<string, unknown> | undefined> {
  return sqlRow<Record<string, unknown>>(owner)`select * from idempotency.kept_answers where call_id = ${callId}`;
}

test('CC-25 a kept answer is sealed in the database', async () => {
  const user = await newUser(FUNDS);
  upstream.script(saying('canary-answer'));
  const messages = [{ role: 'user', content: 'canary-prompt' }];
  const { status, headers, text } = await chat(keyed(user, 'canary-key'), { messages });
  assert.equal(status, 200);
  assert.match(text, /canary-answer/);
  const row = (await keptOf(headers.get('x-service-call-id'))) ?? {};
  const sealed = row['sealed'] as Buffer;
  assert.ok(sealed.length > text.length);
  for (const [name, value] of Object.entries(row)) {
    const bytes = Buffer.isBuffer(value) ? value : Buffer.from(String(value));
    for (const word of ['canary', user, 'choices']) assert.ok(!bytes.includes(word), name);
  }
  const logged = second.logged().join('\n');
  assert.ok(!logged.includes('canary'));
});

test('CC-25 a moved or changed answer cannot be opened', async () => {
  const user = await newUser(FUNDS);
  upstream.script(saying('Mine.'));
  const mine = await chat(keyed(user, 'mine'));
  const callId = mine.headers.get('x-service-call-id');
  await sql(owner)`update idempotency.kept_answers set sealed = set_byte(sealed, 40, get_byte(sealed, 40) # 1)
    where call_id = ${callId}`;
  const changed = await chat(keyed(user, 'mine'));
  assert.deepEqual([changed.status, changed.error['code']], [500, 'INTERNAL_SERVER_ERROR']);
  const other = await chat(keyed(user, 'other'));
  await sql(owner)`update idempotency.kept_answers a set sealed = b.sealed from idempotency.kept_answers b
    where a.call_id = ${callId} and b.call_id = ${other.headers.get('x-service-call-id')}`;
  assert.equal((await chat(keyed(user, 'mine'))).status, 500);
});

test('CC-25 an answer is kept for five minutes and then removed', async () => {
  const user = await newUser(FUNDS);
  upstream.script(saying('For a while.'));
  const first = await chat(keyed(user, 'old'));
  const callId = first.headers.get('x-service-call-id');
  const { kept_at: kept, expires_at: expires } = (await keptOf(callId)) ?? {};
  assert.ok(Math.abs(Number(expires) - Number(kept) - 5 * 60_000) < 1_000);
  await sql(owner)`update idempotency.kept_answers set expires_at = clock_timestamp() where call_id = ${callId}`;
  assert.equal((await chat(keyed(user, 'old'))).headers.get('x-service-replayed'), null);
  await waitUntil('it is removed', async () => (await keptOf(callId)) === undefined);
  assert.equal((await service.wallet(app, user)).balance, FUNDS - 2 * CHARGE);
});

test('CC-14 an answer that cannot be kept is sent', async (t) => {
  const user = await newUser(FUNDS);
  upstream.script(saying('Unkept.'));
  await sql(owner)`revoke insert on idempotency.kept_answers from purser_live`;
  t.after(() => owner.query('grant insert on idempotency.kept_answers to purser_live'));
  const reply = await chat(keyed(user, 'unkept', { url: second.url }));
  assert.equal(reply.status, 200);
  await waitUntil('the log says so', () => second.logged().join('\n').includes('could not be kept for retries'));
  assert.equal((await service.wallet(app, user)).balance, FUNDS - CHARGE);
});

test('CC-14 an answer is kept despite a lost connection', async (t) => {
  upstream.script(saying('Kept at last.'));
  await sql(owner)`
    create sequence idempotency.losses;
    grant usage on sequence idempotency.losses to purser_live;
    create function idempotency.lose() returns trigger language plpgsql as $$
    declare
      faults text[] := array['57P01', 'none', '57014', 'none', '55P03', 'none']; -- Lost, cancelled after a while, locked.
      fault text := faults[nextval('idempotency.losses')];
    begin
      if fault <> 'none' then raise exception 'made by a test' using errcode = fault; end if;
      return new;
    end $$;
    create trigger lose before insert on idempotency.kept_answers for each row execute function idempotency.lose();`;
  t.after(() =>
    owner.query(
      `drop trigger lose on idempotency.kept_answers; drop function idempotency.lose; drop sequence idempotency.losses`,
    ),
  );
  for (const fault of ['lost', 'cancelled', 'locked']) {
    const user = await newUser(FUNDS);
    const first = await chat(keyed(user, fault));
    const retry = await chat(keyed(user, fault));
    assert.deepEqual([retry.text, retry.headers.get('x-service-replayed')], [first.text, 'true'], fault);
    assert.equal((await service.wallet(app, user)).balance, FUNDS - CHARGE, fault);
  }
});

/** A gateway that dies just before its first call is charged. */
async function startDying(t: TestContext): Promise<string> {
  const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-dying-'));
  t.after(() => rmSync(dataDirectory, { recursive: true, force: true }));
  const catalogue = catalogueAt(upstream.baseUrl, { timeoutMs: 30_000 });
  const environment = { ...SHARED_SECRET, PURSER_FAILPOINT: 'lane.settle-called:1:kill' };
  const databaseUrl = service.database.url;
  const dying = await startServiceProcess({ dataDirectory, catalogue, databaseUrl, environment });
  t.after(dying.stop);
  return dying.url;
}

for (const mode of ['live', 'sandbox'] as const) {
  test(`CC-14 ${mode}: a retry after a kill is charged once`, async (t) => {
    const user = await newUser(FUNDS);
    const key = mode === 'live' ? app.liveKey : app.testKey;
    const url = await startDying(t);
    upstream.script(saying('Kept, not charged.'));
    await assert.rejects(chat(keyed(user, 'crash', { url, key })));
    const { rows } = await owner.query<{ call_id: string; instance_id: bigint }>(
      `select a.call_id, h.instance_id from idempotency.kept_answers a join ${mode === 'live' ? 'ledger' : 'sandbox'}.holds h using (call_id)`,
    );
    assert.equal(rows.length, 1, 'the answer is kept and the hold exists');
    await sql(owner)`update db.instances set state = 'dead' where instance_id = ${rows[0]?.instance_id}`;
    const retry = await chat(keyed(user, 'crash', { key }));
    assert.deepEqual([retry.status, retry.headers.get('x-service-replayed')], [200, null]);
    const again = await chat(keyed(user, 'crash', { url: second.url, key }));
    assert.deepEqual([again.text, again.headers.get('x-service-replayed')], [retry.text, 'true']);
    if (mode === 'live') {
      assert.deepEqual(await service.wallet(app, user), { balance: FUNDS - CHARGE, held: 0, openStreams: 0 });
      assert.equal((await receiptOf(service.database, rows[0]?.call_id ?? ''))?.outcome, 'expired');
    } else {
      const wallet = await readSandboxWallet(service.database, app, user);
      assert.deepEqual([wallet?.requests, wallet?.held], [1, 0]);
    }
  });
}

test('CC-14 retries of equal abandoned calls send nothing more', async () => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const before = upstream.requests.length;
  upstream.script((_, index) => {
    return { body: [{ waitFor: gate.opened }, { write: saying(`Answer ${index}.`).body as string }] };
  });
  const counted = (retries: number, url: string, signal?: AbortSignal): CallOptions => {
    const headers = { 'x-stainless-retry-count': String(retries) };
    return { url, key: app.liveKey, user, headers, ...(signal && { signal }) };
  };
  const leaving = new AbortController();
  const left = Array.from({ length: 3 }, () => chat(counted(0, service.url, leaving.signal)).catch(() => 'left'));
  await waitUntil('all run', () => upstream.requests.length - before === 3);
  leaving.abort();
  await Promise.all(left);
  const retries = Array.from({ length: 3 }, () => chat(counted(1, second.url)));
  await waitUntil('all are joined', async () => {
    const joined = await sqlValue<number>(owner)`select count(*)::int as joined from ledger.holds where is_joined`;
    return joined === 3;
  });
  gate.open();
  const replies = await Promise.all(retries);
  assert.equal(new Set(replies.map(({ text }) => text)).size, 3);
  for (const { status, headers } of replies)
    assert.deepEqual([status, headers.get('x-service-replayed')], [200, 'true']);
  assert.equal(upstream.requests.length - before, 3);
  assert.equal((await service.wallet(app, user)).balance, FUNDS - 3 * CHARGE);
});

test('CC-25 an answer is kept even if nobody waits for it', async () => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const before = upstream.requests.length;
  upstream.script({ body: [{ waitFor: gate.opened }, { write: saying('Too late.').body as string }] });
  const leaving = new AbortController();
  const options = { url: service.url, key: app.liveKey, user };
  const left = chat({ ...options, headers: { 'x-stainless-retry-count': '0' }, signal: leaving.signal });
  await waitUntil('the provider is asked', () => upstream.requests.length - before === 1);
  leaving.abort();
  await assert.rejects(left);
  await waitUntil('the gateway has noticed', () => hasLeft(user));
  gate.open();
  await waitUntil('it is charged', async () => (await service.wallet(app, user)).balance === FUNDS - CHARGE);
  const retry = await chat({ ...options, headers: { 'x-stainless-retry-count': '1' } });
  assert.deepEqual([retry.status, retry.headers.get('x-service-replayed')], [200, 'true']);
  assert.equal(upstream.requests.length - before, 1);
});

test('CC-25 an answer is kept if its caller stops reading', async () => {
  const user = await newUser(FUNDS);
  const before = upstream.requests.length;
  const content = 'a'.repeat(7 * 1024 * 1024); // More than the network buffers for a caller who reads nothing.
  upstream.script(saying(content));
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
  const { hostname, port } = new URL(service.url);
  const stalled = connect(Number(port), hostname);
  stalled.write(
    [
      'POST /v1/chat/completions HTTP/1.1',
      'host: purser.test',
      `authorization: Bearer ${app.liveKey}`,
      `x-service-user: ${user}`,
      'x-stainless-retry-count: 0',
      `content-length: ${body.length}`,
      `\r\n${body}`,
    ].join('\r\n'),
  );
  await waitUntil('it is charged', async () => (await service.wallet(app, user)).balance < FUNDS);
  const { balance } = await service.wallet(app, user);
  stalled.destroy();
  await waitUntil('it is kept', async () => (await keptCount(service, user)) === 1);
  const headers = { 'x-stainless-retry-count': '1' };
  const retry = await chat({ url: second.url, key: app.liveKey, user, headers, body });
  assert.deepEqual([retry.status, retry.headers.get('x-service-replayed')], [200, 'true']);
  assert.ok(retry.text.includes(content));
  assert.equal(upstream.requests.length - before, 1);
  assert.deepEqual(await service.wallet(app, user), { balance, held: 0, openStreams: 0 });
});

test('CC-14 a joined call on a locked wallet is answered from disk', async () => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const before = upstream.requests.length;
  upstream.script({ body: [{ waitFor: gate.opened }, { write: saying('From disk.').body as string }] });
  const headers = { 'x-stainless-retry-count': '0' };
  const first = callAs(user, {}, { headers });
  await waitUntil('the provider is asked', () => upstream.requests.length - before === 1);
  await sql(owner)`update ledger.holds set is_joined = true`; // As if by a retry that has left again.
  const lock = await lockWallet(service.database, user);
  gate.open();
  const { status } = await first;
  await lock.release();
  assert.equal(status, 200);
  const isFree = async () => (await service.wallet(app, user)).held === 0;
  await waitUntil('it is charged', isFree);
  assert.deepEqual(await service.wallet(app, user), { balance: FUNDS - CHARGE, held: 0, openStreams: 0 });
  assert.equal(await keptCount(service, user), 0);
});
