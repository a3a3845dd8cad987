import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { refuseUnfit } from '../../../packages/service/src/app/start/unfit-database.ts';
import { selectDatabaseHealth, selectServer } from '../../../packages/service/src/db/health/queries.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { judgeReplication } from '../../../packages/service/src/doctor/diagnosis/server.ts';
import { afterwards } from '../../support/embedded-harness.ts';
import { startTunedServer } from '../../support/tuned-server.ts';
import { waitUntil } from '../../support/wait-until.ts';

const PRODUCTION = { isProduction: true, isEmbedded: false } as Parameters<typeof judgeReplication>[0];

test('OP-11 OP-08 a subscription that confirms commits is no standby', async (t) => {
  const server = await startTunedServer({ settings: { wal_level: 'logical' } });
  afterwards(t, server.stop);
  const [books, copy] = [await server.addDatabase('books'), await server.addDatabase('copy')];
  afterwards(t, () => Promise.all([books.close(), copy.close()]));
  const { owner } = books;
  for (const { owner: either } of [books, copy]) await either.query('create table public.words (word text)');
  await owner.query('create publication words for table public.words');
  await owner.query(`select pg_create_logical_replication_slot('a', 'pgoutput')`);
  await copy.owner.query(
    `create subscription a connection '${books.url}' publication words with (create_slot = false, copy_data = false)`,
  );
  afterwards(t, async () => {
    await owner.query('alter system reset synchronous_standby_names');
    await owner.query('select pg_reload_conf()');
    await copy.owner.query('drop subscription a');
  });
  const seen = async (names: string, state: string) => {
    await owner.query(`alter system set synchronous_standby_names = ${names}`);
    await owner.query('select pg_reload_conf()');
    await waitUntil(`the subscription is ${state}`, async () => {
      const { rows } = await owner.query<{ state: string }>('select sync_state as state from pg_stat_replication');
      return rows[0]?.state === state;
    });
    await owner.query(`insert into public.words values ('confirmed by the subscription')`);
    const row = await selectServer(owner);
    const { standbys_streaming: streaming } = await selectDatabaseHealth(owner);
    return [row.waits_for_standby, row.standbys, row.synchronous_standbys, streaming];
  };
  const start = () => refuseUnfit({ databaseUrl: books.url, durability: 'standby' }, createLog('silent'));

  assert.deepEqual(await seen(`'*'`, 'sync'), [true, 0, 0, 0]);
  await assert.rejects(start(), /Commits may wait for no standby.*a subscription to any table.*Name the standbys/);
  assert.deepEqual(await seen(`'ANY 1 (a, b)'`, 'quorum'), [true, 0, 0, 0]);
  await start();
  assert.equal(judgeReplication(PRODUCTION, await selectServer(owner))?.level, 'bad');
});

test('OP-18 a cancelled commit that waits for its standby is local and says success', async (t) => {
  const server = await startTunedServer({ settings: {} });
  afterwards(t, server.stop);
  const { owner, url, close } = await server.addDatabase('books');
  afterwards(t, close);
  await owner.query('create table public.words (word text)');
  await owner.query(`alter system set synchronous_standby_names = 'nobody'`);
  await owner.query('select pg_reload_conf()');
  const limits =
    'statement_timeout=500 lock_timeout=500 transaction_timeout=500 idle_in_transaction_session_timeout=500';
  const options = limits.replaceAll(/\S+=/g, '-c $&');
  const client = new pg.Client({ connectionString: url, options, application_name: 'waits' });
  await client.connect();
  afterwards(t, () => client.end());
  const written = client.query(`insert into public.words values ('here alone')`);
  const waiting = `from pg_stat_activity where application_name = 'waits' and wait_event = 'SyncRep'
    and clock_timestamp() - query_start > interval '1 second'`;
  await waitUntil('it waits for longer than every limit', async () => {
    return (await owner.query(`select ${waiting}`)).rowCount === 1;
  });
  await owner.query(`select pg_cancel_backend(pid) ${waiting}`);
  assert.equal((await written).rowCount, 1, 'it says success');
  assert.equal((await owner.query('select from public.words')).rowCount, 1);
});
