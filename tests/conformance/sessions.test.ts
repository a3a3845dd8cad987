import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chargeFor } from '../support/catalogue.ts';
import { chat, type Reply, send } from '../support/client.ts';
import { newOperator, newOwnApp, newOwner } from '../support/control.ts';
import { assertPage, IN_CONSOLE, mainOf, operatorBrowser, signedInBrowser } from '../support/page.ts';
import { peopleOf } from '../support/people.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { startSecondGateway } from '../support/service.ts';
import { SHARED_SECRET } from '../support/keys.ts';
import { sql } from '../support/sql.ts';
import { setStage } from '../support/stage.ts';
import { statementsOf } from '../support/statements.ts';
import { waitUntil } from '../support/wait-until.ts';
import { ask, eachWire } from '../support/wires.ts';

/** Sessions that coding agents name, and the wire of a call (CP-19). */

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
const CHARGE = chargeFor({ prompt: 100, completion: 10 });
const CODEX = { 'session-id': '0199ad41-5a10-7cc2-9f43-0c3b1f2e6a11', 'user-agent': 'codex_exec/0.171.0 (Linux)' };
const CLAUDE = { 'x-claude-code-session-id': 'c1a7', 'user-agent': 'claude-cli/2.1.332 (external, sdk-cli)' };

const stage = await setStage({ checksBooks: true, environment: SHARED_SECRET });
const { service, upstream } = stage;
const { owner: database } = service.database;
upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
const owner = await newOwner(service);
const app = await newOwnApp(owner);
const { newWalletOwner } = peopleOf(stage);

let users = 0;
async function newUser(): Promise<string> {
  const user = `agent-${(users += 1)}`;
  await service.fund(app, user, 10_000_000);
  return user;
}

function call(user: string, headers: Readonly<Record<string, string>>, key = app.liveKey): Promise<Reply> {
  return chat({ url: service.url, key, user, headers });
}

type Trace = Readonly<Record<string, unknown>>;
const tracesOf = async (query: string): Promise<readonly Trace[]> =>
  (await owner.get(200, 'GET', `/apps/${app.appId}/latest-calls?${query}`))['traces'] as readonly Trace[];

interface CountedSession {
  readonly name: string;
  readonly client: string | null;
  readonly calls: number;
  readonly charged: number;
}

/** The sessions of a user, and the same of receipts: they never differ. */
async function sessionsOf(user: string) {
  const counted = await sql<CountedSession>(database)`
    select s.name, s.client, s.calls::int as calls, s.charged_micros::int as charged
    from usage.sessions s join ledger.wallets w using (wallet_id) where w.user_id = ${user} order by s.session_id`;
  const derived = await sql(database)`
    select s.name, s.client, count(*)::int as calls, sum(c.charged_micros)::int as charged
    from usage.calls c join usage.session_calls n using (call_id) join usage.sessions s using (session_id)
    join ledger.wallets w on w.wallet_id = c.wallet_id where w.user_id = ${user}
    group by s.session_id order by s.session_id`;
  assert.deepEqual(counted, derived);
  return counted;
}

eachWire.test('CP-19 WI-01 a call keeps its session and wire', async (wire) => {
  const user = await newUser();
  const name = { 'chat completions': 'chat', Responses: 'responses', Messages: 'messages' }[wire.name];
  const to = { url: service.url, key: app.liveKey, user };
  const named = await ask(wire, { ...to, headers: CODEX });
  assert.equal(named.status, 200, named.text);
  assert.equal((await ask(wire, to)).status, 200);
  assert.deepEqual(await sessionsOf(user), [{ name: CODEX['session-id'], client: 'codex', calls: 1, charged: CHARGE }]);
  const traces = await waitUntil('both are traced', async () => {
    const found = await tracesOf(`userId=${user}`);
    return found.length === 2 && found;
  });
  assert.deepEqual(
    traces.map(({ wire, session }) => [wire, session]),
    [
      [name, null],
      [name, CODEX['session-id']],
    ],
  );
  const callId = named.headers.get('x-service-call-id') ?? '';
  const receipt = await owner.get(200, 'GET', `/apps/${app.appId}/calls/${callId}`);
  assert.deepEqual([receipt['session'], receipt['wire']], [CODEX['session-id'], name]);
  const own = await send(`/calls/${callId}`, { url: service.url, key: app.liveKey, user });
  assert.deepEqual([own.body['session'], own.body['wire']], [CODEX['session-id'], name], own.text);
});

test('CP-19 what is no name of a session is ignored', async () => {
  const user = await newUser();
  const odd = ['', ' ', 'a b', 'x'.repeat(129), 'caf\u00e9', 'a, b'];
  for (const name of odd) assert.equal((await call(user, { 'session-id': name })).status, 200, name);
  assert.deepEqual(await sessionsOf(user), []);
  const kept = ['x'.repeat(128), `'"\\,(){}`, 'null'];
  for (const name of kept) assert.equal((await call(user, { 'x-session-id': name })).status, 200, name);
  assert.deepEqual(
    (await sessionsOf(user)).map(({ name, client }) => [name, client]),
    kept.map((name) => [name, null]),
  );
});

test('CP-19 a session joins no calls and changes no charge', async () => {
  const user = await newUser();
  const all = await Promise.all(Array.from({ length: 12 }, () => call(user, CLAUDE)));
  assert.deepEqual(
    all.map(({ status, headers }) => [status, headers.get('x-service-charge-micros')]),
    all.map(() => [200, String(CHARGE)]),
  );
  upstream.script({ status: 400, body: '{"error":{"message":"no"}}' });
  assert.equal((await call(user, CLAUDE)).status, 502);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) });
  assert.deepEqual(await sessionsOf(user), [{ name: 'c1a7', client: 'claude-code', calls: 12, charged: 12 * CHARGE }]);
});

test('CP-19 calls that are not kept have no session', async () => {
  const forgetful = await startSecondGateway(service, { ...SHARED_SECRET, PURSER_CALL_LOOKUP_DAYS: '0' });
  const user = await newUser();
  const reply = await chat({ url: forgetful.url, key: app.liveKey, user, headers: CODEX });
  assert.equal(reply.status, 200, reply.text);
  assert.deepEqual(await sessionsOf(user), []);
});

test('CP-19 an owner sees the sessions of users and test users', async (t) => {
  const browser = await signedInBrowser(service, owner.email);
  const statements = statementsOf(t);
  const user = await newUser();
  for (let at = 0; at < 27; at += 1) await call(user, { 'session-id': `s-${at}`, 'user-agent': CLAUDE['user-agent'] });
  const path = `/console/${app.appId}/sessions?user=${user}`;
  const first = await browser.open(path);
  assertPage(first, 200, `Sessions of ${user}`, IN_CONSOLE);
  assert.deepEqual([...mainOf(first).matchAll(/>s-(\d+)</g)].length, 25);
  assert.match(mainOf(first), />Claude Code<\/a><br>\s*<span class="soft"><code>s-26</);
  const older = /href="([^"]*before=[^"]*)"/.exec(first.text)?.[1]?.replaceAll('&#38;', '&') ?? '';
  const made = await statements(async () => {
    assert.deepEqual(
      [...mainOf(await browser.open(older)).matchAll(/>s-(\d+)</g)].map(([, at]) => at),
      ['1', '0'],
    );
  });
  assert.ok(made <= 10, `${made} statements`);

  const calls = await waitUntil('it is traced', async () => {
    const shown = mainOf(await browser.open(`/console/${app.appId}/calls?user=${user}&session=s-2`));
    return shown.split('<tr>').length === 3 && shown;
  });
  assert.match(calls, /name="session" value="s-2"/);
  const [trace] = await tracesOf(`userId=${user}&session=s-2`);
  const one = mainOf(await browser.open(`/console/${app.appId}/call?id=${String(trace?.['callId'])}`));
  assert.match(one, />Interface<[^]*>Chat completions<[^]*session=s-2"><code>s-2</);
  assertPage(await browser.open(`/console/${app.appId}/sessions?user=nobody`), 404, 'No such user', IN_CONSOLE);

  const operator = await newOperator(service);
  const ops = operatorBrowser(service, operator);
  assert.match(mainOf(await ops.open(`/ops/call?id=${String(trace?.['callId'])}`)), />Chat completions<[^]*<code>s-2</);

  await call('tester', CLAUDE, app.testKey);
  await call('tester', CLAUDE, app.testKey);
  const play = mainOf(await browser.open(`/console/${app.appId}/sessions?user=tester&mode=sandbox`));
  const [counted] = await sql(
    database,
  )`select calls::int as calls, charged_micros::int as charged from sandbox.sessions`;
  const traced = await waitUntil('both are traced', async () => {
    const found = await tracesOf('mode=sandbox&userId=tester&session=c1a7');
    return found.length === 2 && found;
  });
  const sum = traced.reduce((all, { chargedMicros }) => all + Number(chargedMicros), 0);
  assert.deepEqual(counted, { calls: 2, charged: sum });
  assert.match(play, /<span class="soft"><code>c1a7</);
});

test('CP-19 a person sees, exports and deletes their sessions', async () => {
  const person = await newWalletOwner();
  const user = await newUser();
  const path = `/wallet/${await person.connect(app, user)}`;
  const { browser } = person;
  assert.match(mainOf(await browser.open(`${path}/sessions`)), /No coding agent has named a session/);
  const reply = await call(user, CODEX);
  await call(user, CODEX);
  assert.match((await browser.open(`${path}/agents`)).text, /\/sessions">What sessions/);
  const page = await browser.open(`${path}/sessions`);
  assertPage(page, 200, 'Sessions of coding agents');
  assert.match(
    mainOf(page),
    /<strong>Codex<\/strong><br>\s*<span class="soft"><code title="0199ad41-5a10-7cc2-9f43-0c3b1f2e6a11">0199ad…2e6a11<[^]*>2</,
  );
  const callId = reply.headers.get('x-service-call-id') ?? '';
  assert.match(
    (await browser.open(`${path}?receipt=${callId}`)).text,
    /\/sessions"><code>0199ad41-5a10-7cc2-9f43-0c3b1f2e6a11</,
  );
  const today = new Date().toISOString().slice(0, 10);
  assert.match(
    (await browser.open(`${path}?day=${today}`)).text,
    /Session <code title="0199ad41-5a10[^"]*">0199ad…2e6a11</,
  );
  await waitUntil('both are traced', async () => (await tracesOf(`userId=${user}`)).length === 2);

  await browser.open('/wallet/data');
  const file = await browser.ask('/wallet/data/export', { form: browser.fieldsOf('/wallet/data/export') });
  const [wallet] = (JSON.parse(file.text) as { wallets: { codingSessions: object[]; callTraces: Trace[] }[] }).wallets;
  assert.partialDeepStrictEqual(wallet?.codingSessions, [
    { name: CODEX['session-id'], client: 'codex', calls: 2, chargedMicros: 2 * CHARGE },
  ]);
  assert.partialDeepStrictEqual(wallet?.callTraces[0], { wire: 'chat', session: CODEX['session-id'] });

  // A deletion releases each wallet in the same way.
  const operator = await newOperator(service);
  const release = `/operator/apps/${app.appId}/wallets/${user}/release`;
  await operator.get(200, 'POST', release, { reason: 'the wrong person' });
  assert.deepEqual(await sessionsOf(user), []);
  assert.deepEqual(
    (await tracesOf(`userId=${user}`)).map(({ session }) => session),
    [null, null],
  );
  assert.equal((await owner.get(200, 'GET', `/apps/${app.appId}/calls/${callId}`))['session'], undefined);
});
