import assert from 'node:assert/strict';
import os from 'node:os';
import { after, test } from 'node:test';
import { ERROR_STATUS } from '../../packages/contract/src/errors.ts';
import { FINDING_KINDS } from '../../packages/contract/src/operator-overview.ts';
import { VERSION } from '../../packages/service/src/db/schema/functions.ts';
import { readBuild } from '../../packages/service/src/kernel/build.ts';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { chat, httpSend, send } from '../support/client.ts';
import { added, scrape } from '../support/metrics.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { startTestService } from '../support/service.ts';
import { setStage } from '../support/stage.ts';

const CANARY = 'canary7Qx';
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const TOKEN = 'metrics-token-of-these-tests';

const { upstream, service, app, callAs } = await setStage();
const guarded = await startTestService(catalogueAt(upstream.baseUrl), { PURSER_METRICS_TOKEN: TOKEN });
after(() => guarded.close());

function scriptAnswer(usage: object = USAGE, content = `${CANARY} says`): void {
  upstream.script({
    headers: { 'content-type': 'application/json' },
    body: [{ write: completionBody({ model: 'large-upstream', content, usage }) }],
  });
}

const ANSWERED = 'outcome="answered",mode="live"';

test('OP-05 call times are counted by model, provider, outcome and mode', async () => {
  await service.fund(app, 'timed', 1_000_000);
  const call = { url: service.url, key: app.liveKey, user: 'timed' };
  scriptAnswer();
  const earlier = await scrape(service.url);
  await chat(call);
  await chat({ ...call, key: app.testKey });
  await chat(call, { model: `${CANARY}-made-up` });
  await chat({ ...call, key: 'nobody' });
  upstream.script({ status: 500, body: [] });
  await chat(call);
  const counted = Object.entries(added(earlier, await scrape(service.url)));
  const counts = Object.fromEntries(counted.filter(([name]) => /^purser_(call|hold|settle)_.*_count/.test(name)));
  const answered = `{model="acme.large-1",provider="upstream",${ANSWERED}}`;
  const played = '{model="acme.large-1",provider="none",outcome="answered",mode="sandbox"}';
  const failed = '{model="acme.large-1",provider="upstream",outcome="failed",mode="live"}';
  const ledger = Object.fromEntries(
    [answered, played, failed].flatMap((labels) => [
      [`purser_hold_seconds_count${labels}`, 1],
      [`purser_settle_seconds_count${labels}`, 1],
      [`purser_call_seconds_count${labels}`, 1],
    ]),
  );
  assert.deepEqual(counts, {
    ...ledger,
    'purser_call_seconds_count{model="other",provider="none",outcome="refused",mode="live"}': 1,
    'purser_call_seconds_count{model="other",provider="none",outcome="refused",mode="none"}': 1,
  });
});

test('OP-05 a scrape shows queues, cases, held money and resources', async () => {
  const now = await scrape(service.url);
  const least: Readonly<Record<string, number>> = {
    purser_database_up: 1,
    purser_gateways: 1,
    purser_lease_shortest_seconds: 1,
    purser_disk_free_bytes: 1,
    purser_database_size_bytes: 1,
    purser_database_connections: 1,
    purser_database_standbys_wanted: 0,
    purser_database_standbys_streaming: 0,
    'purser_database_pool_connections_max{pool="calls"}': 1,
    'purser_database_wait_seconds_count{pool="calls"}': 1,
    purser_held_micros: 0,
    'purser_findings{kind="payments-kept"}': 0,
    'purser_queue_length{queue="deliveries"}': 0,
    'purser_queue_oldest_seconds{queue="mail"}': 0,
  };
  for (const [name, value] of Object.entries(least))
    assert.ok((now.get(name) ?? -1) >= value, `${name} ${now.get(name)}`);
  // A server has few connections for many processes. A channel, and those for upkeep that one process does for all, come on top.
  const most = [...now].filter(([name]) =>
    /^purser_database_pool_connections_max\{pool="(?!calls|check|stats)/.test(name),
  );
  const all = most.reduce((sum, [, connections]) => sum + connections, 0);
  const processes = now.get('purser_database_pool_connections_max{pool="calls"}') ?? 0; // Services of this test share one process.
  assert.equal(all / processes, 10);
});

/** How much an action adds to the counters about calls. */
async function addedBy(act: () => Promise<unknown>): Promise<Readonly<Record<string, number>>> {
  const earlier = await scrape(service.url);
  await act();
  const counted = Object.entries(added(earlier, await scrape(service.url)));
  return Object.fromEntries(
    counted.filter(([name]) => /^purser_(calls_total|charged|provider_cost|refusals|overrun|usage|outputs)/.test(name)),
  );
}

test('OP-05 calls, charges and overruns are counted by mode and outcome', async () => {
  await service.fund(app, 'counted', 1_000_000);
  const call = { url: service.url, key: app.liveKey, user: 'counted' };
  scriptAnswer();
  const live = 'mode="live"';
  assert.deepEqual(await addedBy(() => chat(call)), {
    [`purser_calls_total{${live},outcome="answered"}`]: 1,
    [`purser_charged_micros_total{${live}}`]: chargeFor({ prompt: 40, completion: 20 }),
    purser_provider_cost_micros_total: 40 + 20 * 4, // Without the margin of a tenth.
  });
  const sandbox = await addedBy(() => chat({ ...call, key: app.testKey }));
  assert.equal(sandbox['purser_calls_total{mode="sandbox",outcome="answered"}'], 1);
  upstream.script({ status: 500, body: [] });
  assert.deepEqual(await addedBy(() => chat(call)), {
    [`purser_calls_total{${live},outcome="failed"}`]: 1,
    'purser_refusals_total{code="UPSTREAM_PROVIDER_ERROR"}': 1,
  });
  scriptAnswer({ prompt_tokens: 40, completion_tokens: 100_000, total_tokens: 100_040 });
  const beyond = await addedBy(() => chat(call));
  assert.equal(beyond['purser_overruns_total'], 1);
  const charged = beyond[`purser_charged_micros_total{${live}}`] ?? 0;
  const billed = chargeFor({ prompt: 40, completion: 100_000 });
  assert.equal(beyond['purser_overrun_micros_total'], billed - charged);
  assert.equal(beyond['purser_provider_cost_micros_total'], 40 + 100_000 * 4, 'also what the hold did not cover');
});

async function refused(status: number, act: () => Promise<{ status: number }>): Promise<void> {
  assert.equal((await act()).status, status);
}

test('OP-05 refusals are counted by code, including the HTTP parser’s', async () => {
  assert.deepEqual(await addedBy(() => refused(401, () => chat({ url: service.url, key: 'nobody', user: 'u' }))), {
    'purser_refusals_total{code="UNAUTHORIZED"}': 1,
  });
  assert.deepEqual(await addedBy(() => refused(404, () => send('/nowhere', { url: service.url }))), {
    'purser_refusals_total{code="NOT_FOUND"}': 1,
  });
  const poor = { url: service.url, key: app.liveKey, user: 'poor' };
  assert.deepEqual(await addedBy(() => refused(402, () => chat(poor))), {
    'purser_refusals_total{code="PAYMENT_REQUIRED"}': 1,
  });
  const malformed = { method: 'GET', path: '/healthz', headers: { long: 'x'.repeat(20_000) } };
  assert.deepEqual(await addedBy(() => refused(400, () => httpSend(service.url, malformed))), {
    'purser_refusals_total{code="BAD_REQUEST"}': 1,
  });
});

test('OP-05 contradictory usage reports are counted', async () => {
  await service.fund(app, 'clamped', 1_000_000);
  scriptAnswer({ prompt_tokens: 40, completion_tokens: 20, total_tokens: 7 });
  const counted = await addedBy(() => callAs('clamped'));
  assert.equal(counted['purser_usage_clamped_total'], 1);
  assert.equal(counted['purser_outputs_cut_total'], undefined);
});

test('OP-05 answers past their limit are counted', async () => {
  await service.fund(app, 'past', 1_000_000);
  scriptAnswer({ ...USAGE, total_tokens: 1 }, 'x'.repeat(500_000));
  const counted = await addedBy(() => callAs('past'));
  assert.equal(counted['purser_outputs_cut_total'], 1);
});

const LABELS: Readonly<Record<string, readonly string[]>> = {
  mode: ['live', 'sandbox', 'none'],
  outcome: ['answered', 'abandoned', 'failed', 'refused', 'replayed', 'throttled', 'other', 'overflowed'],
  result: [
    'clean',
    'done',
    'differences',
    'failed',
    'accepted',
    'taken',
    'refused',
    'delivered',
    'dropped',
    'disabled',
    'given_up',
    'not_ours',
  ],
  state: ['credited', 'kept', 'busy', 'idle'],
  model: ['acme.large-1', 'large-upstream', 'secret-upstream', 'other'],
  queue: ['deliveries', 'mail', 'audit'],
  pool: ['calls', 'rates', 'sandbox', 'reads', 'upkeep', 'planes', 'reports', 'deliveries', 'check', 'stats'],
  code: Object.keys(ERROR_STATUS),
  provider: ['upstream', 'none'],
  kind: [
    ...FINDING_KINDS,
    'credited',
    'kept',
    'refunded',
    'clawed_back',
    'reinstated',
    'throttled',
    'too-long',
    'rejected',
    'unauthorized',
    'refused',
    'timeout',
    'outage',
    'malformed',
    'too-large',
    'cut',
  ],
};

test('OP-05 ER-03 metric labels have only values from fixed lists', async () => {
  const user = `${CANARY}-user`;
  await service.fund(app, user, 1_000_000);
  scriptAnswer();
  const headers = { 'x-correlation-id': `${CANARY}-correlation` };
  const content = `${CANARY} asks`;
  const reply = await callAs(user, { messages: [{ role: 'user', content }] }, { headers });
  assert.equal(reply.status, 200);
  await chat({ url: service.url, key: `svc_live_${CANARY}`, user, headers });
  await callAs(user, { model: CANARY }, { headers });
  await send(`/${CANARY}`, { url: service.url, headers });
  const { text } = await send('/metrics', { url: service.url });
  for (const secret of [CANARY, app.appId, app.liveKey.slice(9), app.testKey.slice(9), 'purser.test']) {
    assert.ok(!text.includes(secret), secret);
  }
  const pairs = [...text.matchAll(/(\w+)="([^"]*)"/g)];
  assert.ok(pairs.length > 20);
  assert.match(text, /purser_provider_failures_total\{provider="upstream",kind="outage"\}/);
  const { commit = '', date = '' } = readBuild() ?? {};
  const labels: typeof LABELS = { ...LABELS, version: [VERSION], commit: [commit], date: [date] };
  assert.match(text, /^purser_build_info\{version=/m);
  for (const [pair, label = '', value = ''] of pairs) {
    assert.ok(label === 'le' ? value === '+Inf' || Number(value) > 0 : labels[label]?.includes(value), pair);
  }
});

test('OP-05 with a token set, only its bearer reads the metrics', async () => {
  await scrape(guarded.url, { authorization: `Bearer ${TOKEN}` });
  await scrape(guarded.url, { authorization: `bearer ${TOKEN}`, 'x-forwarded-for': '203.0.113.9' });
  const wrong = ['', 'Bearer', `Bearer ${TOKEN}x`, `Bearer ${TOKEN.slice(1)}`, `Basic ${TOKEN}`, TOKEN];
  for (const authorization of wrong) {
    const headers = authorization === '' ? {} : { authorization };
    const reply = await send('/metrics', { url: guarded.url, headers });
    assert.equal(reply.status, 401, authorization);
    assert.equal(reply.error['code'], 'UNAUTHORIZED');
    assert.ok(!reply.text.includes('purser_'));
  }
});

test('OP-05 without a token, a proxied request finds nothing', async () => {
  await scrape(service.url);
  for (const header of ['x-forwarded-for', 'forwarded', 'x-real-ip', 'X-Forwarded-For']) {
    const reply = await send('/metrics', { url: service.url, headers: { [header]: '127.0.0.1' } });
    assert.equal(reply.status, 404, header);
    const elsewhere = await send('/nowhere', { url: service.url });
    assert.equal(reply.error['message'], elsewhere.error['message']);
  }
});

const own = Object.values(os.networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ internal, family }) => {
    return !internal && family === 'IPv4';
  });

test('OP-05 without a token, another machine finds nothing', {
  skip: own === undefined && 'this machine has no address but loopback',
}, async () => {
  const open = await startTestService(catalogueAt(upstream.baseUrl), {
    HOST: '0.0.0.0',
    PURSER_ALLOW_PUBLIC_DEVELOPMENT: '1',
  });
  try {
    const { port } = new URL(open.url);
    assert.equal((await send('/metrics', { url: `http://${own?.address}:${port}` })).status, 404);
    assert.equal((await send('/healthz', { url: `http://${own?.address}:${port}` })).status, 200);
    await scrape(`http://127.0.0.1:${port}`);
  } finally {
    await open.close();
  }
});

test('OP-05 metrics can be read but not written', async () => {
  assert.equal((await send('/metrics', { url: service.url, method: 'POST', body: {} })).status, 405);
  const head = await send('/metrics', { url: service.url, method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
});
