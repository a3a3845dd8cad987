import assert from 'node:assert/strict';
import { linkSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { createSessions } from '../../examples/chat/sessions.ts';
import { layOutExample, whenReady } from '../support/example.ts';
import { accountsFile, userOf, visitorsOf } from '../support/example-visitors.ts';
import { streamSteps } from '../support/scripted-upstream.ts';
import { sql } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';

/** Faults and endings in the example, over plain HTTP. */

const stage = await setStage({ model: { timeoutMs: 60_000 } }); // So that the timeout does not end an abandoned call.
const { service, app, upstream } = stage;
const dataDirectory = mkdtempSync(path.join(os.tmpdir(), 'purser-example-'));
after(() => rmSync(dataDirectory, { recursive: true, force: true }));
const startExample = await layOutExample();
const example = await whenReady(
  startExample({
    PURSER_URL: service.url,
    PURSER_API_KEY: app.liveKey,
    PURSER_DATA_DIR: dataDirectory,
    CHAT_MODEL: 'large',
  }),
);
const { ask, signIn, say, follow } = visitorsOf(example, dataDirectory);
const QUESTION = 'A question that nobody else may read';
const LOGGED = /^(An answer failed|POST failed) (\{.*\})$/gm;

/** The correlation id that names a call in the service's logs. */
function correlationId(given: unknown): unknown {
  assert.match(String(given), /^cor_\w{22}$/);
  return given;
}

/** What has been logged of faults since, with `what` and the facts. */
function loggedSince(length: number): readonly unknown[] {
  return [...example.said().slice(length).matchAll(LOGGED)].map(([, what, facts = '']) => [what, JSON.parse(facts)]);
}

test('BI-02 the example refuses names that Purser would not show', async () => {
  const dullest = { password: 'correct horse' };
  const refused = [
    '\u202eannA',
    'An\u2066na',
    'An\tna',
    'An\u0000na',
    'An\u2028na',
    '\u200b',
    '\u2800',
    ' ',
    'x'.repeat(81),
  ];
  for (const name of refused) {
    const reply = await ask('POST', '/sign-in', { body: String(new URLSearchParams({ name, ...dullest })) });
    assert.equal(reply.status, 422, JSON.stringify(name));
    assert.match(reply.text, /<p class="alert" role="alert">Enter a name /);
  }
  await sql(service)`update accounts.apps set redirect_uris = ${[`${example.url}/back`]} where app_id = ${app.appId}`;
  for (const name of ['\u0627\u0646\u0627', 'Zoë\u200d', ' Anna\n', 'x'.repeat(80)]) {
    const { cookie } = await signIn(name);
    const { status, text } = await ask('POST', '/connect', { cookie });
    assert.equal(status, 200, `${JSON.stringify(name)}: ${text}`);
  }
});

test('OP-18 ending an example session leaves others open', async () => {
  const { cookie, user } = await signIn('Sessions');
  await service.fund(app, user, 1_000_000);
  const elsewhere = (await signIn('Sessions')).cookie;
  const pages = [await follow(cookie), await follow(cookie)];
  const other = await follow(elsewhere);
  const { promise, resolve } = Promise.withResolvers<void>();
  const before = upstream.requests.length;
  upstream.script({ body: [{ waitFor: promise }] });
  const answer = say(cookie, QUESTION);
  await upstream.arrival(before);
  await ask('POST', '/sign-out', { cookie });
  assert.equal((await answer).text, '', 'a user who has left gets nothing');
  await waitUntil('the pages of the session have ended', () => pages.every((page) => page.isOver()));
  resolve();
  assert.equal(other.isOver(), false);
  const anew = await signIn('Somebody else', elsewhere);
  await waitUntil('the page of the earlier session has ended', () => other.isOver());
  assert.equal((await ask('GET', '/balance', { cookie: elsewhere })).status, 401);
  assert.equal((await ask('GET', '/balance', anew)).status, 200);
});

test('OP-18 an example session ends after twelve hours', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const sessions = createSessions(false);
  const cookie = sessions.open({ name: 'Anna', userId: 'chat_1' });
  const session = sessions.of(cookie.split(';')[0]);
  const hours = 60 * 60 * 1_000;
  t.mock.timers.tick(12 * hours - 1);
  assert.equal(session?.over.aborted, false);
  assert.equal(sessions.of(cookie.split(';')[0]), session);
  t.mock.timers.tick(1);
  assert.equal(session?.over.aborted, true);
  assert.equal(sessions.of(cookie.split(';')[0]), undefined);
});

test('SDK-02 the example logs only the correlation id of a failed call', async () => {
  const { cookie, user } = await signIn('Logged');
  await service.fund(app, user, 1_000_000);
  const start = example.said().length;
  const [head, ...rest] = streamSteps({ model: 'm', pieces: ['So far'], includeUsageChunk: false });
  assert.ok(head !== undefined && rest.length > 0);
  upstream.script({ body: [head, { destroy: true }] });
  await say(cookie, QUESTION);
  await service.setWallet(app, user, 'is_suspended = true');
  const blocked = await say(cookie, QUESTION);
  assert.match(blocked.text, /^\{"type":"failed","message":"Your wallet is blocked, /);
  await sql(service)`update accounts.apps set redirect_uris = '{}' where app_id = ${app.appId}`;
  assert.equal((await ask('POST', '/connect', { cookie })).status, 500);
  const logged = loggedSince(start) as readonly [string, Readonly<Record<string, unknown>>][];
  assert.deepEqual(logged, [
    [
      'An answer failed',
      { name: 'Error', code: 'UPSTREAM_PROVIDER_ERROR', correlationId: correlationId(logged[0]?.[1]['correlationId']) },
    ],
    [
      'An answer failed',
      {
        name: 'PaymentRequiredError',
        code: 'WALLET_SUSPENDED',
        correlationId: correlationId(logged[1]?.[1]['correlationId']),
      },
    ],
    [
      'POST failed',
      { name: 'ServiceApiError', code: 'BAD_REQUEST', correlationId: correlationId(logged[2]?.[1]['correlationId']) },
    ],
  ]);
  for (const secret of [app.liveKey, QUESTION, 'So far', user, cookie.split('=')[1] ?? '']) {
    assert.ok(!example.said().includes(secret), 'said too much');
  }
});

test('OP-18 the example replaces its accounts file by renaming', async () => {
  await signIn('Before');
  const file = accountsFile(dataDirectory);
  const asItWas = path.join(dataDirectory, 'as-it-was.json');
  linkSync(file, asItWas);
  const before = readFileSync(file, 'utf8');
  await signIn('After');
  assert.equal(readFileSync(asItWas, 'utf8'), before, 'the old file was written to');
  assert.notEqual(userOf(dataDirectory, 'After'), '');
  assert.deepEqual(readdirSync(dataDirectory).toSorted(), ['as-it-was.json', path.basename(file)]);
});
