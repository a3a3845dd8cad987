import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { compareOnce } from '../../../packages/service/src/app/cells/directory-comparison.ts';
import { openCell } from '../../../packages/service/src/app/cells/own-cell.ts';
import { addCell, assignSlots } from '../../../packages/service/src/cells/topology/cells.ts';
import { publishDirectory, subscribe } from '../../../packages/service/src/cells/directory/directory.ts';
import { createSubscription, selectCopyAge } from '../../../packages/service/src/cells/directory/queries.ts';
import { slotOf } from '../../../packages/service/src/kernel/values/slot.ts';
import { inTransaction } from '../../../packages/service/src/db/pool/pool.ts';
import type { EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { beginWalletIds, hasWalletsIn } from '../../../packages/service/src/ledger/wallet/queries.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { chat, send } from '../../support/client.ts';
import { newOperator, newOwnApp, newOwner, personWith } from '../../support/control.ts';
import { setCopyStage } from './copy-stage.ts';
import { startLogicalServer } from './logical-server.ts';
import { changeKeys } from '../../support/operator-acts.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { saying, startScriptedUpstream, USAGE } from '../../support/scripted-upstream.ts';
import { startTestService, type TestApp, type TestService } from '../../support/service.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { SHARED_SECRET } from '../../support/keys.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { createTestDatabase } from '../../support/database.ts';

/** The directory of all cells: written in one, copied to the others by PostgreSQL. */

const DIRECTORY_URL = 'https://c1.purser.test';
const log = createLog('silent');
const server = await startLogicalServer();
const one = await server.addDatabase('one');
const two = await server.addDatabase('two');
const { again, againInVain, halfway, isCopying, isRead, tryInVain, workerOf } = setCopyStage(one, two);
const isUnread = async () => (await isRead()) === false;
const upstream = await startScriptedUpstream();
const running: TestService[] = [];
const secrets = { secret: Buffer.from(SHARED_SECRET.PURSER_SECRET) };
after(async () => {
  for (const service of running) await service.close();
  await upstream.close();
  await server.stop();
});
const join = (name = 'c2') =>
  subscribe(two.owner, { name, databaseUrl: one.url, publicUrl: DIRECTORY_URL, beginWalletIds, log });

const environment = (name: string) => ({
  ...SHARED_SECRET,
  PURSER_CELL: name,
  PURSER_PUBLIC_URL: `https://${name}.purser.test`,
  PURSER_REGISTRATION: 'open',
});

test('CE-03 directories are copied only to unused databases', async (t) => {
  await addCell(one.owner, 'c1', 'http://127.0.0.1:9');
  await assert.rejects(publishDirectory(one.owner), /No gateway has said yet/);
  await openCell(one.owner, 'c1');
  await assert.rejects(join(), /offers no directory/);
  await publishDirectory(one.owner);
  await publishDirectory(one.owner);
  await assert.rejects(join(), /has no cell c2/);
  await addCell(one.owner, 'c2', 'http://127.0.0.1:9');
  const used = await createTestDatabase();
  t.after(used.close);
  await addCell(used.owner, 'c9', 'http://127.0.0.1:9');
  const options = { name: 'c2', databaseUrl: one.url, publicUrl: DIRECTORY_URL, beginWalletIds, log };
  await assert.rejects(subscribe(used.owner, options), /has been used: there are rows in cells\.cells/);
  await openCell(used.owner, 'c9');
  await assert.rejects(publishDirectory(used.owner), /wal_level=logical/);
  await assert.rejects(subscribe(used.owner, options), /is the cell c9, which has a directory of its own/);
});

test('CE-03 AU-09 a directory change is in force everywhere', async () => {
  const catalogue = catalogueAt(upstream.baseUrl);
  const c1 = await startTestService(catalogue, environment('c1'), one);
  const app = await c1.addApp();
  await join();
  await join(); // As after an upgrade.
  const c2 = await startTestService(undefined, environment('c2'), two);
  running.push(c1, c2);
  await addCell(one.owner, 'c1', c1.url);
  await addCell(one.owner, 'c2', c2.url);
  await assignSlots(one.owner, { least: 2_048, most: 4_095, to: 'c2' }, hasWalletsIn);
  const owner = await newOwner(c1);
  const own = await newOwnApp(owner);
  const statusOf = (key: string) => send('/v1/models', { url: c2.url, key }).then(({ status }) => status);
  await waitUntil('a new key is known', async () => (await statusOf(own.liveKey)) === 200);
  const { keys } = await owner.get(200, 'GET', `/apps/${own.appId}/keys`);
  for (const { keyId } of keys as readonly { readonly keyId: string }[]) {
    await owner.get(204, 'DELETE', `/apps/${own.appId}/keys/${keyId}`);
  }
  await waitUntil('a revoked key is refused', async () => (await statusOf(own.liveKey)) === 401);

  const user = userOf(app, 'c2');
  await waitUntil('the second cell has its users', () =>
    c2.fund(app, user, 1_000_000).then(
      () => true,
      () => false,
    ),
  );
  const balanceAt = (url: string) => send('/balance', { url, key: app.liveKey, user });
  await waitUntil('the first cell forwards', async () => (await balanceAt(c1.url)).status === 200);
  upstream.script(saying('Hi'));
  assert.equal((await chat({ url: c1.url, key: app.liveKey, user })).status, 200);
  const charge = chargeFor({ prompt: USAGE.prompt_tokens, completion: USAGE.completion_tokens });
  assert.equal((await c2.wallet(app, user)).balance, 1_000_000 - charge);
  const { rows } = await two.owner.query<{ wallet_id: bigint }>('select wallet_id from ledger.wallets');
  assert.deepEqual(rows, [{ wallet_id: 1_000_000_000_001n }]);

  const ages = await Promise.all([one, two].map(({ owner: db }) => selectCopyAge(db)));
  assert.equal(ages[0], undefined);
  assert.ok((ages[1] ?? Infinity) < 60, String(ages[1]));
  assert.match(await (await fetch(`${c2.url}/metrics`)).text(), /^purser_directory_copy_age_seconds \d/m);
  assert.doesNotMatch(await (await fetch(`${c1.url}/metrics`)).text(), /^purser_directory_copy_age_seconds \d/m);

  // An operator signs in where the directory is, and moves money where the user is.
  const operator = await newOperator(c1);
  const there = personWith(c2.url, operator.token);
  const wallet = `/operator/apps/${app.appId}/wallets/${user}`;
  await waitUntil('the session is known', async () => (await there.ask('GET', wallet)).status === 200);
  await there.get(200, 'POST', `${wallet}/credit`, { amountMicros: 7, reason: 'test', idempotencyKey: 'k' });
  assert.equal((await c2.wallet(app, user)).balance, 1_000_007 - charge);

  const refused = [
    await personWith(c2.url, owner.token).ask('POST', '/apps', { name: 'Another' }),
    await personWith(c2.url, owner.token).ask('PATCH', `/apps/${own.appId}`, { name: 'Another' }),
    await personWith(c2.url, owner.token).ask('DELETE', '/sessions/current'),
    await there.ask('POST', `/operator/apps/${app.appId}/suspend`, { reason: 'test' }),
    await there.ask('PUT', '/operator/aliases/new', { target: 'acme.large-1' }),
  ];
  for (const reply of refused) {
    assertRefusal(reply, { code: 'CONFLICT' });
    assert.match(String(reply.error['message']), /Do this at https:\/\/c1\.purser\.test\.$/);
  }
  await owner.get(204, 'DELETE', '/sessions/current');
  await waitUntil('the session has ended everywhere', async () => {
    return (await personWith(c2.url, owner.token).ask('GET', '/apps')).status === 401;
  });
  assert.deepEqual([...(await c1.check()), ...(await c2.check())], []);
});

test('CE-03 cells write notes and removals to the directory', async () => {
  await sql(two)`update accounts.sessions set last_used_at = clock_timestamp()`;
  await sql(two)`update webhooks.subscriptions set failures_in_row = 1`;
  await assert.rejects(two.owner.query('update accounts.sessions set proved_at = clock_timestamp()'), /another cell/);
  await assert.rejects(two.owner.query('delete from accounts.sessions'), /another cell/);
  await sql(one)`update accounts.sessions set created_at = '2000-01-01', expires_at = '2000-01-02'`;
  await waitUntil('the sessions have expired there too', async () => {
    const { rowCount } = await two.owner.query('select from accounts.sessions where expires_at > clock_timestamp()');
    return rowCount === 0;
  });
  await sql(two)`delete from accounts.sessions`;
  await sql(one)`delete from accounts.sessions`;
  await sql(one)`update db.generations set generation = generation + 1 where topic = 'cells'`;
  await waitUntil('what comes after rows that are gone is copied', async () => {
    const both = await Promise.all(
      [one, two].map((db) => db.owner.query('select * from db.generations order by topic')),
    );
    return JSON.stringify(both[0]?.rows, inText) === JSON.stringify(both[1]?.rows, inText);
  });
});

test('CE-03 a copy ages while it stands still', async () => {
  await sql(two)`alter subscription purser_directory disable`;
  // As the gateway of c1 does, and so far ahead that the age is 0 as soon as it arrives.
  await sql(one)`update cells.cells set beat_at = clock_timestamp() + interval '1 hour' where name = 'c1'`;
  const [age = 0, later = 0] = [await selectCopyAge(two.owner), await selectCopyAge(two.owner)];
  assert.ok(age > 0 && later > age, `${age} ${later}`);
  await sql(two)`alter subscription purser_directory enable`;
  await waitUntil('the copy has caught up', async () => (await selectCopyAge(two.owner)) === 0);
});

test('CE-03 AU-09 one command repairs a copy lacking a revocation', async () => {
  const [c1, c2] = running as readonly TestService[];
  assert.ok(c1 !== undefined && c2 !== undefined);
  const own = await newOwnApp(await newOwner(c1));
  const statusOf = (key: string) => send('/v1/models', { url: c2.url, key }).then(({ status }) => status);
  await waitUntil('the key is known', async () => (await statusOf(own.liveKey)) === 200);
  assert.deepEqual(await compareOnce(two.owner, secrets), []);
  // The copy is ahead of a new leader: it skips what that one commits next.
  await sql(two)`alter subscription purser_directory disable`;
  await waitUntil('nothing is copied', isUnread);
  await changeKeys(one.owner, { set: 'revoked_at = clock_timestamp()', where: 'app_id = $1' }, [own.appId]);
  await sql(two)`select pg_replication_origin_advance(roname, pg_current_wal_insert_lsn())
    from pg_replication_origin where roname = (select 'pg_' || oid from pg_subscription where subname = 'purser_directory')`;
  await sql(two)`alter subscription purser_directory enable`;
  // A later change of the same counter: all that shows the loss is the key itself.
  const later = await newOwnApp(await newOwner(c1));
  await waitUntil('a later key is known', async () => (await statusOf(later.liveKey)) === 200);
  assert.equal(await statusOf(own.liveKey), 200);
  assert.deepEqual(await compareOnce(two.owner, secrets), ['accounts.api_keys']);
  const shows = (tables: number) => async () =>
    new RegExp(`^purser_directory_copy_differing_tables ${tables}$`, 'm').test(
      await (await fetch(`${c2.url}/metrics`)).text(),
    );
  await waitUntil('the metric says so', shows(1));

  const shift = (by: string) =>
    two.owner.query(`begin; set local session_replication_role = replica;
      update cells.cells set beat_at = beat_at + interval '${by}'; commit`);
  await sql(two)`alter subscription purser_directory disable`; // Or a newer time would come from the directory.
  await waitUntil('nothing is copied', isUnread);
  await shift('1 day');
  await assert.rejects(again(), /an older directory than this copy/, 'such as that of a former leader');
  await shift('-1 day');
  const replaced = await again();
  // The time that the directory writes may be newer.
  assert.deepEqual(
    replaced.filter(({ table }) => table !== 'cells.cells'),
    [{ table: 'accounts.api_keys', went: 2, came: 2 }],
  );
  await waitUntil('the revoked key is refused', async () => (await statusOf(own.liveKey)) === 401);
  assert.deepEqual(await compareOnce(two.owner, secrets), []);
  await waitUntil('the metric is 0 again', shows(0));
  const last = await newOwnApp(await newOwner(c1));
  await waitUntil('a new key arrives as before', async () => (await statusOf(last.liveKey)) === 200);
  assert.equal(await statusOf(later.liveKey), 200);
});

test('CE-03 a copy whose slot is gone is copied again', async (t) => {
  await sql(two)`alter subscription purser_directory disable`;
  await waitUntil('nothing is copied', isUnread);
  await sql(one)`select pg_drop_replication_slot('purser_c2')`;
  // PostgreSQL tries to go on copying every few seconds. This try is so slow that it would read the slot that comes next.
  const worker = await tryInVain(t);
  await sql(one)`update accounts.apps set name = 'Another'`;
  await assert.rejects(setCopyStage(two, one).again(), /no cell c2 with a copy/);
  const { run, release } = await halfway();
  const left = await workerOf();
  await release();
  const replaced = await run;
  assert.notEqual(left, worker, 'the try has ended before the new slot was made');
  assert.ok(replaced.some(({ table }) => table === 'accounts.apps'));
  await waitUntil('the copy goes on', async () => (await isRead()) === true);
  assert.deepEqual(await compareOnce(two.owner, secrets), []);
});

test('CE-03 AU-09 one run at a time repairs a copy', async () => {
  const { run, release } = await halfway();
  await assert.rejects(again(), /Another run copies the directory/);
  // As by a run from elsewhere: changes that lie between would be lost.
  await sql(one)`select pg_replication_slot_advance('purser_c2', pg_current_wal_insert_lsn())`;
  await release();
  await assert.rejects(run, /Somebody else has made the replication slot purser_c2 .* anew.*\n.*stands still until/);
  // Copying from that slot would be the same loss.
  await assert.rejects(againInVain(), /A transaction on the directory's server does not end.*\n.*stands still until/);
  assert.equal(await isCopying(), false);
  await again();
  assert.equal(await isCopying(), true);
});

test('CE-03 a failed recopy leaves a copy as it was', async () => {
  await assert.rejects(againInVain(), /A transaction .* does not end[^\n]*$/);
  await sql(one)`create role reader login password 'reader' in role pg_read_all_data`;
  const reader = new URL(one.url);
  [reader.username, reader.password] = ['reader', 'reader'];
  await assert.rejects(again(reader.href), /does not allow this user to copy the directory[^\n]*$/);
  await sql(one)`alter publication purser_directory drop table accounts.passkeys`; // As before an upgrade.
  await assert.rejects(again(), /does not offer accounts\.passkeys\. Run/);
  await publishDirectory(one.owner);
  const staging = await server.addDatabase('staging');
  for (const name of ['c1', 'c2']) await addCell(staging.owner, name, 'http://127.0.0.1:9');
  await openCell(staging.owner, 'c1');
  await publishDirectory(staging.owner);
  await sql(staging)`update cells.cells set beat_at = clock_timestamp() + interval '2 hours'`;
  await sql(staging)`update webhooks.event_key set key = sha256(key)`; // As if it had begun by itself.
  await assert.rejects(again(staging.url), /the directory of another installation/);
  const { rows } = await one.owner.query<{ key: Buffer }>('select key from webhooks.event_key');
  await sql(staging)`update webhooks.event_key set key = ${rows[0]?.key}`;
  await sql(staging)`update cells.own set directory_url = 'https://c1.purser.test'`;
  await assert.rejects(again(staging.url), /or only a copy of a directory/);
  await staging.close();
  assert.equal(await isCopying(), true);
});

test('CE-03 the server’s log never has the directory’s password', async () => {
  const log = await sqlValue<string>(two)`select current_setting('data_directory') || '.log' as log`;
  const attempt = inTransaction(two.owner, async (tx) => {
    await tx.query(`set local log_min_messages = 'error'; set local log_statement = 'all'`);
    await createSubscription(tx, 'postgres://copier:secret-word@127.0.0.1:9/none', 'purser_c9');
  });
  await assert.rejects(attempt, /already exists/);
  const text = readFileSync(log ?? '', 'utf8');
  assert.match(text, /subscription "purser_directory" already exists/);
  assert.doesNotMatch(text, /secret-word/);
});

function inText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}

function userOf({ appId }: TestApp, cell: 'c1' | 'c2'): EndUserId {
  for (let n = 0; ; n += 1) {
    const user = `user-${n}` as EndUserId;
    if (slotOf(appId, user) >= 2_048 === (cell === 'c2')) return user;
  }
}
