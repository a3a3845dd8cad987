import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { chat, COMPLETIONS, type Reply, send } from '../support/client.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { createGate } from '../support/gate.ts';
import { openStream } from '../support/open-stream.ts';
import { exchangeRaw } from '../support/raw-http.ts';
import {
  completionBody,
  frame,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamScript,
} from '../support/scripted-upstream.ts';
import { createTestGround, REDIRECT_URI, type TestApp, type TestGround } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { filesOf, spoolIn, untilEmpty } from '../support/spool.ts';
import { sql } from '../support/sql.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Words that must stay where they belong, one for each place; its name says which place. */
const CANARY = {
  prompt: 'cnry-prompt-5f1',
  toolArguments: 'cnry-arguments-c02',
  schema: 'cnry-schema-77d',
  metadata: 'cnry-metadata-9e0',
  badValue: 'cnry-value-31b',
  badKey: 'svc_live_cnryKey4c2',
  completion: 'cnry-completion-e88',
  providerText: 'cnry-provider-text-64a',
  providerHeader: 'cnry-provider-header-b17',
  providerKey: 'cnry-provider-key-d90',
  secret: 'cnry-secret-a35-long-enough-to-sign-with-it',
  metricsToken: 'cnry-token-f26-long',
  user: 'cnry-user-08e',
  redirect: 'cnry-redirect-6d2.test',
  state: 'cnry-state-b83',
  label: 'cnry-label-f09',
} as const;

/** A model whose provider has a second for each part of its answer. */
const HASTY = 'acme.hasty-1';

let upstream: ScriptedUpstream;
let ground: TestGround;
let proxy: DatabaseProxy;
let service: ServiceProcess;
let app: TestApp;
let directory: string;

before(async () => {
  upstream = await startScriptedUpstream();
  const { providers, models, ...rest } = catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 });
  const hasty = { ...models[0], id: HASTY, timeoutMs: 1_000 };
  const provider = { ...providers.upstream, apiKeyEnv: 'CANARY_PROVIDER_KEY' };
  const catalogue = { ...rest, providers: { upstream: provider }, models: [...models, hasty] };
  ground = await createTestGround(catalogue);
  app = await ground.addApp();
  await ground.fund(app, CANARY.user, 1_000_000_000);
  proxy = await startDatabaseProxy(ground.database.url);
  directory = mkdtempSync(path.join(os.tmpdir(), 'purser-canary-'));
  const environment = {
    PURSER_ENV: 'production',
    PURSER_LOG_LEVEL: 'debug',
    PURSER_SECRET: CANARY.secret,
    PURSER_PUBLIC_URL: 'https://purser.test',
    PURSER_METRICS_TOKEN: CANARY.metricsToken,
    CANARY_PROVIDER_KEY: CANARY.providerKey,
  };
  service = await startServiceProcess({ dataDirectory: directory, catalogue, databaseUrl: proxy.url, environment });
});

after(async () => {
  await service.stop();
  await proxy.close();
  await ground.close();
  await upstream.close();
  rmSync(directory, { recursive: true, force: true });
});

/** Every secret: the words above, both keys, and the database password. */
function secrets(): Readonly<Record<string, string>> {
  const password = new URL(ground.database.url).password;
  assert.ok(password.length >= 8);
  return { ...CANARY, liveKey: app.liveKey, testKey: app.testKey, password };
}

function findAll(text: string, allowed: readonly string[] = []): readonly string[] {
  const found = Object.entries(secrets()).filter(([name, secret]) => text.includes(secret) && !allowed.includes(name));
  return found.map(([name]) => name);
}

const HELD = { headers: { 'x-request-id': CANARY.providerHeader, 'set-cookie': CANARY.providerHeader } };
const ERROR = { error: { message: CANARY.providerText, type: CANARY.providerText, code: CANARY.providerText } };
const USAGE = { prompt_tokens: 3, completion_tokens: 3 };
const FACTS = { model: CANARY.providerText, usage: USAGE };
const STEPS = streamSteps({ ...FACTS, pieces: [CANARY.completion], includeUsageChunk: true });
const asEvents = { headers: { ...HELD.headers, 'content-type': 'text/event-stream' } };

const HANGING = { ...asEvents, body: [...STEPS.slice(0, 2), { hang: true }] } as const;
/** Everything that a provider may do wrong, with its own words in it. */
const FAILURES: readonly UpstreamScript[] = [
  ...[302, 400, 401, 403, 404, 418, 429, 500, 503, 529].map((status) => ({
    ...HELD,
    status,
    body: JSON.stringify(ERROR),
  })),
  { ...HELD, body: CANARY.providerText },
  { ...HELD, body: JSON.stringify(ERROR) },
  { ...HELD, body: JSON.stringify({ choices: [{ message: CANARY.completion }] }) },
  { ...HELD, body: Buffer.from([...Buffer.from(CANARY.completion), 0xff]) },
  { ...asEvents, body: [...STEPS.slice(0, 2), { write: frame(ERROR) }] },
  { ...asEvents, body: [...STEPS.slice(0, 2), { write: `data: ${CANARY.providerText}\n\n` }] },
  { ...asEvents, body: [...STEPS.slice(0, 2), { write: `event: error\nid: ${CANARY.providerText}\ndata: {}\n\n` }] },
  { ...asEvents, body: [...STEPS.slice(0, 2), { write: Buffer.from([0x64, 0xff, 0xfe, 0x0a, 0x0a]) }] },
  { ...asEvents, body: STEPS.slice(0, 2) },
  { ...asEvents, body: [...STEPS.slice(0, 2), { destroy: true }] },
  HANGING,
  { ...asEvents, body: [{ destroy: true }] },
];

let asked = 0;

/** Sends as much as a caller can: texts, arguments, schemas, parameters that are not forwarded. No two are equal (CC-15). */
function question(stream: boolean): Readonly<Record<string, unknown>> {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: CANARY.toolArguments } };
  return {
    model: 'large',
    stream,
    messages: [
      { role: 'user', content: CANARY.prompt },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'c', content: CANARY.toolArguments },
    ],
    tools: [{ type: 'function', function: { name: 'f', parameters: { description: CANARY.schema } } }],
    metadata: { note: CANARY.metadata },
    user: CANARY.metadata,
    seed: (asked += 1),
  };
}

function ask(stream: boolean, fields: Readonly<Record<string, unknown>> = {}): Promise<Reply> {
  return chat({ url: service.url, key: app.liveKey, user: CANARY.user }, { ...question(stream), ...fields });
}

/**
 * Asserts that head and body of an answer are clean. After the status, the caller may find only generated text in it.
 */
function assertClean(reply: Reply, allowed: readonly string[]): void {
  assert.deepEqual(findAll(JSON.stringify([...reply.headers])), [], 'headers');
  assert.deepEqual(findAll(reply.text, allowed), [], reply.text);
}

test('ER-03 no provider failure shows the provider’s or the caller’s words', async () => {
  for (const script of FAILURES) {
    upstream.script(script);
    for (const stream of [false, true]) {
      const reply = await ask(stream, script === HANGING ? { model: HASTY } : {});
      assertClean(reply, reply.status === 200 && stream ? ['completion'] : []);
    }
  }
});

test('ER-03 no refusal repeats a key, value or text sent', async () => {
  const fields = [
    { temperature: CANARY.badValue },
    { stop: { a: CANARY.badValue } },
    { tools: [CANARY.badValue] },
    { messages: [{ role: CANARY.badValue, content: CANARY.prompt }] },
    { messages: [{ role: 'user', content: [{ type: CANARY.badValue, text: CANARY.prompt }] }] },
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: CANARY.badValue } }] }] },
    { unheard_of: CANARY.badValue },
    { model: 'secret', messages: [{ role: 'user', content: CANARY.prompt }] },
  ];
  for (const field of fields) assertClean(await ask(false, field), []);
  for (const body of [`{"${CANARY.prompt}`, `[${CANARY.prompt}]`, `"${CANARY.prompt}"`, Buffer.from([0xff, 0x22])]) {
    assertClean(await send(COMPLETIONS, { url: service.url, key: app.liveKey, user: CANARY.user, body }), []);
  }
  const keys = [CANARY.badKey, `${app.liveKey}x`, app.liveKey.slice(0, -1)];
  for (const key of keys) assertClean(await send('/balance', { url: service.url, key, user: CANARY.user }), []);
  assertClean(await send('/balance', { url: service.url, key: app.testKey, user: CANARY.user }), []);
  const asked = { redirectUri: `https://${CANARY.redirect}/`, state: CANARY.state, userLabel: CANARY.label };
  for (const body of [asked, { ...asked, redirectUri: REDIRECT_URI }]) {
    for (const key of [app.liveKey, app.testKey]) {
      assertClean(await send('/connect', { url: service.url, key, user: CANARY.user, body }), []);
    }
  }
  const raw = await exchangeRaw(service.url, `GET /${CANARY.prompt} ${CANARY.badValue}\r\n${CANARY.badKey}\r\n\r\n`);
  assert.deepEqual(findAll(raw.text), []);
  for (const token of [CANARY.badKey, '']) {
    assertClean(await send('/metrics', { url: service.url, key: token }), []);
  }
});

test('ER-03 spooled settlements and outage logs contain no word of a call', async () => {
  const gate = createGate();
  upstream.script(({ body }) => {
    const isStream = (body as { stream?: boolean }).stream === true;
    if (isStream) return { body: [...STEPS.slice(0, 2), { waitFor: gate.opened }, ...STEPS.slice(2)] };
    const whole = completionBody({ ...FACTS, content: CANARY.completion });
    return { headers: { 'content-type': 'application/json' }, body: [{ waitFor: gate.opened }, { write: whole }] };
  });
  const next = upstream.requests.length;
  const plain = ask(false);
  const stream = await openStream({ url: service.url, key: app.liveKey, user: CANARY.user }, question(true));
  await upstream.arrival(next + 1);
  proxy.reset();
  gate.open();
  assert.ok((await stream.whole()).endsWith('data: [DONE]\n\n'));
  assert.equal((await plain).status, 200);
  const spooled = filesOf(spoolIn(directory));
  assert.ok(spooled.length > 0);
  for (const { text } of spooled) assert.deepEqual(findAll(text), [], text);
  assertClean(await ask(false), []); // The database is away: the answer is the fixed sentence.
  proxy.restore();
  await untilEmpty(spoolIn(directory));
});

test('ER-03 metrics, logs and tables contain no word of a call', async () => {
  const { balance } = await ground.wallet(app, CANARY.user);
  assert.ok(balance < 1_000_000_000, 'nothing was charged, so this would prove nothing');
  const metrics = await send('/metrics', { url: service.url, key: CANARY.metricsToken });
  assert.equal(metrics.status, 200);
  assertClean(metrics, []);
  await waitUntil('nothing is held', async () => (await ground.wallet(app, CANARY.user)).held === 0);
  const tables = await sql<{ name: string }>(ground)`select format('%I.%I', schemaname, tablename) as name
    from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`;
  for (const { name } of tables) {
    const { rows } = await ground.database.owner.query<{ row: string }>(`select t::text as row from ${name} t`);
    const found = new Set(rows.flatMap(({ row }) => findAll(row, ['user'])));
    assert.deepEqual([...found], [], name);
  }
  await service.stop();
  const said = service.said();
  for (const event of ['the provider failed a call', 'a stream ended early']) assert.ok(said.includes(event), event);
  assert.deepEqual(findAll(said), [], said.slice(0, 2_000));
});
