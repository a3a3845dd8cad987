import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { checkLedger } from '../../../packages/service/src/ledger/check/check.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { COMPLETIONS, type Reply, send } from '../../support/client.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { afterwards, makeOpenDirectory } from '../../support/embedded-harness.ts';
import { openChat } from '../../support/open-chat.ts';
import { receiptNamed, receiptOf } from '../../support/receipts.ts';
import { completionBody, startScriptedUpstream, streamSteps } from '../../support/scripted-upstream.ts';
import { readDemo, type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { sqlRow } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** WA-10: a lease lasts 15 s, and the holds of a dead process are released within 30 s. */
const RELEASE_MS_MAX = 30_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const FACTS = { model: 'large-upstream', usage: USAGE };

async function arrange(t: TestContext) {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const database = await createTestDatabase();
  afterwards(t, database.close);
  const dataDirectory = makeOpenDirectory(t);
  const catalogue = catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 });
  const start = async (): Promise<ServiceProcess> => {
    const service = await startServiceProcess({ dataDirectory, catalogue, databaseUrl: database.url });
    afterwards(t, service.stop);
    return service;
  };
  return { upstream, database, dataDirectory, start };
}

interface Figures {
  readonly balance: number;
  readonly held: number;
  readonly streams: number;
  readonly holds: number;
}

async function readFigures({ owner }: TestDatabase): Promise<Figures | undefined> {
  return sqlRow<Figures>(owner)`
    select balance_micros::float8 as balance, held_micros::float8 as held, open_streams as streams,
      (select count(*) from ledger.holds)::int as holds
    from ledger.wallets`;
}

function bodyOf(isStream: boolean): string {
  return JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: isStream });
}

test('WA-10 kill -9 releases the holds within 30 s', async (t) => {
  const { upstream, database, dataDirectory, start } = await arrange(t);
  const killed = await start();
  const { liveKey: key, userId: user } = readDemo(dataDirectory);
  const untouched = (await readFigures(database))?.balance ?? 0;
  const steps = streamSteps({ ...FACTS, pieces: ['A begun', ' answer'], includeUsageChunk: true });
  upstream.script(({ body }) => {
    const isStream = (body as { stream?: boolean }).stream === true;
    return { body: isStream ? [...steps.slice(0, 3), { hang: true }] : [{ hang: true }] };
  });
  const streamed = openChat({ url: killed.url, key, user, body: bodyOf(true), correlationId: 'streamed' });
  const plain = openChat({ url: killed.url, key, user, body: bodyOf(false), correlationId: 'plain' });
  plain.head.catch(() => {});
  await streamed.read('answer');
  await upstream.arrival(1);
  const { streams, holds } = (await readFigures(database)) ?? {};
  assert.deepEqual({ streams, holds }, { streams: 1, holds: 2 });

  const heir = await start(); // Before the kill: how long a start takes is no part of the thirty seconds.
  await killed.kill();
  const killedAt = Date.now();
  await Promise.all([streamed.closed, plain.closed]);
  assert.ok(!streamed.text().includes('[DONE]'));
  upstream.script({ body: completionBody({ ...FACTS, content: 'Hi.' }) });
  const next = await send(COMPLETIONS, { url: heir.url, key, user, body: bodyOf(false) });
  assert.equal(next.status, 200, next.text); // The other process serves before the dead one's holds are released.

  const isFreed = async () => ((await readFigures(database))?.holds ?? 1) === 0;
  await waitUntil('the holds are released', isFreed, RELEASE_MS_MAX - (Date.now() - killedAt));
  const freed = { balance: untouched - CHARGE, held: 0, streams: 0, holds: 0 };
  assert.deepEqual(await readFigures(database), freed);
  const { rows } = await database.owner.query(`select charged_micros from usage.calls where outcome = 'expired'`);
  assert.deepEqual(rows, [{ charged_micros: 0n }, { charged_micros: 0n }]);
  assert.equal(await receiptNamed(database, 'streamed'), undefined); // Only the dead process knew the name.
  assert.deepEqual((await checkLedger(database.owner)).differences, []);
});

test('WA-07 kill -9 under load keeps every told charge', async (t) => {
  const { upstream, database, dataDirectory, start } = await arrange(t);
  const killed = await start();
  const { liveKey: key, userId: user } = readDemo(dataDirectory);
  const before = (await readFigures(database))?.balance ?? 0;
  upstream.script({ body: completionBody({ ...FACTS, content: 'Hi.' }) });
  const answered: Reply[] = [];
  const callers = Array.from({ length: 16 }, async () => {
    for (;;) {
      const reply = await send(COMPLETIONS, { url: killed.url, key, user, body: bodyOf(false) }).catch(() => undefined);
      if (reply === undefined) return; // The connection was cut.
      answered.push(reply);
    }
  });
  await waitUntil('two hundred calls are answered', () => answered.length >= 200);
  await killed.kill();
  await Promise.all(callers);

  assert.deepEqual(new Set(answered.map(({ status }) => status)), new Set([200]));
  for (const { headers } of answered) {
    const receipt = await receiptOf(database, headers.get('x-service-call-id') ?? '');
    assert.deepEqual([receipt?.outcome, receipt?.charged], ['answered', CHARGE]);
  }
  const { rows } = await database.owner.query<{ charges: number }>(
    `select count(*)::int as charges from ledger.entries where kind = 'charge' and amount_micros = $1`,
    [CHARGE],
  );
  const charges = rows[0]?.charges ?? 0;
  // Of the sixteen running calls, some were charged although their answers never got out.
  assert.ok(charges >= answered.length && charges <= answered.length + 16, `${charges} of ${answered.length}`);
  assert.equal((await readFigures(database))?.balance, before - charges * CHARGE);
  assert.deepEqual((await checkLedger(database.owner)).differences, []);
});
