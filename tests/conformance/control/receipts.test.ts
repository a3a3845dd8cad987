import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyCatalogueFile } from '../../../packages/service/src/catalogue/catalogue-file.ts';
import { catalogueAt, chargeFor } from '../../support/catalogue.ts';
import { chat, type Reply, send } from '../../support/client.ts';
import { newOwnApp, newOwner } from '../../support/control.ts';
import { openChat } from '../../support/open-chat.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { rewrite } from '../../support/rewrite.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { setStage } from '../../support/stage.ts';
import { addUsage } from '../../support/usage-rows.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** Receipts of single calls, for the owner of their app. */

const USAGE = {
  prompt_tokens: 40,
  completion_tokens: 20,
  total_tokens: 60,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 5 },
};
const ANSWER = { body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) };

const stage = await setStage({ model: { cacheWriteMicrosPerMillion: 3_000_000 } });
const { upstream, service } = stage;
const scenarios = scenariosOf(stage);
const owner = await newOwner(service);
const app = await newOwnApp(owner);
await service.fund(app, 'anna', 10_000_000);

function call(correlationId: string, headers = {}, fields = {}): Promise<Reply> {
  const own = { 'x-correlation-id': correlationId, ...headers };
  return chat({ url: service.url, key: app.liveKey, user: 'anna', headers: own }, fields);
}

interface Receipt {
  readonly callId: string;
  readonly correlationId: string | null;
  readonly userId: string;
  readonly model: string | null;
  readonly at: string;
  readonly outcome: string;
  readonly estimated: boolean;
  readonly tokens: object;
  readonly price: { readonly version: number } | null;
  readonly heldMicros: number;
  readonly chargedMicros: number;
  readonly releasedMicros: number;
}

async function listOf(correlationId: string, appId: string = app.appId): Promise<readonly Receipt[]> {
  const body = await owner.get(200, 'GET', `/apps/${appId}/calls?correlationId=${correlationId}`);
  assert.deepEqual(Object.keys(body), ['calls', 'traces']);
  return body['calls'] as readonly Receipt[];
}

/** The only receipt with this correlation id. It is the same by its call id, and its figures add up. */
async function receiptOf(correlationId: string): Promise<Receipt> {
  const [receipt, ...others] = await waitUntil('the call has ended', async () => {
    const found = await listOf(correlationId);
    return found.length > 0 && found;
  });
  assert.ok(receipt !== undefined && others.length === 0);
  assert.deepEqual(await owner.get(200, 'GET', `/apps/${app.appId}/calls/${receipt.callId}`), receipt);
  assert.equal(receipt.heldMicros - receipt.releasedMicros, receipt.chargedMicros);
  return receipt;
}

const NO_TOKENS = { prompt: 0, cached: 0, cacheWrite: 0, completion: 0, reasoning: 0 };

test('CP-04 a receipt shows tokens by kind, price and the hold’s end', async () => {
  upstream.script(ANSWER);
  const begunMs = Date.now();
  const reply = await call('answered');
  const { at, price, heldMicros, releasedMicros, ...rest } = await receiptOf('answered');
  assert.deepEqual(rest, {
    callId: reply.headers.get('x-service-call-id'),
    correlationId: 'answered',
    userId: 'anna',
    model: 'acme.large-1',
    outcome: 'answered',
    estimated: false,
    tokens: { prompt: 40, cached: 8, cacheWrite: 0, completion: 20, reasoning: 5 },
    chargedMicros: chargeFor({ prompt: 40, cached: 8, completion: 20 }),
  });
  assert.ok(heldMicros > rest.chargedMicros && releasedMicros > 0);
  assert.ok(Math.abs(Date.parse(at) - begunMs) < 60_000);
  const { version, ...prices } = price ?? { version: 0 };
  assert.ok(Number.isInteger(version) && version > 0);
  assert.deepEqual(prices, {
    inputMicrosPerMillion: 1_000_000,
    cachedInputMicrosPerMillion: 250_000,
    cacheWriteMicrosPerMillion: 3_000_000,
    outputMicrosPerMillion: 4_000_000,
    marginBasisPoints: 1_000,
  });
});

/** In micros: 22 fresh tokens, 8 from the cache and 10 written to it at 3 each, 20 of output, and 10 % on top. */
const WRITING_CHARGE = Math.ceil(((22 * 100 + 8 * 25 + 10 * 300 + 20 * 400) * 11) / 1_000);

for (const stream of [false, true]) {
  const how = stream ? 'streamed' : 'plain';
  test(`MO-08 tokens written to the cache are charged at their price, ${how}`, async () => {
    const usage = { ...USAGE, prompt_tokens_details: { cached_tokens: 8, cache_write_tokens: 10 } };
    const streamed = { body: streamSteps({ model: 'm', pieces: ['Hi.'], usage, includeUsageChunk: true }) };
    upstream.script(stream ? streamed : { body: completionBody({ model: 'm', content: 'Hi.', usage }) });
    const before = await service.wallet(app, 'anna');
    await call(`writing-${how}`, {}, stream ? { stream, stream_options: { include_usage: true } } : {});
    const { tokens, chargedMicros, price } = await receiptOf(`writing-${how}`);
    assert.deepEqual(tokens, { prompt: 40, cached: 8, cacheWrite: 10, completion: 20, reasoning: 5 });
    assert.equal((price as { cacheWriteMicrosPerMillion?: number }).cacheWriteMicrosPerMillion, 3_000_000);
    assert.equal(chargedMicros, WRITING_CHARGE);
    const after = await service.wallet(app, 'anna');
    assert.deepEqual([before.balance - after.balance, after.held], [WRITING_CHARGE, 0]);
    assert.deepEqual(await service.check(), []);
  });
}

test('CP-04 a receipt keeps the price that its call was charged', async () => {
  upstream.script(ANSWER);
  await call('before');
  const before = await receiptOf('before');
  const dearer = { inputMicrosPerMillion: 2_000_000, cachedInputMicrosPerMillion: 1, outputMicrosPerMillion: 3 };
  const catalogue = catalogueAt(upstream.baseUrl, { price: dearer, marginBasisPoints: 7 });
  await applyCatalogueFile(service.database.owner, JSON.stringify(catalogue));
  const after = await waitUntil('the new price is in force', async () => {
    const { headers } = await call(`after-${Date.now()}`);
    const receipt = await owner.get(200, 'GET', `/apps/${app.appId}/calls/${headers.get('x-service-call-id')}`);
    return (receipt as unknown as Receipt).price?.version !== before.price?.version && (receipt as unknown as Receipt);
  });
  assert.ok((after.price?.version ?? 0) > (before.price?.version ?? 0));
  const prices = { ...dearer, cacheWriteMicrosPerMillion: 2_000_000, marginBasisPoints: 7 };
  assert.deepEqual({ ...after.price, version: 0 }, { ...prices, version: 0 });
  assert.deepEqual(await receiptOf('before'), before);
  const again = catalogueAt(upstream.baseUrl, { cacheWriteMicrosPerMillion: 3_000_000 });
  await applyCatalogueFile(service.database.owner, JSON.stringify(again));
});

test('CP-04 receipts of failed, abandoned and unreported calls say so', async () => {
  upstream.script({ status: 500, body: '' });
  assert.equal((await call('failed')).status, 502);
  const failed = await receiptOf('failed');
  assert.deepEqual([failed.outcome, failed.estimated, failed.chargedMicros], ['failed', false, 0]);
  assert.deepEqual(failed.tokens, NO_TOKENS);
  assert.deepEqual([failed.model, failed.releasedMicros], ['acme.large-1', failed.heldMicros]);

  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.' }) });
  await call('untold');
  const untold = await receiptOf('untold');
  assert.deepEqual([untold.outcome, untold.estimated], ['answered', true]);
  assert.ok(untold.chargedMicros > 0);

  const [role, first] = streamSteps({ model: 'm', pieces: ['First piece'], includeUsageChunk: false });
  upstream.script({ body: [role ?? { hang: true }, first ?? { hang: true }, { hang: true }] });
  const body = JSON.stringify({ model: 'large', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
  const leaving = openChat({ url: service.url, key: app.liveKey, user: 'anna', body, correlationId: 'left' });
  await leaving.read('First');
  leaving.leave();
  const left = await receiptOf('left');
  assert.deepEqual([left.outcome, left.estimated], ['abandoned', true]);
  assert.ok(left.chargedMicros > 0 && left.releasedMicros > 0);
});

test('CP-04 a dead process’s call has a receipt with everything released', async () => {
  const callId = await addUsage(service.database, {
    appId: app.appId,
    user: 'anna',
    at: '2026-01-01T00:00:00Z',
    outcome: 'expired',
    charged: 0,
  });
  await rewrite(
    service.database,
    `update usage.calls set model = null, prompt_tokens = 0, cached_tokens = 0, completion_tokens = 0, reasoning_tokens = 0
     where call_id = $1`,
    [callId],
  );
  assert.deepEqual(await owner.get(200, 'GET', `/apps/${app.appId}/calls/${callId}`), {
    callId,
    correlationId: null,
    userId: 'anna',
    model: null,
    at: '2026-01-01T00:00:00.000Z',
    outcome: 'expired',
    estimated: false,
    tokens: NO_TOKENS,
    price: null,
    heldMicros: 100,
    chargedMicros: 0,
    releasedMicros: 100,
  });
});

test('CC-14 CP-04 a replayed answer has its original call’s receipt', async () => {
  upstream.script(ANSWER);
  const key = { 'idempotency-key': 'once' };
  const first = await call('first-try', key);
  const retry = await call('second-try', key);
  assert.equal(retry.headers.get('x-service-replayed'), 'true');
  const { callId } = await receiptOf('first-try');
  assert.deepEqual(
    [first, retry].map(({ headers }) => headers.get('x-service-call-id')),
    [callId, callId],
  );
  assert.deepEqual(await listOf('second-try'), []);
});

test('CP-04 a repeated correlation id lists its newest hundred receipts', async () => {
  const row = { appId: app.appId, user: 'anna', at: '2026-02-01T00:00:00Z' };
  const ids = await Promise.all(Array.from({ length: 102 }, () => addUsage(service.database, row)));
  await rewrite(service.database, `update usage.calls set correlation_id = 'often' where call_id = any ($1)`, [ids]);
  const calls = await listOf('often');
  assert.deepEqual(
    calls.map(({ callId }) => callId),
    ids.toSorted().toReversed().slice(0, 100), // Call ids begin with the time.
  );
});

test('SB-03 CP-04 a sandbox call has no receipt', async () => {
  const { headers } = await chat({
    url: service.url,
    key: app.testKey,
    user: 'anna',
    headers: { 'x-correlation-id': 'play' },
  });
  assert.deepEqual(await listOf('play'), []);
  const reply = await owner.ask('GET', `/apps/${app.appId}/calls/${headers.get('x-service-call-id')}`);
  assertRefusal(reply, { code: 'NOT_FOUND', hasLink: false });
});

test('AU-06 CP-04 only the owner of the app sees its receipts', async () => {
  upstream.script(ANSWER);
  const { headers } = await call('mine');
  const callId = headers.get('x-service-call-id') ?? '';
  const other = await newOwnApp(owner);
  const none = '00000000-0000-0000-0000-000000000000';
  for (const id of [callId, callId.toUpperCase(), none, 'x', `${callId}0`]) {
    const reply = await owner.ask('GET', `/apps/${other.appId}/calls/${id}`);
    assertRefusal(reply, { code: 'NOT_FOUND', hasLink: false }, id);
    const { message } = (await owner.ask('GET', `/apps/${other.appId}/calls/${none}`)).error;
    assert.equal(reply.error['message'], message, id);
  }
  assert.deepEqual(await listOf('mine', other.appId), []);
  const stranger = await newOwner(service);
  for (const path of [`calls/${callId}`, 'calls?correlationId=mine']) {
    assertRefusal(await stranger.ask('GET', `/apps/${app.appId}/${path}`), { code: 'NOT_FOUND', hasLink: false });
  }
});

const LIST = `GET /apps/${app.appId}/calls`;
const OF_ONE = { name: 'CP-04 a list of receipts needs one well-formed correlation id', param: 'correlationId' };

scenarios({ ...OF_ONE, as: owner, request: LIST, code: 'BAD_REQUEST', hasLink: false }, [
  {},
  { request: `${LIST}?correlationId=` },
  { request: `${LIST}?correlationId=a%20b` },
  { request: `${LIST}?correlationId=${'x'.repeat(129)}` },
  { request: `${LIST}?correlationId=a&correlationId=b` },
]);

test('BI-05 CP-04 an app reads the same receipt as its owner', async () => {
  upstream.script(ANSWER);
  const callId = (await call('by-key')).headers.get('x-service-call-id');
  const reply = await send(`/calls/${callId}`, { url: service.url, key: app.liveKey, user: 'anna' });
  assert.deepEqual([reply.status, reply.body], [200, await receiptOf('by-key')]);
});

test('BI-05 AU-06 WA-02 a foreign, disconnected or sandbox call looks like no call', async () => {
  upstream.script(ANSWER);
  const other = await newOwnApp(owner);
  const user = 'leaver';
  for (const name of [user, 'ben']) await service.fund(app, name, 1_000_000);
  await service.fund(other, user, 1_000_000);
  const answered = await chat({ url: service.url, key: app.liveKey, user });
  const callId = answered.headers.get('x-service-call-id') ?? '';
  const played = await chat({ url: service.url, key: app.testKey, user });
  const ask = (key: string, name: string, id: string) => send(`/calls/${id}`, { url: service.url, key, user: name });
  const unknown = await ask(app.liveKey, user, '00000000-0000-7000-8000-000000000000');
  assertRefusal(unknown, { code: 'NOT_FOUND', hasLink: false });
  const asked: readonly [string, string, string][] = [
    [other.liveKey, user, callId],
    [app.liveKey, 'ben', callId],
    [app.liveKey, 'nobody', callId],
    [app.testKey, user, callId],
    [app.testKey, user, played.headers.get('x-service-call-id') ?? ''],
    [app.liveKey, user, callId.toUpperCase()],
    [app.liveKey, user, `${callId}/x`],
  ];
  const replies = await Promise.all(asked.map((one) => ask(...one)));
  await service.setWallet(app, user, 'is_connected = false');
  replies.push(await ask(app.liveKey, user, callId));
  for (const [index, reply] of replies.entries()) {
    assertRefusal(reply, { code: 'NOT_FOUND', hasLink: false }, String(index));
    assert.equal(reply.error['message'], unknown.error['message'], String(index));
  }
});
