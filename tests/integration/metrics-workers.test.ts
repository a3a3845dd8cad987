import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { createTestDatabase } from '../support/database.ts';
import { afterwards, isLinux, makeOpenDirectory } from '../support/embedded-harness.ts';
import { httpSend } from '../support/http-request.ts';
import { completionBody, startScriptedUpstream } from '../support/scripted-upstream.ts';
import { descendantsOf, readDemo, startServiceProcess } from '../support/service-process.ts';
import { waitUntil } from '../support/wait-until.ts';

const WORKERS = 2;
const CALLS = 12;
const SCRAPES = 8;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };

test('WA-09 with two workers, every scrape shows the sums of both, even if one is stopped or has died', {
  skip: !isLinux,
}, async (t) => {
  const upstream = await startScriptedUpstream();
  afterwards(t, upstream.close);
  const database = await createTestDatabase();
  afterwards(t, database.close);
  const dataDirectory = makeOpenDirectory(t);
  const write = completionBody({ model: 'large-upstream', content: 'Hi.', usage: USAGE });
  upstream.script({ headers: { 'content-type': 'application/json' }, body: [{ write }] });
  const catalogue = catalogueAt(upstream.baseUrl);
  const service = await startServiceProcess({ dataDirectory, catalogue, databaseUrl: database.url, workers: WORKERS });
  afterwards(t, service.stop);
  const workers = descendantsOf(service.pid).filter((pid) => isWorker(pid));
  assert.equal(workers.length, WORKERS);
  const { liveKey, userId } = readDemo(dataDirectory);
  const headers = { authorization: `Bearer ${liveKey}`, 'x-service-user': userId, 'content-type': 'application/json' };
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
  for (let call = 0; call < CALLS; call += 1) {
    // On a separate connection, so that both workers get some.
    const reply = await httpSend(service.url, { method: 'POST', path: '/v1/chat/completions', headers, body });
    assert.equal(reply.status, 200);
  }

  async function expectSums(when: string, processes: number): Promise<void> {
    const { text } = await httpSend(service.url, { method: 'GET', path: '/metrics' });
    assert.match(text, new RegExp(`^purser_calls_total{mode="live",outcome="answered"} ${CALLS}$`, 'm'), when);
    assert.match(text, new RegExp(`^purser_processes ${processes}$`, 'm'), when);
  }

  for (let count = 0; count < SCRAPES; count += 1) await expectSums('both run', WORKERS);

  const [first = 0] = workers;
  process.kill(first, 'SIGSTOP');
  try {
    // The first process hands connections to the workers in turn: one of two goes to the running worker, and only that
    // one is answered.
    await Promise.race([expectSums('one is stopped', WORKERS), expectSums('one is stopped', WORKERS)]);
  } finally {
    process.kill(first, 'SIGCONT');
  }

  process.kill(first, 'SIGKILL');
  await waitUntil('the worker is replaced', async () => {
    const { text } = await httpSend(service.url, { method: 'GET', path: '/metrics' }).catch(() => ({ text: '' }));
    const isWhole = descendantsOf(service.pid).filter((pid) => isWorker(pid) && pid !== first).length === WORKERS;
    return isWhole && text.includes(`purser_processes ${WORKERS}\n`);
  });
  await expectSums('one was replaced', WORKERS);
});

function isWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serve');
  } catch {
    return false; // It has ended since the table was read.
  }
}
