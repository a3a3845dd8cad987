import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { test, type TestContext } from 'node:test';
import { findFreePort } from '../../../packages/service/src/embedded/server/free-port.ts';
import { checkLedger } from '../../../packages/service/src/ledger/check/check.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { createTestDatabase } from '../../support/database.ts';
import { afterwards, isLinux, makeOpenDirectory, runs } from '../../support/embedded-harness.ts';
import { createGate } from '../../support/gate.ts';
import { type OpenChat, openChat } from '../../support/open-chat.ts';
import { completionBody, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { descendantsOf, readDemo, runToEnd, startServiceProcess, untilGone } from '../../support/service-process.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

const WORKERS = 2;
const CALLS = 8;
const MORE_MAX = 64;
/** A short lease; crash.test.ts runs with the real one. */
const LEASE_SECONDS = 3;
const RELEASE_MS_MAX = 30_000;
const START_MS_MAX = 60_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
const BODY = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });

/** Two workers with calls that the provider answers when the gate opens. */
async function arrange(t: TestContext) {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const database = await createTestDatabase();
  afterwards(t, database.close);
  const dataDirectory = makeOpenDirectory(t);
  const gate = createGate();
  const write = completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE });
  const headers = { 'content-type': 'application/json' };
  upstream.script({ headers, body: [{ waitFor: gate.opened }, { write }] });
  const options = {
    dataDirectory,
    catalogue: catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 }),
    databaseUrl: database.url,
    workers: WORKERS,
    leaseSeconds: LEASE_SECONDS,
  };
  const service = await startServiceProcess(options);
  afterwards(t, service.stop);
  const { liveKey: key, userId: user } = readDemo(dataDirectory);
  const call = (url = service.url): OpenChat => {
    const chat = openChat({ url, key, user, body: BODY });
    chat.head.catch(() => {});
    return chat;
  };
  const calls = Array.from({ length: CALLS }, () => call());
  await upstream.arrival(CALLS - 1);
  return { upstream, database, gate, options, service, call, calls };
}

function workersOf(pid: number): readonly number[] {
  return descendantsOf(pid).filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('serve'));
}

test('WA-10 kill -9 of the first process ends all workers', {
  skip: !isLinux,
}, async (t) => {
  const { upstream, gate, options, service, call, calls } = await arrange(t);
  assert.equal(workersOf(service.pid).length, WORKERS);
  const family = descendantsOf(service.pid);
  assert.equal(family.length, WORKERS + 1);
  await service.kill();
  await untilGone(family);
  await Promise.all(calls.map(({ closed }) => closed));

  const port = await findFreePort();
  const environment = { PORT: String(port) };
  const ended = runToEnd({ ...options, environment, endMsMax: START_MS_MAX }, 'serve');
  const [first = 0, , late = 0] = await waitUntil('both workers start', () => {
    const started = workersOf(process.pid);
    return started.length === WORKERS + 1 ? started : undefined;
  });
  process.kill(late, 'SIGSTOP');
  const url = `http://127.0.0.1:${port}`;
  const isReady = async () => (await fetch(`${url}/readyz`).catch(() => undefined))?.ok === true;
  await waitUntil('one worker takes calls', isReady, START_MS_MAX);
  const running = call(url);
  await upstream.arrival(CALLS);
  process.kill(first, 'SIGTERM');
  await waitUntil('nobody waits for the late one', () => !runs(late));
  gate.open();
  assert.equal((await running.head).statusCode, 200);
  await running.closed;
  const { status, said } = await ended;
  assert.equal(status, 0, said);
});

test('WA-10 kill -9 of one worker makes only its calls free', {
  skip: !isLinux,
}, async (t) => {
  const { upstream, database, gate, service, call, calls } = await arrange(t);
  const holds = () => sql<{ holds: number }>(database)`select count(*)::int as holds from ledger.holds
    group by instance_id`;
  // Each worker accepts for itself, so one may have all of the first calls.
  for (let more = 0; more < MORE_MAX && (await holds()).length < WORKERS; more += 1) {
    calls.push(call());
    await upstream.arrival(calls.length - 1);
  }
  const rows = await holds();
  assert.equal(rows.length, WORKERS); // Both workers serve calls.
  const before = workersOf(service.pid);
  process.kill(before[0] ?? 0, 'SIGKILL');
  await waitUntil('the provider has lost that worker’s calls', () => {
    const cut = upstream.requests.filter(({ aborted }) => aborted).length;
    return rows.some(({ holds }) => holds === cut);
  });
  gate.open();
  await Promise.all(calls.map(({ closed }) => closed));
  const answered = (await Promise.allSettled(calls.map(({ head }) => head))).filter(
    ({ status }) => status === 'fulfilled',
  ).length;
  assert.ok(answered > 0 && answered < calls.length, `${answered} calls were answered`);

  await waitUntil('the worker is replaced', () => workersOf(service.pid).length === WORKERS);
  const more = Array.from({ length: CALLS }, () => call());
  assert.deepEqual(
    new Set((await Promise.all(more.map(({ head }) => head))).map((head) => head.statusCode)),
    new Set([200]),
  );
  await Promise.all(more.map(({ closed }) => closed));
  await waitUntil(
    'the holds of the dead worker are released',
    async () => (await database.owner.query('select from ledger.holds')).rowCount === 0,
    RELEASE_MS_MAX,
  );
  const receipts = await sql<{ outcome: string; calls: number; charged: number }>(database)`
    select outcome, count(*)::int as calls, sum(charged_micros)::float8 as charged
    from usage.calls group by outcome order by outcome`;
  assert.deepEqual(receipts, [
    { outcome: 'answered', calls: answered + CALLS, charged: (answered + CALLS) * CHARGE },
    { outcome: 'expired', calls: calls.length - answered, charged: 0 },
  ]);
  assert.deepEqual((await checkLedger(database.owner)).differences, []);
  assert.equal(upstream.requests.length, calls.length + CALLS);
});

test('OP-15 nobody waits for a worker that died before it answered', {
  skip: !isLinux,
}, async (t) => {
  const { gate, service, calls } = await arrange(t);
  gate.open();
  await Promise.all(calls.map(({ closed }) => closed));
  const [dying = 0] = workersOf(service.pid);
  process.kill(dying, 'SIGSTOP'); // As in the moment before it dies, it takes nothing that is meant for it.
  const ends: string[] = [];
  const ask = (): void => {
    const asked = get(`${service.url}/healthz`, { agent: false });
    asked.on('response', (answer) => answer.resume().on('end', () => ends.push('answered')));
    asked.on('error', () => ends.push('reset'));
  };
  for (let asked = 0; asked < CALLS; asked += 1) ask();
  await waitUntil('all are answered but what the first process may have handed over', () => ends.length >= CALLS - 1);
  process.kill(dying, 'SIGKILL');
  await waitUntil('nobody waits any more', () => ends.length === CALLS);
});
