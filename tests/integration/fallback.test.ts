import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { hasLeft } from '../support/callers-gone.ts';
import type { CalledWire } from '../support/called-wire.ts';
import { chat, COMPLETIONS, type Reply, send } from '../support/client.ts';
import { newOperator } from '../support/control.ts';
import { scrape } from '../support/metrics.ts';
import { openChat } from '../support/open-chat.ts';
import { assertRefusal } from '../support/refusal.ts';
import {
  completionBody,
  startScriptedUpstream,
  streamSteps,
  type UpstreamScript,
} from '../support/scripted-upstream.ts';
import { startTestService } from '../support/service.ts';
import { asVectors, catalogueOf, scriptModels, type UpstreamEntry } from '../support/several-upstreams.ts';
import { sql, sqlRow } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ALL_WIRES, ask as askBy, everyWire, isSpoken } from '../support/wires.ts';

/** A call whose first upstream fails, and what it costs at the next one (CC-16). */

const servers = { first: await startScriptedUpstream(), second: await startScriptedUpstream() };
const first = scriptModels(servers.first);
const second = scriptModels(servers.second);

const pairWith = (fields: object): readonly UpstreamEntry[] => [
  { provider: 'first', micros: 1, fields: { ...fields } },
  { provider: 'second', micros: 3 },
];
/** Each wire has a model of its own, so that none finds a breaker open. */
const modelOf = (what: string, wire: CalledWire): string => `${what}-${wire.path.replaceAll('/', '-')}`;
const NAMES = ['cut', 'bad', 'poor', 'lost', 'left', 'own', 'far', 'view'] as const;
const catalogue = catalogueOf(servers, {
  ...Object.fromEntries(NAMES.map((name) => [name, pairWith({})])),
  ...Object.fromEntries(
    ALL_WIRES.flatMap((wire) => ['throttled', 'down'].map((what) => [modelOf(what, wire), pairWith({})])),
  ),
  silent: pairWith({ firstByteMs: 100 }),
  slow: pairWith({ timeoutMs: 1_000 }),
  pooled: [{ provider: 'pool', micros: 1 }],
  file: [{ provider: 'file', micros: 1 }],
  command: [{ provider: 'command', micros: 1 }],
});
const { baseUrl } = servers.first;
const withKeys = (...apiKeys: readonly string[]) => ({ kind: 'openai-compatible', baseUrl, apiKeys });
const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-fallback-'));
const keysFile = path.join(folder, 'keys.json');
const hosts = [new URL(baseUrl).origin];
const keyFile = { file: path.join(folder, 'file'), command: path.join(folder, 'command') };
const definitions = {
  one: { env: 'KEY_ONE', hosts },
  two: { env: 'KEY_TWO', hosts },
  file: { file: keyFile.file, hosts },
  command: { command: ['/bin/cat', keyFile.command], seconds: 1, hosts },
};
writeFileSync(keysFile, JSON.stringify(definitions));
const keyed = { pool: withKeys('one', 'two'), file: withKeys('file'), command: withKeys('command') };
const models = catalogue.models.map((model) => (model.id.endsWith('embeddings') ? asVectors(model) : model));
const service = await startTestService(
  { ...catalogue, models, providers: { ...catalogue.providers, ...keyed } },
  { PURSER_PROVIDER_KEYS: keysFile, KEY_ONE: 'sk-one', KEY_TWO: 'sk-two' },
);
const app = await service.addApp();
const ownApp = await service.addApp({ isFirstParty: true });
await service.fund(app, 'anna', 1_000_000);
await service.fund(ownApp, 'anna', 1_000_000);

after(async () => {
  assert.deepEqual(await service.check(), []);
  const { held, openStreams } = await service.wallet(app, 'anna');
  assert.deepEqual({ held, openStreams }, { held: 0, openStreams: 0 });
  await service.close();
  for (const server of Object.values(servers)) await server.close();
  rmSync(folder, { recursive: true });
});

const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
const CHARGE_AT_SECOND = 45;
const PLAIN: UpstreamScript = { body: completionBody({ model: 'x', content: 'Hi.', usage: USAGE }) };
const STEPS = streamSteps({ model: 'x', pieces: ['Hi', '.'], usage: USAGE, includeUsageChunk: true });
const SILENCE: UpstreamScript = { body: [{ hang: true }] };
const throttling = (seconds: number): UpstreamScript => ({
  status: 429,
  headers: { 'content-type': 'application/json', 'retry-after': String(seconds) },
  body: '{}',
});

function ask(model: string, fields: object = {}, key = app.liveKey, user = 'anna'): Promise<Reply> {
  return chat({ url: service.url, key, user }, { model: `acme.${model}`, ...fields });
}

async function priceOf(reply: Reply) {
  return sqlRow<{ provider: string; charged: number }>(service)`select p.provider, c.charged_micros::float8 as charged
    from usage.calls c
    join catalogue.prices p on p.price_id = c.price_id where c.call_id = ${reply.headers.get('x-service-call-id')}`;
}

for (const [what, script] of [
  ['throttled', throttling(1)],
  ['down', { status: 503, body: '{}' }],
] as const) {
  everyWire.test(`CC-16 a plain call whose first upstream is ${what} is served by the next`, async (wire) => {
    const model = modelOf(what, wire);
    first.script(model, script);
    second.script(model, wire.saying('Hi.', USAGE));
    const before = (await service.wallet(app, 'anna')).balance;
    const limit = isSpoken(wire) ? { [wire.limitField]: 50 } : {};
    const options = { url: service.url, key: app.liveKey, user: 'anna' };
    const reply = await askBy(wire, options, { model: `acme.${model}`, ...limit });
    assert.equal(reply.status, 200, reply.text);
    assert.equal(reply.body['model'], `acme.${model}`);
    const { prompt, completion } = wire.paidOf({ prompt: 10, cached: 0, completion: 5 });
    const charged = (prompt + completion) * 3;
    assert.equal(reply.headers.get('x-service-charge-micros'), String(charged));
    assert.equal(reply.headers.get('x-service-upstream'), null);
    assert.deepEqual(await priceOf(reply), { provider: 'second', charged });
    assert.equal((await service.wallet(app, 'anna')).balance, before - charged);
    assert.deepEqual([first.count(model), second.count(model)], [1, 1]);
  });
}

test('CC-16 a silent upstream’s stream is served by the next', async () => {
  first.script('silent', SILENCE);
  second.script('silent', { body: STEPS });
  const before = (await service.wallet(app, 'anna')).balance;
  const reply = await ask('silent', { stream: true });
  assert.match(reply.text, /"content":"Hi".*charge-micros=45.*\[DONE\]/s);
  assert.ok(reply.text.includes('"model":"acme.silent"') && !reply.text.includes('upstream'));
  assert.equal((await service.wallet(app, 'anna')).balance, before - CHARGE_AT_SECOND);
  assert.equal(await servers.first.requests.at(-1)?.closed, undefined);
  assert.equal(servers.first.requests.at(-1)?.aborted, true);
});

test('CC-11 a stream broken after one chunk is free', async () => {
  first.script('cut', { body: [...STEPS.slice(0, 2), { destroy: true }] });
  second.script('cut', { body: STEPS });
  const before = (await service.wallet(app, 'anna')).balance;
  const reply = await ask('cut', { stream: true });
  assert.match(reply.text, /"content":"Hi".*UPSTREAM_PROVIDER_ERROR/s);
  assert.deepEqual([first.count('cut'), second.count('cut')], [1, 0]);
  assert.equal((await service.wallet(app, 'anna')).balance, before);
});

test('CC-15 a rejected call asks no other upstream', async () => {
  first.script('bad', { status: 400, body: '{}' });
  second.script('bad', PLAIN);
  for (const _ of ['once', 'again']) assert.equal((await ask('bad')).status, 502);
  assert.deepEqual([first.count('bad'), second.count('bad')], [1, 0]);
});

test('CC-16 an upstream dearer than the hold is skipped', async () => {
  first.script('poor', { status: 503, body: '{}' });
  second.script('poor', PLAIN);
  await service.fund(app, 'poor', 250); // The prompt is bounded by its bytes: enough for the first upstream, not for one at three times its price.
  const reply = await ask('poor', {}, app.liveKey, 'poor');
  assert.equal(reply.status, 502, reply.text);
  assert.deepEqual([first.count('poor'), second.count('poor')], [1, 0]);
  assert.deepEqual(await service.wallet(app, 'poor'), { balance: 250, held: 0, openStreams: 0 });
});

test('CC-16 if all upstreams fail, the shortest wait is told', async () => {
  first.script('lost', throttling(20));
  second.script('lost', throttling(7));
  const reply = await ask('lost');
  assert.deepEqual([reply.status, reply.error['code']], [429, 'UPSTREAM_THROTTLED']);
  assert.equal(reply.headers.get('retry-after'), '7');
  second.script('lost', { status: 500, body: '{}' });
  assert.deepEqual([(await ask('lost', { user: 'other' })).status, second.count('lost')], [429, 2]);
});

test('CC-16 an abandoned call asks no other upstream', async () => {
  const gate = Promise.withResolvers<void>();
  first.script('left', { status: 503, headers: {}, body: [{ waitFor: gate.promise }, { write: '{}' }] });
  second.script('left', PLAIN);
  const body = JSON.stringify({ model: 'acme.left', messages: [{ role: 'user', content: 'Hi' }] });
  await service.fund(app, 'leaver', 1_000_000);
  const open = openChat({ url: service.url, key: app.liveKey, user: 'leaver', body, correlationId: 'left' });
  await waitUntil('the first upstream is asked', () => first.count('left') === 1);
  open.leave();
  await waitUntil('the service has noticed', () => hasLeft('leaver'));
  gate.resolve();
  const [line] = await waitUntil('the call has ended', () => {
    const found = service.linesOf('left').filter(({ msg }) => msg === 'call');
    return found.length > 0 && found;
  });
  assert.deepEqual([line?.['outcome'], second.count('left')], ['failed', 0]);
});

test('CC-16 only the operator’s apps learn who served', async () => {
  first.script('own', throttling(1));
  second.script('own', PLAIN);
  const headers = { 'x-correlation-id': 'own' };
  const body = { model: 'acme.own', messages: [{ role: 'user', content: 'Hi' }] };
  const reply = await send(COMPLETIONS, { url: service.url, key: ownApp.liveKey, user: 'anna', headers, body });
  assert.equal(reply.headers.get('x-service-upstream'), 'second/own-upstream');
  const line = await waitUntil('the line is written', () => service.linesOf('own').find(({ msg }) => msg === 'call'));
  assert.deepEqual([line['upstream'], line['tries']], [{ provider: 'second', providerModel: 'own-upstream' }, 2]);
});

test('CC-16 a plain call goes on when its upstream times out', async () => {
  first.script('slow', SILENCE);
  second.script('slow', PLAIN);
  const reply = await ask('slow');
  assert.deepEqual([reply.status, (await priceOf(reply))?.provider], [200, 'second']);
});

/** The key that a call is sent with. */
async function keySentFor(model: string): Promise<string | undefined> {
  const reply = await ask(model);
  assert.equal(reply.status, 200, reply.text);
  return servers.first.requests.at(-1)?.headers.authorization;
}

test('MO-11 WA-07 keys of files and commands are replaced between calls', async () => {
  const sources = ['file', 'command'] as const;
  const replaceKeys = (key: string): void => {
    for (const source of sources) {
      writeFileSync(`${keyFile[source]}.new`, `${key}-of-${source}\n`);
      renameSync(`${keyFile[source]}.new`, keyFile[source]);
    }
  };
  for (const source of sources) first.script(source, PLAIN);
  replaceKeys('old');
  for (const source of sources) assert.equal(await keySentFor(source), `Bearer old-of-${source}`);
  replaceKeys('new');
  for (const source of sources) {
    await waitUntil('the new key', async () => (await keySentFor(source)) === `Bearer new-of-${source}`);
  }
  for (const source of sources) rmSync(keyFile[source]);
  for (const source of sources) {
    const lost = await waitUntil('the end of the key', async () => {
      const asked = first.count(source);
      const { balance } = await service.wallet(app, 'anna');
      const reply = await ask(source);
      return reply.status !== 200 && { reply, asked, balance };
    });
    assertRefusal(lost.reply, { code: 'UPSTREAM_PROVIDER_ERROR', type: 'upstream_outage' });
    assert.ok(!lost.reply.text.includes(folder) && !lost.reply.text.includes('-of-'), lost.reply.text);
    assert.equal(first.count(source), lost.asked, 'nothing was sent');
    const { balance, held } = await service.wallet(app, 'anna');
    assert.deepEqual([balance, held], [lost.balance, 0]);
  }
});

test('CC-16 a refused pool key hands over to another', async () => {
  service.keepSecret('sk-one');
  first.script('pooled', ({ headers }) =>
    headers.authorization === 'Bearer sk-one' ? { status: 401, body: '{}' } : PLAIN,
  );
  for (let count = 0; count < 10; count += 1) assert.equal((await ask('pooled')).status, 200);
  const keys = servers.first.requests.flatMap(({ headers, body }) =>
    (body as { model: string }).model === 'pooled-upstream' ? [headers.authorization] : [],
  );
  assert.equal(keys.filter((key) => key === 'Bearer sk-one').length, 3);
  const { upstreams } = await (await newOperator(service)).get(200, 'GET', '/operator/upstreams');
  const [pooled] = (upstreams as Record<string, unknown>[]).filter(({ provider }) => provider === 'pool');
  assert.equal(pooled?.['state'], 'closed');
  assert.deepEqual(pooled?.['keys'], [
    { name: 'one', state: 'open', calls: 3, failures: 3 },
    { name: 'two', state: 'closed', calls: 10, failures: 0 },
  ]);
});

test('WA-07 content past its limit costs its upstream’s hold', async () => {
  first.script('far', { body: completionBody({ model: 'x', content: 'far '.repeat(10_000) }) });
  const reply = await ask('far', { max_completion_tokens: 5 });
  assert.equal(reply.status, 200, reply.text);
  const rows = await sql<{ charged: number; held: number }>(service)`
    select charged_micros::float8 as charged, held_micros::float8 as held from usage.calls where call_id = ${reply.headers.get('x-service-call-id')}`;
  // The second upstream costs three times as much, and the hold is for it.
  assert.equal(rows[0]?.held, 3 * (rows[0]?.charged ?? 0));
  assert.equal(String(rows[0]?.charged), reply.headers.get('x-service-charge-micros'));
});

test('CC-16 an upstream that keeps failing is asked last', async () => {
  first.script('view', { status: 503, body: '{}' });
  second.script('view', PLAIN);
  for (let count = 0; count < 5; count += 1) assert.equal((await ask('view')).status, 200);
  assert.deepEqual([first.count('view'), second.count('view')], [3, 5]);
  const operator = await newOperator(service);
  const { upstreams } = await operator.get(200, 'GET', '/operator/upstreams');
  const [one, other] = (upstreams as Record<string, unknown>[]).filter(
    ({ providerModel }) => providerModel === 'view-upstream',
  );
  assert.deepEqual([one?.['provider'], one?.['state'], one?.['models']], ['first', 'open', ['acme.view']]);
  assert.ok(Number(one?.['testInMs']) > 0);
  assert.deepEqual(one?.['lastMinute'], { calls: 3, failures: 3, firstByteMs: null });
  assert.deepEqual([other?.['state'], other?.['lastMinute']], ['closed', { calls: 5, failures: 0, firstByteMs: null }]);
  const metrics = await scrape(service.url);
  const of = 'provider="first",model="view-upstream"';
  const calls = ['failed', 'answered'].map((how) => metrics.get(`purser_upstream_calls_total{${of},outcome="${how}"}`));
  assert.deepEqual(calls, [3, 0]);
  assert.equal(metrics.get('purser_upstream_open{provider="first",model="view-upstream"}'), 1);
});
