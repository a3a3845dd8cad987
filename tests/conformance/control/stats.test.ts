import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chat } from '../../support/client.ts';
import { newOperator, newOwnApp, newOwner } from '../../support/control.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Sums of an app's calls, as its owner reads them: live charges from receipts, everything else as it was counted. */

const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const ANSWER = { body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) };
const STREAM = {
  headers: { 'content-type': 'text/event-stream' },
  body: streamSteps({ model: 'm', pieces: ['Hi', '.'], usage: USAGE, includeUsageChunk: true })
    .map(({ write }) => write)
    .join(''),
};

const { upstream, service } = await setStage();
const owner = await newOwner(service);
const app = await newOwnApp(owner);
await service.fund(app, 'anna', 10_000_000);

interface Sums {
  readonly calls: number;
  readonly chargedCalls: number;
  readonly refusals: number;
  readonly providerErrors: number;
  readonly chargedMicros: number;
  readonly promptTokens: number;
  readonly firstByte: { readonly count: number; readonly p50Ms: number | null };
  readonly total: { readonly count: number; readonly p50Ms: number | null };
}

interface AppStats {
  readonly totals: Sums;
  readonly series: readonly (Sums & { readonly at: string })[];
  readonly models: readonly (Sums & { readonly model: string | null })[];
  readonly outcomes: readonly object[];
  readonly keys: readonly { readonly calls: number; readonly chargedCalls: number; readonly chargedMicros: number }[];
}

async function statsOf(query = ''): Promise<AppStats> {
  return (await owner.get(200, 'GET', `/apps/${app.appId}/stats?${query}`)) as unknown as AppStats;
}

/** A moment so many days from now. */
function at(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}

async function call(key: string, fields: Readonly<Record<string, unknown>> = {}, user = 'anna'): Promise<number> {
  return Number((await chat({ url: service.url, key, user }, fields)).headers.get('x-service-charge-micros') ?? 0);
}

test('CP-04 an owner reads charge, refusal, error and latency sums by mode', async () => {
  upstream.script(ANSWER);
  const charge = (await call(app.liveKey)) + (await call(app.liveKey));
  upstream.script(STREAM);
  await call(app.liveKey, { stream: true });
  upstream.script({ status: 500, body: '{}' });
  await call(app.liveKey);
  await call(app.liveKey, {}, 'a-stranger');
  await call(app.liveKey, { temperature: 'hot' });
  const play = await call(app.testKey);
  const { totals, series, models, outcomes, keys } = await waitUntil('all calls are in the sums', async () => {
    const stats = await statsOf();
    return stats.totals.chargedCalls === 3 && stats.totals.calls === 6 && stats;
  });
  const rows = await sql<{ charged: number; prompt: number }>(service)`
    select sum(charged_micros)::float8 as charged, sum(prompt_tokens)::float8 as prompt
    from usage.calls join ledger.wallets using (wallet_id) where app_id = ${app.appId}`;
  assert.ok(charge > 0);
  assert.deepEqual([totals.chargedMicros, totals.promptTokens], [rows[0]?.charged, rows[0]?.prompt]);
  assert.deepEqual([totals.refusals, totals.providerErrors], [2, 1]);
  assert.deepEqual([totals.total.count, totals.firstByte.count], [3, 1]);
  assert.ok((totals.total.p50Ms ?? 0) > 0 && (totals.firstByte.p50Ms ?? 0) > 0);
  assert.equal(series.length, 25);
  assert.equal(
    series.reduce((sum, { calls }) => sum + calls, 0),
    6,
  );
  assert.deepEqual(
    models.map(({ model, calls }) => [model, calls]),
    [
      ['acme.large-1', 5],
      [null, 1],
    ],
  );
  assert.deepEqual(outcomes, [
    { outcome: 'charged', kind: 'served', calls: 3 },
    ...['BAD_REQUEST', 'PAYMENT_REQUIRED'].map((outcome) => ({ outcome, kind: 'refused', calls: 1 })),
    { outcome: 'UPSTREAM_PROVIDER_ERROR', kind: 'provider-error', calls: 1 },
  ]);
  assert.deepEqual(
    keys.map((key) => [key.calls, key.chargedCalls, key.chargedMicros]),
    [[6, 3, totals.chargedMicros]],
  );
  const sandbox = await waitUntil('the call of the sandbox is in its sums', async () => {
    const stats = await statsOf('mode=sandbox&step=day');
    return stats.totals.calls > 0 && stats;
  });
  assert.deepEqual([sandbox.totals.calls, sandbox.totals.chargedMicros, sandbox.series.length], [1, play, 31]);
});

test('CP-04 a time that cannot be shown is refused with advice', async () => {
  for (const [query, param] of [
    [`from=${at(-32)}`, 'from'],
    [`from=${at(-401)}&step=day`, 'from'],
    [`from=${at(-90)}&to=${at(-80)}`, 'step'],
    [`from=${at(1)}`, 'from'],
    ['from=yesterday', 'from'],
    ['mode=test', 'mode'],
    ['step=minute', 'step'],
    ['colour=red', 'colour'],
  ] as const) {
    const reply = await owner.ask('GET', `/apps/${app.appId}/stats?${query}`);
    assertRefusal(reply, { code: 'BAD_REQUEST', param, hasLink: false }, query);
  }
  assert.equal((await statsOf(`from=${at(-400)}&step=day`)).series.length, 401);
});

test('CP-10 only operators read provider costs beside user charges', async () => {
  const operator = await newOperator(service, 'viewer');
  const path = `/operator/stats?appId=${app.appId}`;
  interface Costed extends Sums {
    readonly costMicros: number;
    readonly uncostedMicros: number;
  }
  const { totals, apps, models } = (await operator.get(200, 'GET', path)) as unknown as {
    totals: Costed;
    apps: readonly (Costed & { appId: string })[];
    models: readonly Costed[];
  };
  assert.ok(totals.chargedMicros > 0 && totals.costMicros > 0 && totals.costMicros < totals.chargedMicros);
  assert.equal(totals.uncostedMicros, 0);
  assert.deepEqual(
    apps.map(({ appId, costMicros }) => [appId, costMicros]),
    [[app.appId, totals.costMicros]],
  );
  assert.equal(
    models.reduce((sum, { costMicros }) => sum + costMicros, 0),
    totals.costMicros,
  );
  const all = (await operator.get(200, 'GET', '/operator/stats')) as unknown as { totals: Costed };
  assert.ok(all.totals.chargedMicros >= totals.chargedMicros);
  assert.ok(!JSON.stringify(await statsOf()).includes('ostMicros'), 'an owner reads no cost');

  // Sums from before costs were counted: the cost is not known, and is not taken for 0.
  await sql(service)`update stats.hours set cost_micros = null where app_id = ${app.appId}`;
  const unknown = (await operator.get(200, 'GET', path)) as unknown as { totals: Costed };
  assert.deepEqual([unknown.totals.costMicros, unknown.totals.uncostedMicros], [0, totals.chargedMicros]);
});
