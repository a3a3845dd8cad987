import assert from 'node:assert/strict';
import { test } from 'node:test';
import { refuseUnfit } from '../../../packages/service/src/app/start/unfit-database.ts';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { chat } from '../../support/client.ts';
import { afterwards, isLinux } from '../../support/embedded-harness.ts';
import { createGate } from '../../support/gate.ts';
import { scrape } from '../../support/metrics.ts';
import { movementsOf } from '../../support/receipts.ts';
import { completionBody, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { startTestService } from '../../support/service.ts';
import { startStandbyPair } from './standby-pair.ts';
import { waitUntil } from '../../support/wait-until.ts';

const log = createLog('silent');
const RICH = 1_000_000_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });

test('OP-11 WA-07 calls follow a database to its new leader', {
  skip: !isLinux, // The process table is read.
}, async (t) => {
  const { first, second, url, database } = await startStandbyPair(t);
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const fit = { databaseUrl: url, durability: 'standby' } as const;
  await refuseUnfit(fit, log);
  const service = await startTestService(
    catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 }),
    { DATABASE_URL: url },
    database,
  );
  afterwards(t, service.close);
  const app = await service.addApp();
  for (const user of ['early', 'running', 'later']) await service.fund(app, user, RICH);
  const gate = createGate();
  const write = completionBody({ model: 'large-upstream', usage: USAGE, content: 'Hi.' });
  const headers = { 'content-type': 'application/json' };
  upstream.script(() => ({ headers, body: [{ write }] }));
  const call = (user: string) => chat({ url: service.url, key: app.liveKey, user });
  const isAnswered = async (user: string): Promise<boolean> => (await call(user)).status === 200;
  assert.equal((await call('early')).status, 200);
  upstream.script(() => ({ headers, body: [{ waitFor: gate.opened }, { write }] }));
  const streaming = async () => (await scrape(service.url)).get('purser_database_standbys_streaming');
  assert.equal(await streaming(), 1);
  const running = call('running');
  await upstream.arrival(1);
  upstream.script(() => ({ headers, body: [{ write }] }));

  const patient = createPool({ url, role: 'live', connectionsMax: 1, log, statementMsMax: 600_000 });
  afterwards(t, () => patient.end());
  const stuck = assert.rejects(patient.query('select pg_sleep(600)'), /Connection terminated/);
  await waitUntil('it runs', async () => {
    const { rowCount } = await database.owner.query(`select from pg_stat_activity where query like '%pg_sleep(600)'`);
    return rowCount === 1;
  });
  first.freeze();
  gate.open();
  const answer = await running;
  assert.deepEqual([answer.status, answer.headers.get('x-service-charge-micros')], [200, String(CHARGE)]);
  await second.promote();
  await waitUntil('calls are answered by the new leader', () => isAnswered('later'));

  await stuck; // Its limit is far away, and the server that had it is frozen.
  await waitUntil('no standby streams any more', async () => (await streaming()) === 0); // It is read now and then.
  await assert.rejects(refuseUnfit(fit, log), /wait for no standby.*PURSER_DATABASE_DURABILITY=disk/);

  first.thaw(); // It does not know that it was succeeded.
  await second.kill();
  const refused = await call('early');
  assert.deepEqual([refused.status, refused.error['code']], [500, 'INTERNAL_SERVER_ERROR']);
  const direct = createPool({ url: first.url, role: 'live', connectionsMax: 1, log });
  afterwards(t, () => direct.end());
  await assert.rejects(direct.query('select'), /on timeline 1, and this process has used timeline 2/);
  await second.launch();
  await waitUntil('calls are answered again', () => isAnswered('early'));

  await waitUntil('nothing is held', async () => {
    const wallets = await Promise.all(['early', 'running', 'later'].map((user) => service.wallet(app, user)));
    return wallets.every(({ held }) => held === 0);
  });
  assert.deepEqual(
    (await movementsOf(database, 'running')).map(({ kind, amount }) => [kind, amount]),
    [
      ['contract_credit', RICH],
      ['charge', CHARGE],
    ],
  );
  assert.deepEqual(await service.check(), []);
});
