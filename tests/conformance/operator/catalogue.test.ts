import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyCatalogueFile } from '../../../packages/service/src/catalogue/catalogue-file.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { chat, send } from '../../support/client.ts';
import { newOperator, personWith } from '../../support/control.ts';
import { openStream } from '../../support/open-stream.ts';
import { assertRefusal, assertRefused } from '../../support/refusal.ts';
import { scenariosOf } from '../../support/scenarios.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { startSecondGateway } from '../../support/service.ts';
import { sql, sqlRow } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { idOf, trailOf } from '../../support/trail.ts';
import { waitUntil } from '../../support/wait-until.ts';

const stage = await setStage({ model: { timeoutMs: 60_000 } });
const scenarios = scenariosOf(stage);
const { service, upstream, app, newUser } = stage;
const second = await startSecondGateway(service);
const operator = await newOperator(service);
const elsewhere = personWith(second.url, operator.token);
const actor = await idOf(operator);
const FILE = '/operator/catalogue';
const USAGE = { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 };

interface File {
  readonly providers: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly models: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[];
  readonly aliases: Readonly<Record<string, string>>;
}

async function read(by = operator): Promise<File> {
  return (await by.get(200, 'GET', FILE)) as unknown as File;
}

function modelPath(id: string): string {
  return `/operator/models/${encodeURIComponent(id)}`;
}

function aliasPath(alias: string): string {
  return `/operator/aliases/${encodeURIComponent(alias)}`;
}

/** A model for a single test that costs this much per million tokens. */
function entry(micros: number, changes: Readonly<Record<string, unknown>> = {}) {
  return {
    provider: 'upstream',
    providerModel: 'large-upstream',
    resale: 'open',
    price: { inputMicrosPerMillion: micros, outputMicrosPerMillion: micros },
    contextTokens: 8_000,
    maxOutputTokens: 1_000,
    timeoutMs: 60_000,
    ...changes,
  };
}

async function isListed(url: string, name: string): Promise<boolean> {
  return (await send(`/v1/models/${name}`, { url, key: app.liveKey })).status === 200;
}

async function priceOf(callId: string | null): Promise<{ readonly id: bigint; readonly input: bigint } | undefined> {
  return sqlRow<{ id: bigint; input: bigint }>(service)`select price_id as id, input_micros_per_million as input
    from usage.calls join catalogue.prices using (price_id)
    where call_id = ${callId}`;
}

test('CP-05 MO-06 putting the catalogue back unchanged creates no new prices', async () => {
  await operator.get(200, 'PUT', modelPath('acme.round-1'), entry(5, { free: false, enabled: false }));
  const before = await operator.ask('GET', FILE);
  assert.equal(before.status, 200);
  const prices = `select count(*)::int as count from catalogue.prices`;
  const { rows: pricesBefore } = await service.database.owner.query(prices);
  assert.deepEqual(await operator.get(200, 'PUT', FILE, before.body), before.body);
  assert.deepEqual(await read(elsewhere), before.body);
  assert.deepEqual((await service.database.owner.query(prices)).rows, pricesBefore);
  await operator.get(204, 'DELETE', modelPath('acme.round-1'));
});

test('MO-05 CP-05 a new model and alias are served within a second', async () => {
  const stored = await operator.get(200, 'PUT', modelPath('acme.new:1'), entry(7));
  assert.deepEqual(
    [stored['id'], stored['enabled'], stored['marginBasisPoints'], stored['minOutputTokens']],
    ['acme.new:1', true, 0, 16],
  );
  const put = await operator.get(200, 'PUT', aliasPath('org/new'), { target: 'acme.new:1' });
  assert.deepEqual(put, { alias: 'org/new', target: 'acme.new:1' });
  for (const name of ['acme.new:1', 'org/new']) {
    assert.ok(await isListed(service.url, name));
    await waitUntil(`${name} is known`, () => isListed(second.url, name));
  }
  assertRefused(await operator.ask('DELETE', modelPath('acme.new:1')), 'CONFLICT');
  await elsewhere.get(204, 'DELETE', aliasPath('org/new'));
  await elsewhere.get(204, 'DELETE', modelPath('acme.new:1'));
  for (const name of ['acme.new:1', 'org/new']) {
    assert.ok(!(await isListed(second.url, name)));
    await waitUntil(`${name} is gone`, async () => !(await isListed(service.url, name)));
  }
  for (const path of [modelPath('acme.new:1'), aliasPath('org/new')]) {
    assertRefused(await operator.ask('DELETE', path), 'NOT_FOUND');
  }
  const acts = [...(await trailOf(operator, 'acme.new:1')), ...(await trailOf(operator, 'org/new'))];
  assert.deepEqual(
    acts.map((line) => [line.actor, line.action]),
    ['model.delete', 'model.put', 'alias.delete', 'alias.put'].map((action) => [actor, action]),
  );
});

test('MO-05 a running stream keeps its model and price', async () => {
  const user = await newUser(1_000_000_000);
  await operator.get(200, 'PUT', modelPath('acme.dear-1'), entry(2_000_000, { providerModel: 'before' }));
  await operator.get(200, 'PUT', aliasPath('dear'), { target: 'acme.dear-1' });
  await waitUntil('the other gateway has it', () => isListed(second.url, 'dear'));
  const untilCharged = (url: string, micros: string) => {
    upstream.script({ body: completionBody({ model: 'm', content: 'x', usage: USAGE }) });
    return waitUntil(`a call is charged ${micros}`, async () => {
      const reply = await chat({ url, key: app.liveKey, user }, { model: 'dear' });
      return reply.headers.get('x-service-charge-micros') === micros && reply;
    });
  };
  for (const gateway of [service, second]) {
    await operator.get(200, 'PUT', modelPath('acme.dear-1'), entry(2_000_000, { providerModel: 'before' }));
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    const steps = streamSteps({ model: 'm', pieces: ['begun', ' ended'], usage: USAGE, includeUsageChunk: true });
    await untilCharged(gateway.url, '2200');
    upstream.script({ body: [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] });
    const stream = await openStream({ url: gateway.url, key: app.liveKey, user }, { model: 'dear' });
    await stream.until('begun');
    await operator.get(200, 'PUT', modelPath('acme.dear-1'), entry(3_000_000, { providerModel: 'after' }));

    const next = await untilCharged(gateway.url, '3300');
    assert.match(String(upstream.requests.at(-1)?.rawBody), /"model":"after"/);
    release();
    assert.ok((await stream.whole()).endsWith('data: [DONE]\n\n'));
    const old = await priceOf(stream.headers.get('x-service-call-id'));
    const current = await priceOf(next.headers.get('x-service-call-id'));
    assert.deepEqual([old?.input, current?.input], [2_000_000n, 3_000_000n]);
    assert.ok((old?.id ?? 0n) < (current?.id ?? 0n));
    // Otherwise the other gateway, which still has the old price, would not notice the next one.
    for (const { url } of [service, second]) await untilCharged(url, '3300');
  }
  const rows = await sql(service)`select charged_micros::int as charged from usage.calls where model = 'acme.dear-1'
    and outcome = 'answered'
    group by 1 order by 1`;
  assert.deepEqual(rows, [{ charged: 2_200 }, { charged: 3_300 }]);
  assert.deepEqual(await service.check(), []);
});

test('MO-05 a stream whose model is deleted ends as it began', async () => {
  const user = await newUser(1_000_000);
  await operator.get(200, 'PUT', modelPath('acme.short-1'), entry(1_000_000));
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const steps = streamSteps({ model: 'm', pieces: ['begun', ' ended'], usage: USAGE, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] });
  const options = { url: service.url, key: app.liveKey, user };
  const stream = await openStream(options, { model: 'acme.short-1' });
  await stream.until('begun');
  await operator.get(204, 'DELETE', modelPath('acme.short-1'));
  assertRefusal(await chat(options, { model: 'acme.short-1' }), { code: 'BAD_REQUEST', param: 'model' });
  release();
  assert.match(await stream.whole(), /acme\.short-1/);
  assert.deepEqual(await service.wallet(app, user), { balance: 1_000_000 - 1_100, held: 0, openStreams: 0 });
});

const before = await read();
const withModel = (changes: object) => ({ models: [{ ...before.models[0], ...changes }], aliases: {} });
const price = { inputMicrosPerMillion: -1, outputMicrosPerMillion: 1 };
const credentials = { kind: 'openai-compatible', baseUrl: 'http://a:b@x.test' };
const REFUSED = { name: 'CP-05 an invalid catalogue is refused by its field', code: 'BAD_REQUEST' } as const;

scenarios({ ...REFUSED, as: operator, request: `PUT ${FILE}`, body: before }, [
  { body: '{}', param: 'providers' },
  { body: { models: {} }, param: 'models' },
  { body: { extra: 1 }, param: 'extra' },
  { body: [], param: null },
  { body: withModel({ id: 'no-dot' }), param: 'models[0].id' },
  { body: withModel({ provider: 'nobody' }), param: 'models[0].provider' },
  { body: withModel({ price: undefined }), param: 'models[0].price' },
  { body: withModel({ price }), param: 'models[0].price.inputMicrosPerMillion' },
  { body: withModel({ timeoutMs: 1 }), param: 'models[0].timeoutMs' },
  { body: { aliases: { x: 'acme.none' } }, param: 'aliases.x' },
  { body: { providers: { upstream: { kind: 'magic' } } }, param: 'providers.upstream.kind' },
  { body: { providers: { upstream: credentials } }, param: 'providers.upstream.baseUrl' },
]);

scenarios({ ...REFUSED, as: operator, request: `PUT ${modelPath('acme.x-1')}`, body: entry(1) }, [
  { body: { price: undefined }, param: 'price' },
  { body: { provider: 'nobody' }, param: 'provider' },
  { body: { resale: 'closed' }, param: 'resale' },
  { body: { price: { inputMicrosPerMillion: 1 } }, param: 'price.outputMicrosPerMillion' },
  { body: { id: 'acme.y-1' }, param: 'id' },
  { body: { minOutputTokens: 1_001 }, param: 'minOutputTokens' },
  { body: { prize: 1 }, param: 'prize' },
  { request: `PUT ${modelPath('no-dot')}`, param: 'id' },
]);

scenarios({ ...REFUSED, as: operator, request: `PUT ${aliasPath('x')}`, body: { target: 'acme.large-1' } }, [
  { body: { target: 'acme.none' }, param: 'target' },
  { body: { target: 'large' }, param: 'target' },
  { body: { target: undefined }, param: 'target' },
  { request: `PUT ${aliasPath('acme.large-1')}`, param: 'alias' },
  { request: `PUT ${aliasPath('two words')}`, param: 'alias' },
]);

test('CP-05 refused changes of the catalogue leave nothing', async () => {
  const { providers, models, aliases } = await read();
  for (const model of before.models)
    assert.deepEqual(
      models.find(({ id }) => id === model.id),
      model,
    );
  assert.deepEqual([providers, { ...aliases, ...before.aliases }], [before.providers, aliases]);
  assert.doesNotMatch(JSON.stringify([models, aliases]), /acme\.[xy]-1|no-dot|acme\.none|nobody|"x":|two words/);
  for (const subject of ['acme.x-1', 'x', 'acme.none', 'no-dot'])
    assert.deepEqual(await trailOf(operator, subject), []);
});

test('CP-05 a model cannot have the name of an alias', async () => {
  const unchanged = await read();
  await operator.get(200, 'PUT', aliasPath('acme.alias'), { target: 'acme.large-1' });
  assertRefused(await operator.ask('PUT', modelPath('acme.alias'), entry(1)), 'BAD_REQUEST', 'id');
  await operator.get(204, 'DELETE', aliasPath('acme.alias'));
  assert.deepEqual(await read(), unchanged);
});

test('CP-05 simultaneous edits by two processes are all kept', async () => {
  const ids = Array.from({ length: 16 }, (_, index) => `many.model-${index}`);
  const replies = await Promise.all(
    ids.map((id, index) => (index % 2 === 0 ? operator : elsewhere).ask('PUT', modelPath(id), entry(index + 1))),
  );
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  const listed = (await read()).models.map(({ id }) => id);
  for (const id of ids) assert.ok(listed.includes(id), id);
  for (const id of ids) await waitUntil(`${id} is served`, () => isListed(service.url, id));
});

test('CP-05 a catalogue based on an older named version is refused', async () => {
  const put = (etag: string, body: unknown) =>
    send(FILE, { url: service.url, method: 'PUT', key: operator.token ?? '', body, headers: { 'if-match': etag } });
  const first = await operator.ask('GET', FILE);
  const etag = first.headers.get('etag') ?? '';
  await elsewhere.get(200, 'PUT', aliasPath('meanwhile'), { target: 'acme.large-1' });
  assertRefused(await put(etag, first.body), 'CONFLICT');
  assert.equal((await read()).aliases['meanwhile'], 'acme.large-1');
  const again = await operator.ask('GET', FILE);
  assert.equal((await put(again.headers.get('etag') ?? '', first.body)).status, 200);
  assert.equal((await put('*', first.body)).status, 200);
  assertRefused(await put('x', first.body), 'BAD_REQUEST', 'if-match');
  assert.equal((await read()).aliases['meanwhile'], undefined);
});

test('CP-05 operators’ changes survive a restart unless the file differs', async () => {
  const text = JSON.stringify({ ...catalogueAt(upstream.baseUrl), aliases: { restart: 'acme.large-1' } });
  assert.equal(await applyCatalogueFile(service.database.owner, text), true);
  await operator.get(200, 'PUT', aliasPath('later'), { target: 'acme.large-1' });
  const changed = await read();
  assert.equal(await applyCatalogueFile(service.database.owner, text), false);
  assert.deepEqual(await read(), changed);
  assert.equal(await applyCatalogueFile(service.database.owner, `${text} `), true);
  assert.deepEqual(Object.keys((await read()).aliases), ['restart']);
});
