import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyCatalogueFile } from '../../packages/service/src/catalogue/catalogue-file.ts';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';
import { openStream, payloadsOf } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { scenariosOf } from '../support/scenarios.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

/** `best` is the alias that is redirected while the service runs; `org/slash` is an alias with a slash. */
function catalogueWith(best: string, { providers, models, aliases }: ReturnType<typeof catalogueAt>) {
  return {
    providers: { ...providers, keyless: { ...providers.upstream, apiKeyEnv: 'TEST_KEY_THAT_IS_NOT_SET' } },
    models: [
      ...models,
      { ...models[0], id: 'other-vendor.llama3.1-70b:v1.0', providerModel: 'llama-upstream' },
      { ...models[0], id: 'acme.keyless-1', provider: 'keyless' },
    ],
    aliases: { ...aliases, best, 'org/slash': 'other-vendor.llama3.1-70b:v1.0', keyless: 'acme.keyless-1' },
  };
}

const model = { timeoutMs: 60_000 };
const stage = await setStage({ model, catalogue: (basis) => catalogueWith('acme.large-1', basis) });
const { upstream, service, app: thirdParty } = stage;
const scenarios = scenariosOf(stage);
const catalogue = (best: string) => catalogueWith(best, catalogueAt(upstream.baseUrl, model));
const firstParty = await service.addApp({ isFirstParty: true });

const OPEN = [
  ['acme.large-1', 'acme'],
  ['best', 'acme'],
  ['large', 'acme'],
  ['org/slash', 'other-vendor'],
  ['other-vendor.llama3.1-70b:v1.0', 'other-vendor'],
] as const;
const RESERVED = [
  ['acme.secret-1', 'acme'],
  ['secret', 'acme'],
] as const;
const NOT_SERVED = ['acme.off-1', 'off', 'acme.keyless-1', 'keyless'];

function list(key: string): Promise<Reply> {
  return send('/v1/models', { url: service.url, key });
}

function itemOf([id, owner]: readonly [string, string]) {
  return { id, object: 'model', created: 0, owned_by: owner };
}

test('MO-01 a third party’s list has exactly the open identifiers and aliases', async () => {
  for (const key of [thirdParty.liveKey, thirdParty.testKey]) {
    const reply = await list(key);
    assert.equal(reply.status, 200);
    assert.deepEqual(reply.body, { object: 'list', data: OPEN.map(itemOf) });
  }
});

test('MO-01 the operator’s own app also sees reserved models', async () => {
  for (const key of [firstParty.liveKey, firstParty.testKey]) {
    const { data } = (await list(key)).body as { data: { id: string }[] };
    const expected = [...OPEN, ...RESERVED].map(itemOf).toSorted((left, right) => (left.id < right.id ? -1 : 1));
    assert.deepEqual(data, expected);
  }
});

test('MO-12 GET /prices shows each callable model’s price with margin and limits', async () => {
  const open = await send('/prices', { url: service.url, key: thirdParty.testKey });
  assert.equal(open.status, 200);
  assert.equal(open.body['currency'], 'EUR');
  const data = open.body['data'] as PriceOf[];
  assert.deepEqual(
    data.map(({ id }) => id),
    OPEN.map(([id]) => id),
  );
  const best = data.find(({ id }) => id === 'best');
  assert.equal(best?.model, 'acme.large-1');
  assert.equal(best.prices.length, 1);
  const [tier] = best.prices[0]?.tiers ?? [];
  // A million tokens cost what the list says: the charge of a call is computed by another function.
  assert.equal(tier?.outputMicrosPerMillion, chargeFor({ prompt: 0, completion: 1_000_000 }));
  assert.equal(tier.inputMicrosPerMillion, chargeFor({ prompt: 1_000_000, completion: 0 }));
  const own = await send('/prices', { url: service.url, key: firstParty.liveKey });
  const names = (own.body['data'] as PriceOf[]).map(({ id }) => id);
  for (const [name] of RESERVED) assert.ok(names.includes(name), name);
});

interface PriceOf {
  readonly id: string;
  readonly model: string;
  readonly prices: readonly {
    readonly tiers: readonly { readonly inputMicrosPerMillion: number; readonly outputMicrosPerMillion: number }[];
  }[];
}

test('MO-02 an alias reports the owner of its target', async () => {
  const { data } = (await list(thirdParty.liveKey)).body as { data: { id: string; owned_by: string }[] };
  assert.deepEqual(Object.fromEntries(data.map((item) => [item.id, item.owned_by])), Object.fromEntries(OPEN));
});

test('MO-03 each listed name can be retrieved, with the same fields', async () => {
  const { data } = (await list(firstParty.liveKey)).body as { data: { id: string }[] };
  assert.equal(data.length, OPEN.length + RESERVED.length);
  for (const item of data) {
    for (const path of [item.id, encodeURIComponent(item.id)]) {
      const reply = await send(`/v1/models/${path}`, { url: service.url, key: firstParty.liveKey });
      assert.equal(reply.status, 200, `${path} ${reply.text}`);
      assert.deepEqual(reply.body, item);
    }
  }
});

const THIRD = [{ key: thirdParty.liveKey }, { key: thirdParty.testKey }];
const ANYBODY = [...THIRD, { key: firstParty.liveKey }];
const UNKNOWN = ['gpt-99', 'LARGE', 'acme', 'large-upstream', '__proto__', 'constructor', '%F0%9F%98%80', '%20'];

scenarios(
  { as: ANYBODY, name: 'MO-03 a name that is not served is not found', code: 'NOT_FOUND', hasLink: false },
  [...NOT_SERVED, ...UNKNOWN, 'large/'].map((name) => ({ request: `GET /v1/models/${name}` })),
);

test('MO-03 a disabled model is indistinguishable from an unknown one', async () => {
  const replies = await Promise.all(
    ['acme.off-1', 'acme.none-1'].map((name) =>
      send(`/v1/models/${name}`, { url: service.url, key: thirdParty.liveKey }),
    ),
  );
  assert.equal(replies[0]?.error['message'], replies[1]?.error['message']);
});

scenarios({ as: THIRD, code: 'MODEL_NOT_ENTITLED', hasLink: false }, [
  {
    name: 'MO-03 a reserved model is refused under its name',
    request: 'GET /v1/models/acme.secret-1',
    contains: ['`acme.secret-1`'],
  },
  {
    name: 'MO-03 a reserved model is refused under its alias alone',
    request: 'GET /v1/models/secret',
    contains: ['`secret`'],
    lacks: ['acme.secret-1'],
  },
]);

test('MO-04 listed models can be called, unlisted ones cannot', async () => {
  const usage = { prompt_tokens: 1, completion_tokens: 1 };
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage }) });
  for (const app of [thirdParty, firstParty]) {
    await service.fund(app, 'u', 1_000_000);
    const { data } = (await list(app.liveKey)).body as { data: { id: string }[] };
    const listed = new Set(data.map(({ id }) => id));
    for (const [name] of [...OPEN, ...RESERVED]) {
      const reply = await chat({ url: service.url, key: app.liveKey, user: 'u' }, { model: name });
      assert.equal(reply.status === 200, listed.has(name), `${name} ${reply.text}`);
    }
  }
});

test('MO-06 the model routes reveal no prices, routes or rights', async () => {
  const texts = [(await list(firstParty.liveKey)).text];
  texts.push((await send('/v1/models/secret', { url: service.url, key: firstParty.liveKey })).text);
  for (const text of texts)
    assert.doesNotMatch(text, /upstream|price|micros|margin|resale|reserved|open"|provider|127\.0/i);
});

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };

test('MO-05 redirecting an alias needs no restart and spares running calls', async () => {
  const user = 'mover';
  await service.fund(thirdParty, user, 1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const steps = streamSteps({ model: 'm', pieces: ['begun', 'ended'], usage: USAGE, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] });
  const options = { url: service.url, key: thirdParty.liveKey, user };
  const stream = await openStream(options, { model: 'best' });
  await stream.until('begun');

  await applyCatalogueFile(service.database.owner, JSON.stringify(catalogue('other-vendor.llama3.1-70b:v1.0')));
  await waitUntil('the alias has its new target', async () => {
    const { body } = await send('/v1/models/best', { url: service.url, key: thirdParty.liveKey });
    return body['owned_by'] === 'other-vendor';
  });
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const reply = await chat(options, { model: 'best' });
  assert.equal(reply.body['model'], 'other-vendor.llama3.1-70b:v1.0');
  assert.match(upstream.requests.at(-1)?.rawBody.toString() ?? '', /"model":"llama-upstream"/);

  release();
  const payloads = payloadsOf(await stream.whole());
  assert.equal(payloads.at(-1), '[DONE]');
  for (const payload of payloads.slice(0, -1))
    assert.equal((payload as Record<string, unknown>)['model'], 'acme.large-1');
  const charge = chargeFor({ prompt: 100, completion: 10 });
  assert.equal((await service.wallet(thirdParty, user)).balance, 1_000_000 - 2 * charge);
});

test('MO-07 usage is recorded under the resolved identifier', async () => {
  const summary = await send('/usage/summary', { url: service.url, key: thirdParty.liveKey, user: 'mover' });
  const charge = chargeFor({ prompt: 100, completion: 10 });
  const one = { requests: 1, promptTokens: 100, completionTokens: 10, chargedMicros: charge };
  assert.deepEqual(summary.body['models'], [
    { model: 'acme.large-1', ...one },
    { model: 'other-vendor.llama3.1-70b:v1.0', ...one },
  ]);
  const { rows } = await service.database.owner.query<{ model: string }>('select distinct model from usage.calls');
  for (const { model } of rows) assert.match(model, /\./);
});

/** Holds the lock of a user's wallet while `work` runs, so that a call of that user waits for its hold. */
async function withWalletLocked(user: string, work: () => Promise<void>): Promise<void> {
  const client = await service.database.owner.connect();
  try {
    await client.query('begin');
    await client.query('select from ledger.wallets where user_id = $1 for update', [user]);
    await work();
    await client.query('commit');
  } finally {
    client.release();
  }
}

test('MO-05 a call survives the renaming of its provider', async () => {
  const user = 'waiter';
  await service.fund(thirdParty, user, 1_000_000);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  const { providers, models, ...rest } = catalogue('acme.large-1');
  const renamed = {
    ...rest,
    providers: { renamed: providers.upstream, keyless: providers.keyless },
    models: models.map((model) => ({ ...model, provider: model.id === 'acme.keyless-1' ? 'keyless' : 'renamed' })),
  };
  let call: Promise<Reply> | undefined;
  await withWalletLocked(user, async () => {
    call = chat({ url: service.url, key: thirdParty.liveKey, user }, { model: 'large' });
    await waitUntil('the call waits for its hold', async () => {
      const rows = await sql(service)`select from pg_stat_activity where wait_event_type = 'Lock'
        and application_name = 'purser_live'
        and datname = current_database()`;
      return rows.length > 0;
    });
    await applyCatalogueFile(service.database.owner, JSON.stringify(renamed));
    await waitUntil('the change is in force', async () => {
      return (await send('/v1/models/best', { url: service.url, key: thirdParty.liveKey })).body['owned_by'] === 'acme';
    });
  });
  const reply = await call;
  assert.ok(reply !== undefined);
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.body['model'], 'acme.large-1');
});

test('MO-05 a model disabled meanwhile is refused to the next call', async () => {
  const { models, ...rest } = catalogue('acme.large-1');
  const disabled = models.map((model) => ({ ...model, ...(model.id === 'acme.large-1' ? { enabled: false } : {}) }));
  await applyCatalogueFile(service.database.owner, JSON.stringify({ ...rest, models: disabled }));
  await waitUntil('the model is gone', async () => {
    return (await send('/v1/models/large', { url: service.url, key: thirdParty.liveKey })).status === 404;
  });
  const reply = await chat({ url: service.url, key: thirdParty.liveKey, user: 'mover' });
  assertRefusal(reply, { code: 'BAD_REQUEST', param: 'model' });
});
