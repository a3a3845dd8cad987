import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { catalogueAt } from '../../support/catalogue.ts';
import { createTestDatabase } from '../../support/database.ts';
import { afterwards, isLinux, makeOpenDirectory } from '../../support/embedded-harness.ts';
import { httpSend } from '../../support/client.ts';
import { type Metric, metricsIn, type OtlpReceiver, startOtlpReceiver, valuesOf } from '../../support/otlp-receiver.ts';
import { completionBody, startScriptedUpstream } from '../../support/scripted-upstream.ts';
import { descendantsOf, readDemo, startServiceProcess } from '../../support/service-process.ts';
import { waitUntil } from '../../support/wait-until.ts';

const WORKERS = 2;
const CALLS = 12;
const SCRAPES = 8;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };

test('OP-05 OP-07 every scrape shows both workers’ sums', {
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
  const collector = await startOtlpReceiver();
  afterwards(t, collector.close);
  const environment = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_METRIC_EXPORT_INTERVAL: '200',
    OTEL_BSP_SCHEDULE_DELAY: '50',
  };
  const ground = { dataDirectory, catalogue, databaseUrl: database.url, workers: WORKERS };
  const service = await startServiceProcess({ ...ground, environment });
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
  assert.equal((await exporters(collector, 0)).size, 1, 'one process exports the metrics of all');
  await waitUntil('the calls of both are exported', () => {
    return new Set(collector.spans().map(({ resource }) => resource[INSTANCE])).size === WORKERS;
  });

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
  await exporters(collector, collector.requests.length);
});

function isWorker(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('serve');
  } catch {
    return false; // It has ended since the table was read.
  }
}

const INSTANCE = 'service.instance.id';

function isOfBoth({ name, gauge }: Metric): boolean {
  return name === 'purser_processes' && gauge?.dataPoints?.[0]?.asDouble === WORKERS;
}

/** Waits for an export of the sums of both. Returns which processes have exported metrics so far. `after`: so many requests. */
async function exporters({ requests }: OtlpReceiver, after: number): Promise<ReadonlySet<unknown>> {
  await waitUntil('the sums of both are exported', () =>
    requests.slice(after).some(({ message }) => metricsIn(message).some(isOfBoth)),
  );
  const exported = requests.flatMap(({ message }) => message.resourceMetrics ?? []);
  return new Set(exported.map(({ resource }) => valuesOf(resource.attributes)[INSTANCE]));
}
