import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../../support/client.ts';
import { newOperator } from '../../support/control.ts';
import { assertPage, IN_CONSOLE, mainOf, openBrowser } from '../../support/page.ts';
import { PRICE_LIST } from '../../support/price-list.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { trailOf } from '../../support/trail.ts';

/** Files that operators send to the pages of the catalogue (MO-10), and whom a change concerns. */

const { service, upstream, app } = await setStage({
  environment: { PURSER_CURRENCY: 'USD' },
  catalogue: ({ providers, models, aliases }) => ({
    providers: { ...providers, openai: { kind: 'openai-compatible', baseUrl: 'https://api.openai.com/v1' } },
    models: [...models, { ...models[0], id: 'openai.mini', provider: 'openai', providerModel: 'gpt-4.1-mini' }],
    aliases,
  }),
});
const operator = await newOperator(service);
const FILE = '/operator/catalogue';
const PAGE = '/ops/catalogue-import';

interface File {
  readonly models: readonly (Readonly<Record<string, unknown>> & { readonly id: string })[];
  readonly providers: Readonly<Record<string, object>>;
  readonly aliases: Readonly<Record<string, string>>;
}

const read = async () => (await operator.get(200, 'GET', FILE)) as unknown as File;

/** Sends a file by one of the two forms of the page, and shows where that leads. */
async function sendFile(kind: 'list' | 'catalogue', text: string, fields: Readonly<Record<string, string>> = {}) {
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', String(operator.token));
  await browser.open(PAGE);
  const form = new FormData();
  const proof = browser.fieldsOf(PAGE)['form'] ?? '';
  for (const [name, value] of Object.entries({ form: proof, kind, ...fields })) form.set(name, value);
  form.set('file', new Blob([text]), 'file.json');
  const response = await fetch(service.url + PAGE, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: 'https://purser.test', cookie: `__Host-purser-session=${operator.token}` },
    body: form,
  });
  return { browser, status: response.status, to: response.headers.get('location') ?? '', text: await response.text() };
}

test('MO-10 a person compares a price list and applies its changes', async () => {
  const sent = await sendFile('list', JSON.stringify(PRICE_LIST));
  assert.equal(sent.status, 303, sent.text);
  const before = await read();
  const draft = await sent.browser.open(sent.to);
  assertPage(draft, 200, 'What the file changes', IN_CONSOLE);
  for (const words of [
    'Model openai.mini: changed',
    'price.inputMicrosPerMillion',
    '1000000',
    '400000',
    'NEW PRICE',
    'A typical call',
    'No app has called it',
  ]) {
    assert.ok(mainOf(draft).includes(words), `${words} in ${mainOf(draft)}`);
  }
  assert.deepEqual(await read(), before);
  const done = await sent.browser.submit(sent.to.replace('https://purser.test', ''), { reason: 'the new list' });
  assertPage(done, 200, 'Catalogue', IN_CONSOLE);
  assert.match(done.text, /The catalogue was changed/);
  const changed = (await read()).models.find(({ id }) => id === 'openai.mini');
  const rates = {
    inputMicrosPerMillion: 400_000,
    cachedInputMicrosPerMillion: 100_000,
    outputMicrosPerMillion: 1_600_000,
  };
  assert.deepEqual(changed?.['price'], rates);
  const [line] = await trailOf(operator, 'catalogue');
  assert.deepEqual([line?.action, line?.reason], ['catalogue.replace', 'the new list']);
  assertPage(await sent.browser.open(sent.to), 404, 'What the file changes', IN_CONSOLE);
  const again = await sendFile('list', JSON.stringify(PRICE_LIST));
  assert.equal(again.status, 200);
  assert.match(again.text, /No new price/);
});

test('MO-10 an outdated comparison or a bad file is not applied', async () => {
  const list = structuredClone(PRICE_LIST);
  list.openai.models['gpt-4.1-mini'].cost = { input: 0.4, output: 1.61, cache_read: 0.1 };
  const sent = await sendFile('list', JSON.stringify(list), { from: '2100-01-01' });
  assert.equal(sent.status, 303, sent.text);
  await operator.get(200, 'PUT', '/operator/aliases/between', { target: 'acme.large-1' });
  assertPage(await sent.browser.open(sent.to), 409, 'What the file changes', IN_CONSOLE);
  for (const [kind, text, words] of [
    ['list', '{', /not valid JSON/],
    ['list', '{}', /no providers with models/],
    ['catalogue', '{"models": 1', /not valid JSON/],
    ['catalogue', '{"providers": {}, "models": [], "extra": 1}', /The catalogue has faults/],
  ] as const) {
    const refused = await sendFile(kind, text);
    assert.equal(refused.status, 400, refused.text);
    assert.match(refused.text, words);
  }
});

test('MO-10 a whole catalogue is shown by entry before replacing the present', async () => {
  const file = await read();
  const models = [...file.models.filter(({ id }) => id !== 'acme.off-1'), { ...file.models[0], id: 'acme.sent-1' }];
  const { off: _off, ...aliases } = file.aliases;
  const padding = ' '.repeat(200_000); // Far more than any other form may have.
  const sent = await sendFile('catalogue', JSON.stringify({ ...file, models, aliases }) + padding);
  assert.equal(sent.status, 303, sent.text);
  const draft = await sent.browser.open(sent.to);
  for (const words of ['Model acme.off-1: removed', 'Model acme.sent-1: added', 'Alias off: removed']) {
    assert.ok(mainOf(draft).includes(words), words);
  }
  // Somebody changes it while the page is open.
  await operator.get(200, 'PUT', '/operator/aliases/meanwhile', { target: 'acme.large-1' });
  const path = sent.to.replace('https://purser.test', '');
  const late = await sent.browser.submit(path, { reason: 'late' });
  assertPage(late, 409, 'What the file changes', IN_CONSOLE);
  assert.ok(mainOf(late).includes('Alias meanwhile: removed'));
  assertPage(await sent.browser.submit(path, { reason: 'seen' }), 200, 'Catalogue', IN_CONSOLE);
  assert.deepEqual(Object.keys((await read()).aliases).includes('meanwhile'), false);
});

test('MO-05 a change page names the first ten apps it affects', async () => {
  await sql(service)`insert into stats.hours (app_id, mode, hour, model, outcome, calls, charged_micros)
    select 'app_concerned_' || n, 'live', date_trunc('hour', now(), 'UTC'), 'acme.secret-1', 'charged', 100 - n, 100 - n
    from generate_series(1, 12) n
    union all select ${app.appId}, 'live', date_trunc('hour', now(), 'UTC'), 'acme.large-1', 'charged', 7, 7`;
  const browser = openBrowser(service.url);
  browser.cookies.set('__Host-purser-session', String(operator.token));
  const price = '/ops/price?id=acme.secret-1&of=';
  await browser.open('/ops/price?id=acme.secret-1');
  const secret = mainOf(await browser.submit(price, { margin: '50', reason: 'dearer' }));
  for (const words of ['12 apps have called it', '1,122 times', '/ops/app?id=app_concerned_10"', 'and 2 more']) {
    assert.ok(secret.includes(words), `${words} in ${secret}`);
  }
  assert.ok(!secret.includes('app_concerned_11'));

  await browser.open('/ops/model?id=openai.mini');
  const alias = mainOf(await browser.submit('/ops/alias?id=openai.mini', { alias: 'large', reason: 'moves' }));
  for (const words of ['now go to acme.large-1', 'A typical call', 'One app has', `/ops/app?id=${app.appId}"`]) {
    assert.ok(alias.includes(words), `${words} in ${alias}`);
  }
  const { aliases } = await read();
  assert.equal(aliases['large'], 'acme.large-1');

  const page = '/ops/provider?name=upstream';
  await browser.open(page);
  const definition = JSON.stringify({ ...(await read()).providers['upstream'], onAbandon: 'cancel' });
  const provider = mainOf(await browser.submit(page, { entry: definition, reason: 'cancels' }));
  for (const words of [
    '/ops/model?id=acme.secret-1"',
    '13 apps have called these models',
    'and 3 more',
    'does not affect them',
  ]) {
    assert.ok(provider.includes(words), `${words} in ${provider}`);
  }
});

test('MO-05 a catalogue edit of an older named version is refused', async () => {
  const version = async () => String((await operator.ask('GET', FILE)).headers.get('etag'));
  const edit = (method: string, path: string, match: string, body?: object) =>
    send(path, {
      url: service.url,
      method,
      key: String(operator.token),
      headers: { 'if-match': match },
      ...(body === undefined ? {} : { body }),
    });
  const old = await version();
  const model = { ...(await read()).models[0], id: 'acme.tagged-1' };
  const provider = { kind: 'openai-compatible', baseUrl: 'http://127.0.0.1:9/v1' };
  const edits = [
    ['PUT', '/operator/models/acme.tagged-1', model],
    ['PUT', '/operator/aliases/tagged', { target: 'acme.tagged-1' }],
    ['PUT', '/operator/providers/tagged%2Fone', provider],
    ['DELETE', '/operator/providers/tagged%2Fone'],
    ['DELETE', '/operator/aliases/tagged'],
    ['DELETE', '/operator/models/acme.tagged-1'],
  ] as const;
  let tag = old;
  for (const [at, [method, path, body]] of edits.entries()) {
    if (at > 0) assertRefusal(await edit(method, path, old, body), { code: 'CONFLICT' }, path);
    const done = await edit(method, path, tag, body);
    assert.ok([200, 204].includes(done.status), `${method} ${path}: ${done.text}`);
    tag = String(done.headers.get('etag'));
    assert.notEqual(tag, old);
    assert.equal(tag, await version());
  }
  assertRefusal(await edit('PUT', FILE, old, (await operator.ask('GET', FILE)).body), { code: 'CONFLICT' });
});

/** What the test of a provider has shown. */
const tested = async (name: string): Promise<string> => {
  const { outcome, message } = await operator.get(200, 'POST', `/operator/providers/${name}/test`, {
    providerModel: 'gpt-x',
  });
  return `${String(outcome)}: ${String(message)}`;
};

test('CP-05 WI-11 a provider of embeddings is tested by a vector', async () => {
  await operator.get(200, 'PUT', '/operator/providers/vectors', {
    kind: 'openai-compatible',
    baseUrl: upstream.baseUrl,
    apis: ['embeddings'],
  });
  upstream.script({ body: '{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":1,"total_tokens":1}}' });
  assert.match(await tested('vectors'), /^answered: /);
  assert.equal(upstream.requests.at(-1)?.path, '/v1/embeddings');
  assert.deepEqual(upstream.requests.at(-1)?.body, { model: 'gpt-x', input: 'Hello' });
  upstream.script({ status: 503, body: '{}' });
  assert.match(await tested('vectors'), /^outage: /);
});

test('CP-05 a provider test says in words how to fix its failure', async () => {
  for (const [status, words, headers] of [
    [401, /^unauthorized: The provider requires a key \(401\), and its entry does not name one/],
    [402, /^unauthorized: .*\(402\)\. Check .* whether your account has credit/],
    [404, /^rejected: The provider does not know the model `gpt-x`.*\(404\)\. Check the name/],
    [429, /^throttled: .* limits the calls of your account \(429\)\. Test it again in 7 s/, { 'retry-after': '7' }],
    [503, /^outage: The provider failed \(503\)\. Test it again later/],
    [504, /^timeout: The provider did not answer in time \(504\)\. Check its address, .*firewall/],
  ] as const) {
    upstream.script({ status, body: '{"error":{"message":"Hush"}}', ...(headers === undefined ? {} : { headers }) });
    assert.match(await tested('upstream'), words);
  }
  upstream.script({ body: [{ destroy: true }] });
  assert.match(await tested('upstream'), /^outage: The connection to http:\/\/127\.0\.0\.1:\d+ failed/);
  for (const [baseUrl, words] of [
    [
      'http://127.0.0.1:9/v1',
      /^outage: Nothing is listening at http:\/\/127\.0\.0\.1:9 \(ECONNREFUSED\)\. Check the host and port/,
    ],
    // A label of more than 63 characters: every resolver refuses it without asking a server.
    [
      `http://${'x'.repeat(64)}.test/v1`,
      /^outage: No host with the name in http:\/\/x+\.test was found .* Check the spelling/,
    ],
    [
      upstream.baseUrl.replace('http:', 'https:'),
      /^outage: A secure connection to .* could not be made .* Check its certificate, and `http` or/,
    ],
  ] as const) {
    await operator.get(200, 'PUT', '/operator/providers/failing', { kind: 'openai-compatible', baseUrl });
    assert.match(await tested('failing'), words);
  }
});
