// The rules of a call that are the same however its caller speaks (WI-01). Those of refusals, retries and drains are tested beside them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OUTCOME_MODELS } from '../../packages/service/src/sandbox/answers/outcomes.ts';
import { chargeFor, withVectors } from '../support/catalogue.ts';
import { COMPLETIONS, type Reply, replyOf, send } from '../support/client.ts';
import { newOwner } from '../support/control.ts';
import { EMBEDDINGS } from '../support/embeddings-wire.ts';
import { createGate } from '../support/gate.ts';
import { estimatedCharge, holdFor, leftFor } from '../support/hold-price.ts';
import { addJoiningKey } from '../support/keys.ts';
import { openStream } from '../support/open-stream.ts';
import { billNamed } from '../support/receipts.ts';
import { assertRefusal } from '../support/refusal.ts';
import { completionBody, frame, saying, streamSteps, type UpstreamScript } from '../support/scripted-upstream.ts';
import { readSandboxWallet } from '../support/sandbox-wallet.ts';
import type { TestApp } from '../support/service.ts';
import { setStage } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { CalledWire, Fields } from '../support/called-wire.ts';
import {
  ALL_WIRES,
  ask,
  eachWire,
  everyWire,
  isSpoken,
  saidIn,
  sayingToAll,
  type SpokenWire,
  WIRES,
} from '../support/wires.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 30 } };
const USED = { prompt: 40, cached: 30, completion: 20 };
const CHARGE = chargeFor(USED);
const STREAM = streamSteps({ model: 'm', pieces: ['In ', 'Rome.'], usage: USAGE, includeUsageChunk: true });
const PROMPT = 'Where is the “Größe” of 北京?';
/** The body whose prompt a provider gets from every wire. */
const AS_CHAT = JSON.stringify({ messages: [{ role: 'user', content: PROMPT }] });

const stage = await setStage({
  catalogue: withVectors,
  checksBooks: true,
  pace: { statusMsMax: 1_000, keepAliveMs: 60_000, heldUpMsMax: 10_000 },
});
const { upstream, service, app, newUser } = stage;
const owner = await newOwner(service);

const optionsOf = (user: string) => ({
  url: service.url,
  key: app.liveKey,
  user,
  headers: { 'x-correlation-id': user },
});

async function expectSpent(user: string, micros: number, of: TestApp = app): Promise<void> {
  assert.deepEqual(await service.wallet(of, user), { balance: BALANCE - micros, held: 0, openStreams: 0 });
}

/** A call of a fresh user by a wire, with the bill of it. */
async function billed(wire: CalledWire, script: UpstreamScript, fields: Fields = {}) {
  const user = await newUser(BALANCE);
  upstream.script(script);
  const reply = await ask(wire, optionsOf(user), { ...wire.promptOf(PROMPT), ...fields });
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  await expectSpent(user, bill.charged);
  return { user, reply, bill, said: saidIn(wire, reply), sent: upstream.requests.at(-1)?.body };
}

for (const isStream of [false, true]) {
  const how = isStream ? 'streamed' : 'plain';
  const script: UpstreamScript = isStream ? { body: STREAM } : saying('In Rome.', USAGE);
  const wires = isStream ? WIRES : ALL_WIRES;

  test(`WI-01 the same prompt has one hold, request and charge on all wires, ${how}`, async () => {
    const calls = [];
    for (const wire of WIRES)
      calls.push(await billed(wire, script, { [wire.limitField]: 777, ...(isStream ? wire.streamed : {}) }));
    const [chat, ...others] = calls;
    assert.ok(chat !== undefined);
    assert.deepEqual([chat.bill.held, chat.bill.charged], [holdFor(AS_CHAT, 777), CHARGE]);
    assert.deepEqual(chat.said.usage, { prompt: 40, cached: 30, completion: 20 });
    for (const { bill, said, sent } of others) assert.deepEqual([bill, said, sent], [chat.bill, chat.said, chat.sent]);
  });

  everyWire.test(
    `BI-05 WI-01 a receipt shows what the call told, ${how}`,
    async (wire) => {
      const answer = isStream ? script : wire.saying('In Rome.', USAGE);
      const { user, reply, said } = await billed(wire, answer, isStream && isSpoken(wire) ? wire.streamed : {});
      const callId = reply.headers.get('x-service-call-id');
      const { body } = await send(`/calls/${callId}`, { url: service.url, key: app.liveKey, user });
      assert.partialDeepStrictEqual(body, { callId, model: wire.modelId, outcome: 'answered' });
      const charge = chargeFor(wire.paidOf(USED));
      assert.deepEqual([body['chargedMicros'], said.charged], [charge, charge]);
    },
    wires,
  );

  eachWire.test(`WA-07 a wallet lowers the output, and the answer says so, ${how}`, async (wire) => {
    const limit = 123;
    const user = await newUser(leftFor(holdFor(AS_CHAT, limit)));
    const all = { prompt_tokens: 40, completion_tokens: limit };
    const facts = { model: 'm', usage: all, finishReason: 'length' };
    const plain = { body: completionBody({ ...facts, content: 'Long.' }) };
    upstream.script(isStream ? { body: streamSteps({ ...facts, pieces: ['Long.'], includeUsageChunk: true }) } : plain);
    const fields = { ...wire.promptOf(PROMPT), [wire.limitField]: 900, ...(isStream ? wire.streamed : {}) };
    const reply = await ask(wire, optionsOf(user), fields);
    if (wire.name === 'Messages') {
      // Its clients pay for several calls when they reach such a limit (WI-10).
      assert.match(String(reply.error['message']), new RegExp(`^max_tokens: 900 > ${limit}, which is the maximum`));
      return assertRefusal(reply, { code: 'BAD_REQUEST', param: 'max_tokens' });
    }
    assert.equal(reply.headers.get('x-service-max-output-tokens'), String(limit), reply.text);
    assert.partialDeepStrictEqual(upstream.requests.at(-1)?.body, { max_completion_tokens: limit });
    const { reason, charged } = saidIn(wire, reply);
    assert.deepEqual([reason, charged], ['length', chargeFor({ prompt: 40, completion: limit })]);
  });

  for (const [what, failure, code] of [
    ['throttles', { status: 429, body: '{}' }, 'UPSTREAM_THROTTLED'],
    ['is down', { status: 500, body: '{}' }, 'UPSTREAM_PROVIDER_ERROR'],
  ] as const) {
    everyWire.test(
      `CC-09 a provider that ${what} costs nothing, ${how}`,
      async (wire) => {
        const { reply, bill } = await billed(wire, failure, isStream && isSpoken(wire) ? wire.streamed : {});
        assertRefusal(reply, { code, param: null });
        assert.deepEqual([bill.outcome, bill.charged], ['failed', 0]);
      },
      wires,
    );
  }
}

/** A stream of a fresh user that has begun, with what the provider does next. */
async function begun(wire: SpokenWire, next: UpstreamScript['body']) {
  const user = await newUser(BALANCE);
  const gate = createGate();
  upstream.script({ body: [...STREAM.slice(0, 2), { waitFor: gate.opened }, ...(next as typeof STREAM)] });
  const fields = { ...wire.question, ...wire.promptOf(PROMPT), ...wire.streamed };
  const stream = await openStream({ ...optionsOf(user), path: wire.path }, fields);
  await stream.until('In ');
  return { user, stream, goOn: gate.open };
}

for (const [what, next] of [
  ['breaks off', [{ destroy: true }]],
  ['tells an error', [{ write: frame({ error: { message: 'no' } }) }]],
  ['ends without a reason', []],
] as const) {
  eachWire.test(`ER-06 CC-11 a stream whose provider ${what} is free`, async (wire) => {
    const { user, stream, goOn } = await begun(wire, next);
    goOn();
    const { code, charged } = saidIn(wire, replyOf(stream, await stream.whole()));
    assert.deepEqual([code, charged], ['UPSTREAM_PROVIDER_ERROR', undefined]);
    await expectSpent(user, 0);
  });
}

eachWire.test('CC-11 a caller who leaves pays prompt and text until then', async (wire) => {
  const { user, stream } = await begun(wire, [{ hang: true }]);
  stream.leave();
  const bill = await waitUntil('it is settled', () => billNamed(service.database, user));
  assert.deepEqual([bill.outcome, bill.isEstimated], ['abandoned', true]);
  assert.equal(bill.charged, estimatedCharge(AS_CHAT, 'In '));
  await expectSpent(user, bill.charged);
});

test('CC-14 a key that joins finds a repeat whose names are shuffled', async () => {
  const key = await addJoiningKey(service.database, app);
  const user = await newUser(BALANCE);
  upstream.script({ body: STREAM });
  const asked = upstream.requests.length;
  const tool = { type: 'function', name: 'find', parameters: { type: 'object' } };
  const shuffled = { parameters: { type: 'object' }, name: 'find', type: 'function' };
  const told: (string | null)[] = [];
  for (const body of [
    { model: 'large', input: PROMPT, stream: true, tools: [tool], client_metadata: { turn: '1', session: 's' } },
    { client_metadata: { session: 's', turn: '2' }, tools: [shuffled], stream: true, input: PROMPT, model: 'large' },
    { model: 'large', input: `${PROMPT} `, stream: true, tools: [tool] },
  ]) {
    const reply = await send('/v1/responses', { url: service.url, key, user, body });
    told.push(reply.headers.get('x-service-replayed'));
  }
  assert.deepEqual([told, upstream.requests.length - asked], [[null, 'true', null], 2]);
  await expectSpent(user, 2 * CHARGE);
});

test('CC-14 WI-01 the same bytes on another wire are another call', async () => {
  const joining = await addJoiningKey(service.database, app);
  const body = { model: 'large', messages: [{ role: 'user', content: PROMPT }], max_tokens: 50 };
  upstream.script(saying('In Rome.', USAGE));
  for (const [key, headers] of [
    [joining, {}],
    [app.liveKey, { 'x-stainless-retry-count': '1' }],
  ] as const) {
    const user = await newUser(BALANCE);
    const call = (path: string) => send(path, { url: service.url, key, user, headers, body });
    const replies = [await call(COMPLETIONS), await call('/v1/messages'), await call('/v1/messages')];
    const forms = replies.map(({ body: { object, type } }) => object ?? type);
    assert.deepEqual(forms, ['chat.completion', 'message', 'message']);
    const isJoined = replies.map((reply) => reply.headers.get('x-service-replayed') === 'true');
    assert.deepEqual(isJoined, [false, false, key === joining]);
    await expectSpent(user, (key === joining ? 2 : 3) * CHARGE);
  }
});

test('CC-14 WI-01 one `idempotency-key` on two wires is refused', async () => {
  const user = await newUser(BALANCE);
  const body = { model: 'large', messages: [{ role: 'user', content: PROMPT }], max_tokens: 50 };
  upstream.script(saying('In Rome.', USAGE));
  const options = { ...optionsOf(user), headers: { 'idempotency-key': 'one' }, body };
  assert.equal((await send(COMPLETIONS, options)).status, 200);
  assertRefusal(await send('/v1/messages', options), { code: 'CONFLICT' });
  await expectSpent(user, CHARGE);
});

test('CP-08 WI-01 one budget of a key bounds its calls on all wires', async () => {
  const { appId } = (await owner.get(201, 'POST', '/apps', { name: 'App' })) as unknown as TestApp;
  const monthlyBudgetMicros = holdFor(AS_CHAT, 16) + CHARGE;
  const key = await owner.get(201, 'POST', `/apps/${appId}/keys`, { mode: 'live', limits: { monthlyBudgetMicros } });
  await service.fund({ appId } as TestApp, 'u', BALANCE);
  upstream.script(sayingToAll('In Rome.', USAGE));
  const [paid, replies]: [number[], Reply[]] = [[], []];
  for (const wire of [...ALL_WIRES, ...ALL_WIRES, ...ALL_WIRES]) {
    const options = { url: service.url, key: String(key['apiKey']), user: 'u' };
    const limit = isSpoken(wire) ? { [wire.limitField]: 16 } : {};
    const reply = await ask(wire, options, { ...wire.promptOf(PROMPT), ...limit });
    if (reply.status === 200) paid.push(chargeFor(wire.paidOf(USED)));
    else replies.push(reply);
  }
  assert.ok(paid.length >= 2 && replies.length >= ALL_WIRES.length, String(paid.length));
  for (const reply of replies) assertRefusal(reply, { code: 'KEY_BUDGET_EXCEEDED' });
  await expectSpent(
    'u',
    paid.reduce((sum, one) => sum + one),
    { appId } as TestApp,
  );
});

/** What a test user of their own gets and pays, without the words of the answer, and without the usage that a wire may leave out. */
async function played(model: string, wire: CalledWire, fields: Fields) {
  const user = `${model}-${wire.name.length}-${Object.keys(fields).length > 0}`;
  const reply = await ask(wire, { url: service.url, key: app.testKey, user }, { model, ...fields });
  const wallet = await readSandboxWallet(service.database, app, user);
  const { status, error, headers } = reply;
  const { reason: ended, charged, code } = status === 200 ? saidIn(wire, reply) : { ...NOT_SAID, code: error['code'] };
  // Messages has one word for a model that refuses, and chat completions has a field for that.
  const reason = wire.name === 'Messages' && model === 'sandbox/refusal' ? 'stop' : ended;
  const told = [headers.get('x-service-mode'), headers.get('x-should-retry'), headers.get('retry-after')];
  return { status, code, told, reason, charged, balance: wallet?.balance, held: wallet?.held };
}

const NOT_SAID = { reason: undefined, charged: undefined };

test('SB-02 WI-01 each outcome of the sandbox is the same on all wires', async () => {
  const [chat, ...others] = WIRES;
  await Promise.all(
    OUTCOME_MODELS.flatMap((model) =>
      [false, true].map(async (isStream) => {
        const outcomeOf = (one: SpokenWire) => played(model, one, isStream ? one.streamed : {});
        const expected = await outcomeOf(chat);
        for (const wire of others) {
          const how = `${model}, ${isStream ? 'streamed' : 'plain'}, by ${wire.name}`;
          assert.deepEqual(await outcomeOf(wire), expected, how);
        }
        if (isStream || expected.status === 200) return;
        assert.deepEqual(await played(model, EMBEDDINGS, {}), expected, `${model}, by embeddings`);
      }),
    ),
  );
});
