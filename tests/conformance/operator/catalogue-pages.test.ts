import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { newOperator } from '../../support/control.ts';
import { keyAttacks } from './key-attacks.ts';
import { assertPage, type Browser, IN_CONSOLE, mainOf, openBrowser } from '../../support/page.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { trailOf } from '../../support/trail.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** The pages of the catalogue, and what no edit of it may do (MO-11). */

const KEY = 'sk-the-key-of-the-provider';
const folder = mkdtempSync(path.join(os.tmpdir(), 'purser-bound-'));
after(() => rmSync(folder, { recursive: true }));
const PURSER_PROVIDER_KEYS = path.join(folder, 'keys.json');
writeFileSync(PURSER_PROVIDER_KEYS, '{"bound":{"env":"BOUND_API_KEY","hosts":["http://127.0.0.1:9"]}}');
const { service, upstream, app, newUser, callAs } = await setStage({
  environment: { PURSER_PROVIDER_KEYS, LOOSE_API_KEY: KEY, BOUND_API_KEY: KEY },
  catalogue: ({ providers, models, aliases }) => ({
    providers: { ...providers, keyed: { ...providers.upstream, apiKeyEnv: 'LOOSE_API_KEY' } },
    models: [...models, { ...models[0], id: 'acme.keyed-1', provider: 'keyed', providerModel: 'keyed-upstream' }],
    aliases,
  }),
});
const operator = await newOperator(service);
const FILE = '/operator/catalogue';

/** A host that no key is bound to. */
const thief = createServer((request, response) => {
  stolen.push(JSON.stringify(request.headers));
  response.end('{}');
});
const stolen: string[] = [];
await once(thief.listen(0, '127.0.0.1'), 'listening');
after(() => thief.close());
const elsewhere = `http://127.0.0.1:${(thief.address() as { port: number }).port}/v1`;

const entryOf = async (id: string) => {
  const { models } = (await operator.get(200, 'GET', FILE)) as { models: Record<string, unknown>[] };
  return models.find((model) => model['id'] === id) ?? assert.fail(`there is no ${id}`);
};

/** A browser that the operator has just signed in with. */
function ownBrowser(): Browser {
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', String(operator.token));
  return browser;
}

test('CP-05 MO-06 the catalogue’s pages show its entries and their apps', async () => {
  const user = await newUser(1_000_000);
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  upstream.script({ body: completionBody({ model: 'x', content: 'Hello', usage }) });
  assert.equal((await callAs(user)).status, 200);
  const browser = ownBrowser();
  const list = await browser.open('/ops/catalogue');
  assertPage(list, 200, 'Catalogue', IN_CONSOLE);
  for (const words of ['acme.large-1', 'reserved', 'disabled', 'LOOSE_API_KEY', '€1.00', '€4.00', '10 %']) {
    assert.ok(mainOf(list).includes(words), words);
  }
  assert.ok(!list.text.includes(KEY));
  const found = mainOf(await browser.open('/ops/catalogue?q=SECRET-1'));
  assert.ok(found.includes('acme.secret-1') && !found.includes('acme.large-1'), found);
  await waitUntil('the call is in the rollup', async () =>
    mainOf(await browser.open('/ops/model?id=acme.large-1')).includes(app.appId),
  );
  const model = browser.page();
  assertPage(model, 200, 'acme.large-1', IN_CONSOLE);
  // 4,512 tokens at most and 500 of output, with a tenth on top; then 1,000 and 500.
  for (const words of ['upstream/large-upstream', '€0.007164', '€0.0033', '€0.0003', '<code>large</code>']) {
    assert.ok(mainOf(model).includes(words), `${words} in ${mainOf(model)}`);
  }
  assertPage(await browser.open('/ops/model?id=acme.none-1'), 404, 'acme.none-1', IN_CONSOLE);
});

test('MO-05 a price page previews a price and rejects older forms', async () => {
  const browser = ownBrowser();
  await browser.open('/ops/price?id=acme.keyed-1');
  const form = '/ops/price?id=acme.keyed-1&of=';
  const older = browser.fieldsOf(form);
  const shown = await browser.submit(form, { inputMicrosPerMillion: '2', margin: '12.5', reason: 'a new contract' });
  assertPage(shown, 200, 'Change acme.keyed-1', IN_CONSOLE);
  for (const words of [
    'Nothing has been saved yet',
    'No app has called it',
    '€0.012402',
    '€0.007164',
    '€0.0045',
    'before',
  ]) {
    assert.ok(mainOf(shown).includes(words), `${words} in ${mainOf(shown)}`);
  }
  assert.equal(
    ((await entryOf('acme.keyed-1'))['price'] as Record<string, unknown>)['inputMicrosPerMillion'],
    1_000_000,
  );
  const saved = await browser.submit('/ops/model-edit?id=acme.keyed-1');
  assertPage(saved, 200, 'acme.keyed-1', IN_CONSOLE);
  assert.match(saved.text, /The entry was saved/);
  const { price, marginBasisPoints } = await entryOf('acme.keyed-1');
  const cached = { cachedInputMicrosPerMillion: 250_000 };
  assert.deepEqual(price, { inputMicrosPerMillion: 2_000_000, ...cached, outputMicrosPerMillion: 4_000_000 });
  assert.equal(marginBasisPoints, 1_250);
  const [line] = await trailOf(operator, 'acme.keyed-1');
  assert.deepEqual([line?.action, line?.reason], ['model.put', 'a new contract']);

  const late = await browser.ask(form, { form: { ...older, inputMicrosPerMillion: '9', reason: 'late' } });
  assertPage(late, 409, 'Price of acme.keyed-1', IN_CONSOLE);
  assert.match(late.text, /has changed since you read it/);
  await browser.open('/ops/price?id=acme.keyed-1');
  const from = '2100-01-01 00:00';
  const later = await browser.submit(form, { inputMicrosPerMillion: '3', from, reason: 'announced' });
  assert.match(mainOf(later), /A typical call, from Jan 1, 2100/);
  await browser.submit('/ops/model-edit?id=acme.keyed-1');
  assert.match(mainOf(browser.page()), /planned[^]*Planned prices[^]*Jan 1, 2100/);
  const entry = '/ops/model-edit?id=acme.keyed-1';
  const takenBack = mainOf(await browser.submit(entry, { 'reason-later-0': 'called off' }));
  assert.match(takenBack, /priceChanges\.0\.from/);
  assert.ok(takenBack.includes('Nothing has been saved yet') && !takenBack.includes('A typical call, from'), takenBack);
  const page = mainOf(await browser.submit(entry));
  assert.ok(page.includes('withdrawn') && !page.includes('Planned prices'), page);
  assert.equal((await entryOf('acme.keyed-1'))['priceChanges'], undefined);
  assert.equal((await trailOf(operator, 'acme.keyed-1'))[0]?.reason, 'called off');
  for (const [fields, words] of [
    [{ inputMicrosPerMillion: 'two' }, /Input, for a million tokens: enter an amount/],
    [{ margin: '1.234' }, /percentage with at most two decimals/],
    [{ from: 'soon' }, /The time must look like/],
    [{ reason: ' ' }, /Give a reason/],
  ] as const) {
    await browser.open('/ops/price?id=acme.keyed-1');
    const refused = await browser.submit(form, { reason: 'wrong', ...fields });
    assertPage(refused, 400, 'Price of acme.keyed-1', IN_CONSOLE);
    assert.match(refused.text, words);
  }
});

test('CP-05 entries, aliases and providers are edited on pages', async () => {
  const browser = ownBrowser();
  const entry = JSON.stringify({ ...(await entryOf('acme.large-1')), id: 'acme.paged-1' });
  await browser.open('/ops/model-edit');
  assertPage(await browser.submit('/ops/model-edit', { entry: '{', reason: 'new' }), 400, 'Add a model', IN_CONSOLE);
  const shown = await browser.submit('/ops/model-edit', { entry, reason: 'new' });
  assert.match(mainOf(shown), /contextTokens/);
  assertPage(await browser.submit('/ops/model-edit'), 200, 'acme.paged-1', IN_CONSOLE);
  await browser.open('/ops/model-edit');
  const twice = await browser.submit('/ops/model-edit', { entry, reason: 'new' });
  assertPage(twice, 409, 'Add a model', IN_CONSOLE);

  const alias = '/ops/alias?id=acme.paged-1';
  await browser.open('/ops/model?id=acme.paged-1');
  assert.match(mainOf(await browser.submit(alias, { alias: 'paged', reason: 'short' })), /paged is a new name/);
  assert.match((await browser.submit(alias)).text, /The alias now points to this model/);
  assert.match(browser.page().text, /Remove its aliases first/);
  const gone = await browser.submit(alias, { 'reason-0': 'not used' }, 'name="gone"');
  assert.match(gone.text, /The alias was removed/);
  const removed = await browser.submit('/ops/model-delete?id=acme.paged-1', { 'reason-remove': 'not used' });
  assertPage(removed, 200, 'Catalogue', IN_CONSOLE);
  const lines = [...(await trailOf(operator, 'paged')), ...(await trailOf(operator, 'acme.paged-1'))];
  assert.deepEqual(
    lines.map(({ action, reason }) => [action, reason]),
    [
      ['alias.delete', 'not used'],
      ['alias.put', 'short'],
      ['model.delete', 'not used'],
      ['model.put', 'new'],
    ],
  );

  await browser.open('/ops/provider?name=');
  const provider = JSON.stringify({ kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1', apiKey: 'bound' });
  await browser.submit('/ops/provider', { name: 'paged', entry: provider, reason: 'new' });
  assertPage(await browser.submit('/ops/provider'), 200, 'paged', IN_CONSOLE);
  const end = await browser.submit('/ops/provider-delete?name=paged', { 'reason-remove': 'not used' });
  assert.match(end.text, /The provider was removed/);
  await browser.open('/ops/provider?name=upstream');
  assert.match(browser.page().text, /This provider serves models/);
  assertRefusal(await operator.ask('DELETE', '/operator/providers/upstream'), { code: 'CONFLICT' });
});

test('CP-05 a provider test is one one-token call at the operator’s cost', async () => {
  const usage = { prompt_tokens: 12, completion_tokens: 1 };
  upstream.script({ body: streamSteps({ model: 'x', pieces: ['Hi'], usage, includeUsageChunk: true }) });
  const begun = upstream.requests.length;
  const { price } = (await entryOf('acme.keyed-1')) as { price: Record<string, number> };
  const { inputMicrosPerMillion: input, outputMicrosPerMillion: output } = price;
  const reply = await operator.get(200, 'POST', '/operator/providers/keyed/test', { reason: 'before the launch' });
  const { totalMs, firstByteMs, ...facts } = reply;
  assert.ok(Number(totalMs) >= Number(firstByteMs));
  assert.deepEqual(facts, {
    provider: 'keyed',
    providerModel: 'keyed-upstream',
    origin: new URL(upstream.baseUrl).origin,
    outcome: 'answered',
    message: 'It answered.',
    status: null,
    promptTokens: 12,
    completionTokens: 1,
    costMicros: Math.ceil((12 * Number(input) + Number(output)) / 1_000_000),
  });
  const [request, ...others] = upstream.requests.slice(begun);
  assert.deepEqual(others, []);
  assert.equal(request?.headers.authorization, `Bearer ${KEY}`);
  const [line] = await trailOf(operator, 'keyed');
  assert.deepEqual([line?.action, line?.reason], ['provider.test', 'before the launch']);

  upstream.script({ status: 401, body: JSON.stringify({ error: { message: `wrong key ${KEY}` } }) });
  const browser = ownBrowser();
  await browser.open('/ops/provider?name=keyed');
  const shown = await browser.submit('/ops/provider-test?name=keyed', { model: 'other' });
  assertPage(shown, 200, 'keyed', IN_CONSOLE);
  assert.match(mainOf(shown), /unauthorized[^]*does not accept the key `LOOSE_API_KEY` \(401\)\. Check its value/);
  assert.ok(!shown.text.includes(KEY) && !shown.text.includes('wrong key'));
  assertRefusal(await operator.ask('POST', '/operator/providers/none/test', {}), { code: 'NOT_FOUND' });
});

test('MO-11 no catalogue edit sends a key to an unbound host', async () => {
  const file = (await operator.ask('GET', FILE)).body as { providers: Record<string, Record<string, unknown>> };
  const attacks = keyAttacks(file, { keyed: 'keyed', bound: 'bound', variable: 'BOUND_API_KEY' }, elsewhere);
  assert.equal(attacks.length, 21);
  for (const { method, path, body, param } of attacks) {
    const reply = await operator.ask(method, path, body);
    assertRefusal(reply, { code: 'BAD_REQUEST', param }, `${path} ${JSON.stringify(body)}`);
  }
  // What an operator may do leads the key nowhere either: another model, an alias, a provider without the key.
  await operator.get(200, 'PUT', '/operator/providers/mine', { kind: 'openai-compatible', baseUrl: elsewhere });
  const price = { inputMicrosPerMillion: 1, outputMicrosPerMillion: 1 };
  const model = { ...(await entryOf('acme.large-1')), id: 'acme.mine-1', price };
  await operator.get(200, 'PUT', '/operator/models/acme.mine-1', {
    ...model,
    provider: 'mine',
    providerModel: '../..',
  });
  await operator.get(200, 'PUT', '/operator/aliases/mine', { target: 'acme.mine-1' });
  await operator.get(200, 'POST', '/operator/providers/mine/test', {});
  const user = await newUser(1_000_000);
  await callAs(user, { model: 'mine' });
  assert.ok(stolen.length >= 2);
  assert.ok(!stolen.join().includes(KEY) && !stolen.join().includes('authorization'), stolen.join());
  stolen.length = 0;

  // A row that was planted in the database is refused by each process when it makes the client.
  const planted = JSON.stringify({
    kind: 'openai-compatible',
    baseUrl: elsewhere,
    apiKey: 'bound',
    onAbandon: 'cancel',
  });
  await sql(service)`update catalogue.providers set definition = ${planted} where name = 'mine'`;
  const tested = await operator.get(200, 'POST', '/operator/providers/mine/test', {});
  assert.equal(tested['outcome'], 'no-key');
  assert.deepEqual(stolen, []);
});

const entryAt = (baseUrl: string) => JSON.stringify({ kind: 'openai-compatible', baseUrl, apiKey: 'bound' });

test('MO-11 changing a provider’s host asks for the key anew', async () => {
  const browser = ownBrowser();
  const put = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };
  await operator.get(200, 'PUT', '/operator/providers/asked', { ...put, baseUrl: 'http://127.0.0.1:10/v1' });
  const page = '/ops/provider?name=asked';
  await browser.open(page);
  const asked = await browser.submit(page, { entry: entryAt(put.baseUrl), reason: 'moves' });
  assertPage(asked, 400, 'asked', IN_CONSOLE);
  assert.match(mainOf(asked), /the key bound, would go to http:\/\/127\.0\.0\.1:9/);
  const thief = await browser.submit(page, { entry: entryAt(elsewhere), keyAgain: 'bound', reason: 'moves' });
  assertPage(thief, 400, 'asked', IN_CONSOLE);
  assert.match(mainOf(thief), /must not be sent to/);
  const shown = await browser.submit(page, { entry: entryAt(put.baseUrl), keyAgain: 'bound', reason: 'moves' });
  assert.match(mainOf(shown), /Nothing has been saved yet/);
  assertPage(await browser.submit(page), 200, 'asked', IN_CONSOLE);
  assert.deepEqual(stolen, []);
});
