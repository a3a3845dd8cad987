import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deleteOldTraces, selectRecentTraces } from '../../../packages/service/src/calls/traces/queries.ts';
import { chat, type Reply } from '../../support/client.ts';
import { newOperator, newOwnApp, newOwner, type Person } from '../../support/control.ts';
import { openChat } from '../../support/open-chat.ts';
import { scrape } from '../../support/metrics.ts';
import { assertRefusal } from '../../support/refusal.ts';
import { completionBody, streamSteps } from '../../support/scripted-upstream.ts';
import { sql } from '../../support/sql.ts';
import { setStage } from '../../support/stage.ts';
import { waitUntil } from '../../support/wait-until.ts';

/** What became of each chat call: its log line, and its trace for the owner of the app and for operators (CC-19). */

const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const ANSWER = { body: completionBody({ model: 'm', content: 'Hi.', usage: USAGE }) };

const { upstream, service } = await setStage({ environment: { PURSER_CALL_LOOKUP_DAYS: '3' } });
const owner = await newOwner(service);
const operator = await newOperator(service);
const app = await newOwnApp(owner);
const USER = 'anna@example.test'; // An app may name its users by their e-mail addresses.
await service.fund(app, USER, 10_000_000);

type Trace = Readonly<Record<string, unknown>>;

interface Asked {
  readonly key?: string;
  readonly user?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fields?: Readonly<Record<string, unknown>>;
}

let names = 0;

/** One call with a correlation id of its own, and what became of it. */
async function traced({
  key = app.liveKey,
  user = USER,
  headers = {},
  fields = {},
}: Asked): Promise<readonly [Reply, Trace]> {
  const correlationId = `traced-${(names += 1)}`;
  const own = { 'x-correlation-id': correlationId, ...headers };
  const reply = await chat({ url: service.url, key, user, headers: own }, fields);
  return [reply, await traceOf(correlationId)];
}

/** An answered live call, whose receipt and only log line fit each other. */
async function answered({ headers = {}, fields = {} }: Asked): Promise<Reply> {
  const correlationId = `traced-${(names += 1)}`;
  const own = { 'x-correlation-id': correlationId, ...headers };
  const reply = await chat({ url: service.url, key: app.liveKey, user: USER, headers: own }, fields);
  const [receipt] = (await tracesOf(owner, `/apps/${app.appId}/calls?correlationId=${correlationId}`)).calls;
  const callId = reply.headers.get('x-service-call-id');
  assert.deepEqual([receipt?.['callId'], receipt?.['outcome']], [callId, 'answered']);
  const lines = await waitUntil('the line is written', () => {
    const found = service.linesOf(correlationId).filter(({ msg }) => msg === 'call');
    return found.length > 0 && found;
  });
  const { time: _time, durationMs, holdMs, firstByteMs, settleMs, ...said } = lines[0] ?? {};
  assert.ok(Number(holdMs) > 0 && Number(settleMs) > 0, JSON.stringify(lines));
  // Each is rounded, the total to a whole millisecond.
  assert.ok(Number(holdMs) + Number(settleMs) <= Number(durationMs) + 1, JSON.stringify(lines));
  if (fields['stream'] === true) assert.ok(Number(firstByteMs) > 0 && Number(firstByteMs) <= Number(durationMs) + 1);
  else assert.equal(firstByteMs, undefined);
  const facts = {
    appId: app.appId,
    mode: 'live',
    model: 'acme.large-1',
    stream: fields['stream'] === true,
    status: 200,
  };
  const tokens = { promptTokens: 40, completionTokens: 20, chargedMicros: receipt?.['chargedMicros'] };
  const upstream = { provider: 'upstream', providerModel: 'large-upstream' };
  const served = { outcome: 'answered', path: '/v1/chat/completions', upstream, tries: 1 };
  assert.deepEqual(said, { level: 'info', msg: 'call', correlationId, callId, ...facts, ...served, ...tokens });
  assert.equal(lines.length, 1);
  return reply;
}

/** The only trace with this correlation id, which fits the only log line of the call. */
async function traceOf(correlationId: string): Promise<Trace> {
  const [trace, ...others] = await waitUntil('the trace is written', async () => {
    const { traces } = await tracesOf(owner, `/apps/${app.appId}/calls?correlationId=${correlationId}`);
    return traces.length > 0 && traces;
  });
  assert.ok(trace !== undefined && others.length === 0);
  const lines = service.linesOf(correlationId).filter(({ msg }) => msg === 'call');
  assert.equal(lines.length, 1);
  const { time: _time, level: _level, msg: _msg, appId, upstream: asked = null, tries, ...rest } = lines[0] ?? {};
  const { path: _path, holdMs: _holdMs, firstByteMs: _firstByteMs, settleMs: _settleMs, ...said } = rest;
  const { at: _at, userId, param: _param, message: _message, wire, ...told } = trace;
  assert.deepEqual(said, Object.fromEntries(Object.entries(told).filter(([, value]) => value !== null)));
  // A trace names the upstream that failed a call, the line also the one that served it.
  const upstream = said['failure'] === undefined ? null : asked;
  assert.equal(tries, asked === null ? undefined : 1);
  assert.deepEqual([appId, wire], [app.appId, 'chat']);
  assert.ok(!JSON.stringify(lines).includes(USER), 'a log line names no user');
  if (userId !== null) assert.equal(userId, USER);
  assert.ok(Number(trace['durationMs']) >= 0 && Math.abs(Date.parse(String(trace['at'])) - Date.now()) < 60_000);
  const all = await tracesOf(operator, `/operator/calls?correlationId=${correlationId}`);
  // Only operators see the upstream.
  assert.deepEqual(all.traces, [{ appId: app.appId, ...trace, upstream }]);
  return { ...trace, upstream };
}

async function tracesOf(person: Person, path: string): Promise<{ calls: readonly Trace[]; traces: readonly Trace[] }> {
  return (await person.get(200, 'GET', path)) as unknown as { calls: readonly Trace[]; traces: readonly Trace[] };
}

/** The test's only upstream, as operators see it. */
const upstreamOf = (status: number | null) => ({ provider: 'upstream', providerModel: 'large-upstream', status });

const pick = ({ mode, model, stream, outcome, status, code, promptTokens, completionTokens }: Trace) => [
  mode,
  model,
  stream,
  outcome,
  status,
  code,
  promptTokens,
  completionTokens,
];

test('CC-19 an answered call has one log line and a record', async () => {
  upstream.script(ANSWER);
  const plain = await answered({ headers: { 'idempotency-key': 'once' } });
  const callId = plain.headers.get('x-service-call-id');
  const [, replay] = await traced({ headers: { 'idempotency-key': 'once' } });
  assert.deepEqual(pick(replay), ['live', 'acme.large-1', false, 'replayed', 200, null, 0, 0]);
  assert.deepEqual([replay['callId'], replay['chargedMicros']], [callId, 0]);
  const { calls, traces } = await tracesOf(owner, `/apps/${app.appId}/calls?callId=${callId}`);
  const { upstream: nobody, ...told } = replay;
  assert.deepEqual([traces[0], nobody], [told, null]);
  assert.deepEqual(
    traces.map(({ outcome }) => outcome),
    ['replayed', 'answered'],
  );
  assert.deepEqual(calls, [await owner.get(200, 'GET', `/apps/${app.appId}/calls/${callId}`)]);
  const any = await tracesOf(operator, `/operator/calls?callId=${callId}`);
  const served = { provider: 'upstream', providerModel: 'large-upstream' };
  assert.deepEqual([any.traces.length, any.calls], [2, [{ appId: app.appId, ...calls[0], upstream: served }]]);

  upstream.script({ body: streamSteps({ model: 'm', pieces: ['Hi.'], usage: USAGE, includeUsageChunk: true }) });
  await answered({ fields: { stream: true } });
  const [, sandbox] = await traced({ key: app.testKey });
  assert.deepEqual(pick(sandbox).slice(0, 6), ['sandbox', 'acme.large-1', false, 'answered', 200, null]);
});

test('CC-19 a refused call is found by its correlation id, with its code', async () => {
  const cases = [
    [{ user: 'bad user' }, [null, false, 'refused', 400, 'BAD_REQUEST'], null],
    [{ fields: { model: 'none-such' } }, [null, false, 'refused', 400, 'BAD_REQUEST'], null],
    [{ fields: { model: 'acme.secret-1' } }, ['acme.secret-1', false, 'refused', 403, 'MODEL_NOT_ENTITLED'], null],
    [{ fields: { stream: true } }, ['acme.large-1', true, 'refused', 402, 'PAYMENT_REQUIRED'], 'id'],
  ] as const;
  await service.setWallet(app, USER, 'is_connected = false');
  for (const [asked, expected, id] of cases) {
    const [reply, trace] = await traced(asked);
    const { model, stream, outcome, status, code, callId, chargedMicros } = trace;
    assert.deepEqual([model, stream, outcome, status, code], expected, reply.text);
    assert.equal(chargedMicros, 0);
    assert.equal(callId === null, id === null);
  }
  await service.setWallet(app, USER, 'is_connected = true');
});

test('CC-19 failed and abandoned calls say so', async () => {
  upstream.script({ status: 500, body: '' });
  const [, failed] = await traced({});
  assert.deepEqual([failed['failure'], failed['upstream']], ['outage', upstreamOf(500)]);
  assert.ok(
    ((await scrape(service.url)).get('purser_provider_failures_total{provider="upstream",kind="outage"}') ?? 0) > 0,
  );
  assert.deepEqual(pick(failed), ['live', 'acme.large-1', false, 'failed', 502, 'UPSTREAM_PROVIDER_ERROR', 0, 0]);

  const [role, first] = streamSteps({ model: 'm', pieces: ['First piece'], includeUsageChunk: false });
  upstream.script({ body: [role ?? { hang: true }, first ?? { hang: true }, { destroy: true }] });
  const [, broken] = await traced({ fields: { stream: true } });
  assert.deepEqual([broken['failure'], broken['upstream']], ['outage', upstreamOf(null)]);
  assert.deepEqual(pick(broken).slice(2, 6), [true, 'failed', 200, 'UPSTREAM_PROVIDER_ERROR']);

  upstream.script({ body: [role ?? { hang: true }, first ?? { hang: true }, { hang: true }] });
  const body = JSON.stringify({ model: 'large', stream: true, messages: [{ role: 'user', content: 'Hello' }] });
  const leaving = openChat({ url: service.url, key: app.liveKey, user: USER, body, correlationId: 'traced-left' });
  await leaving.read('First');
  leaving.leave();
  const left = await traceOf('traced-left');
  assert.deepEqual(pick(left).slice(2, 5), [true, 'abandoned', 200]);
  assert.ok(Number(left['chargedMicros']) > 0);
});

test('CC-19 a call without a valid key leaves only a log line', async () => {
  const headers = { 'x-correlation-id': 'unknown-key' };
  const reply = await chat({ url: service.url, key: 'svc_nobody', user: USER, headers });
  assertRefusal(reply, { code: 'UNAUTHORIZED', hasLink: false });
  const [line] = await waitUntil('the line is written', async () => {
    const lines = service.linesOf('unknown-key');
    return lines.length > 0 && lines;
  });
  assert.deepEqual(
    [line?.['msg'], line?.['status'], line?.['code'], line?.['appId']],
    ['call', 401, 'UNAUTHORIZED', undefined],
  );
  await traced({ key: app.testKey }); // Written after it, so that row would be there by now.
  assert.deepEqual((await tracesOf(operator, '/operator/calls?correlationId=unknown-key')).traces, []);
});

test('CC-19 old traces are deleted oldest first, a few at a time', async () => {
  const { owner: db } = service.database;
  await Promise.all([1, 2, 3].map(() => traced({ key: app.testKey })));
  const count = async () => (await db.query('select from traces.calls')).rowCount ?? 0;
  const before = await count();
  assert.ok(before > 2);
  await sql(db)`update traces.calls set ended_at = ended_at - interval '2 days'`;
  assert.equal(await deleteOldTraces(db, 3 * 86_400_000, 5_000), 0);
  await sql(db)`update traces.calls set ended_at = ended_at - interval '1 day'
    where trace_id in (select trace_id from traces.calls order by trace_id limit 2)`;
  assert.equal(await deleteOldTraces(db, 3 * 86_400_000, 1), 1);
  assert.equal(await deleteOldTraces(db, 3 * 86_400_000, 5_000), 1);
  assert.equal(await count(), before - 2);
});

test('AU-06 CP-05 owners find only calls of their own apps', async () => {
  const [reply, trace] = await traced({ key: app.testKey });
  const callId = String(reply.headers.get('x-service-call-id'));
  const stranger = await newOwner(service);
  const other = await newOwnApp(stranger);
  for (const query of [`correlationId=${String(trace['correlationId'])}`, `callId=${callId}`]) {
    assert.deepEqual(await tracesOf(stranger, `/apps/${other.appId}/calls?${query}`), { calls: [], traces: [] });
    assertRefusal(await stranger.ask('GET', `/apps/${app.appId}/calls?${query}`), {
      code: 'NOT_FOUND',
      hasLink: false,
    });
    assertRefusal(await stranger.ask('GET', `/operator/calls?${query}`), { code: 'FORBIDDEN', hasLink: false });
    const elsewhere = await tracesOf(operator, `/operator/calls?${query}&appId=${other.appId}`);
    assert.deepEqual(elsewhere, { hold: null, entries: [], calls: [], traces: [] });
  }
  for (const query of ['', 'correlationId=a&callId=b', 'correlationId=a%20b']) {
    assertRefusal(await owner.ask('GET', `/apps/${app.appId}/calls?${query}`), {
      code: 'BAD_REQUEST',
      param: 'correlationId',
      hasLink: false,
    });
  }
  assert.deepEqual(await tracesOf(owner, `/apps/${app.appId}/calls?callId=no-id`), { calls: [], traces: [] });
});

test('CC-19 an app’s latest calls are listed, paged and filtered', async () => {
  const other = await newOwnApp(owner);
  await service.fund(other, USER, 10_000_000);
  const made: string[] = [];
  for (const [user, fields] of [
    ['one', {}],
    ['two', { model: 'none-such' }],
    ['one', { model: 'acme.secret-1' }],
    ['two', {}],
  ] as const) {
    const correlationId = `listed-${made.push(user)}`;
    const headers = { 'x-correlation-id': correlationId };
    await chat({ url: service.url, key: other.testKey, user, headers }, fields);
  }
  upstream.script(ANSWER);
  const live = { url: service.url, key: other.liveKey, user: USER, headers: { 'x-correlation-id': 'listed-live' } };
  assert.equal((await chat(live)).status, 200);
  const list = async (query: string) => {
    const path = `/apps/${other.appId}/latest-calls?${query}`;
    const { traces, next } = (await owner.get(200, 'GET', path)) as { traces: Trace[]; next: string | null };
    return { ids: traces.map((trace) => trace['correlationId']), next };
  };
  const [answer] = await waitUntil('all traces are written', async () => {
    const [sandbox, answered] = [await list('mode=sandbox'), await list('')];
    return sandbox.ids.length === 4 && answered.ids.length === 1 && [answered, sandbox];
  });
  assert.deepEqual(answer, { ids: ['listed-live'], next: null });
  assert.deepEqual((await list('mode=sandbox')).ids, ['listed-4', 'listed-3', 'listed-2', 'listed-1']);
  assert.deepEqual((await list('mode=sandbox&userId=one')).ids, ['listed-3', 'listed-1']);
  assert.deepEqual((await list('mode=sandbox&outcome=refused&code=BAD_REQUEST')).ids, ['listed-2']);
  assert.deepEqual((await list('mode=sandbox&from=2100-01-01T00:00:00Z')).ids, []);
  assert.deepEqual((await list('mode=sandbox&to=2020-01-01T00:00:00Z')).ids, []);
  const backwards = 'from=2020-01-02T00:00:00Z&to=2020-01-01T00:00:00Z';
  await owner.get(400, 'GET', `/apps/${other.appId}/latest-calls?${backwards}`);
  const seen: unknown[] = [];
  for (let after = ''; ; ) {
    const page = await list(`mode=sandbox&limit=3${after}`);
    seen.push(...page.ids);
    if (page.next === null) break;
    after = `&after=${page.next}`;
  }
  assert.deepEqual(seen, ['listed-4', 'listed-3', 'listed-2', 'listed-1']);
  // A page that has read as much as it may leads on, also if the last that it read fits.
  const query = { appId: other.appId, mode: 'sandbox' } as Parameters<typeof selectRecentTraces>[1];
  const read = await selectRecentTraces(service.database.owner, query, { scanned: 2, most: 3 });
  const fits = read.map((row) => row.is_found);
  assert.deepEqual(fits, [true, true, false]);
  const stranger = await newOwner(service);
  assert.equal((await stranger.ask('GET', `/apps/${other.appId}/latest-calls`)).status, 404);
});
