import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { hasLeft } from '../support/callers-gone.ts';
import { chargeFor, withVectors } from '../support/catalogue.ts';
import { type CallOptions, chat, type Reply } from '../support/client.ts';
import { createGate } from '../support/gate.ts';
import { givingUp } from '../support/giving-up.ts';
import { openChat } from '../support/open-chat.ts';
import { readSandboxWallet } from '../support/sandbox-wallet.ts';
import { type NextScript, saying, streamSteps, USAGE } from '../support/scripted-upstream.ts';
import { sqlValue } from '../support/sql.ts';
import { keptCount } from '../support/receipts.ts';
import { setTwoGateways } from '../support/stage.ts';
import { waitUntil } from '../support/wait-until.ts';
import type { CalledWire } from '../support/called-wire.ts';
import { ask, eachWire, everyWire } from '../support/wires.ts';

const { service, app, upstream, newUser, second } = await setTwoGateways({ catalogue: withVectors });
const USED = { prompt: USAGE.prompt_tokens, cached: 0, completion: USAGE.completion_tokens };
const CHARGE = chargeFor(USED);
const priceBy = ({ paidOf }: CalledWire): number => chargeFor(paidOf(USED));
const FUNDS = 1_000_000;

const keyed = (key: string) => ({ 'idempotency-key': key });
const counted = (retries: number) => ({ 'x-stainless-retry-count': String(retries) });
const onFirst = (user: string, headers: Record<string, string>, more: Partial<CallOptions> = {}): CallOptions => {
  return { url: service.url, key: app.liveKey, user, headers, ...more };
};
const onSecond = (user: string, headers: Record<string, string>) => onFirst(user, headers, { url: second.url });

/** Sets the script, and returns how many requests have reached the provider since. */
function scripted(script: NextScript): () => number {
  const before = upstream.requests.length;
  upstream.script(script);
  return () => upstream.requests.length - before;
}

async function expectCharged(user: string, amount: number): Promise<void> {
  assert.deepEqual(await service.wallet(app, user), { balance: FUNDS - amount, held: 0, openStreams: 0 });
}

function expectReplayOf(first: Reply, reply: Reply): void {
  assert.equal(reply.status, 200, reply.text);
  assert.equal(reply.text, first.text);
  assert.equal(reply.headers.get('x-service-replayed'), 'true');
  assert.equal(reply.headers.get('x-service-call-id'), first.headers.get('x-service-call-id'));
  assert.notEqual(reply.headers.get('x-correlation-id'), first.headers.get('x-correlation-id'));
}

test('CC-14 a stock client that retries is charged once', async () => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const asked = scripted({ body: [{ waitFor: gate.opened }, { write: saying('At last.').body as string }] });
  const isAsked = () => waitUntil('the provider is asked', () => asked() === 1);
  const options = { baseURL: `${service.url}/v1`, apiKey: app.liveKey, fetch: givingUp(isAsked) };
  const client = new OpenAI({ ...options, defaultHeaders: { 'x-service-user': user } });
  const answer = client.chat.completions.create({ model: 'large', messages: [{ role: 'user', content: 'Hello' }] });
  await waitUntil('the retry waits', async () => (await joinedHolds()) === 1);
  gate.open();
  assert.equal((await answer).choices[0]?.message.content, 'At last.');
  assert.equal(asked(), 1);
  await expectCharged(user, CHARGE);
});

everyWire.test('CC-14 a marked retry joins its attempt on another gateway', async (wire) => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const asked = scripted({ body: [{ waitFor: gate.opened }, { write: wire.saying('For both.').body as string }] });
  const first = ask(wire, onFirst(user, counted(0)));
  await waitUntil('the provider is asked', () => asked() === 1);
  const retry = ask(wire, onSecond(user, counted(1)));
  await waitUntil('the retry waits', async () => (await joinedHolds()) === 1);
  gate.open();
  const answered = await first;
  assert.equal(answered.headers.get('x-service-replayed'), null);
  expectReplayOf(answered, await retry);
  assert.equal(asked(), 1);
  await expectCharged(user, priceBy(wire));
});

async function joinedHolds(): Promise<number | undefined> {
  return sqlValue<number>(service)`select count(*)::int as count from ledger.holds where is_joined`;
}

everyWire.test('CC-14 equal calls that are not retries stay separate', async (wire) => {
  const user = await newUser(FUNDS);
  const asked = scripted(wire.saying('Each.'));
  const replies = await Promise.all([0, 1, 2].map(() => ask(wire, onFirst(user, counted(0)))));
  replies.push(await ask(wire, onSecond(user, counted(0))), await ask(wire, onSecond(user, {})));
  for (const { headers, status } of replies) assert.deepEqual([status, headers.get('x-service-replayed')], [200, null]);
  assert.equal(asked(), 5);
  await expectCharged(user, 5 * priceBy(wire));
});

everyWire.test('CC-25 a marked retry of a delivered answer runs anew', async (wire) => {
  const user = await newUser(FUNDS);
  const asked = scripted(wire.saying('Twice.'));
  await ask(wire, onFirst(user, counted(0)));
  assert.equal((await ask(wire, onFirst(user, counted(1)))).headers.get('x-service-replayed'), null);
  assert.equal(asked(), 2);
  await expectCharged(user, 2 * priceBy(wire));
});

everyWire.test('CC-25 an abandoned answer is delivered once to its retry', async (wire) => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const asked = scripted({ body: [{ waitFor: gate.opened }, { write: wire.saying('Late.').body as string }] });
  const leaving = new AbortController();
  const left = ask(wire, onFirst(user, counted(0), { signal: leaving.signal })).catch(() => 'left');
  await waitUntil('the provider is asked', () => asked() === 1);
  leaving.abort();
  assert.equal(await left, 'left');
  await waitUntil('the gateway has noticed', () => hasLeft(user));
  gate.open();
  const retry = await ask(wire, onSecond(user, counted(1)));
  assert.deepEqual([retry.status, retry.headers.get('x-service-replayed')], [200, 'true']);
  assert.equal(retry.headers.get('x-service-charge-micros'), String(priceBy(wire)));
  assert.equal(asked(), 1);
  await expectCharged(user, priceBy(wire));
  await waitUntil('the delivered answer is forgotten', async () => (await keptCount(service, user)) === 0);
  assert.equal((await ask(wire, onSecond(user, counted(1)))).headers.get('x-service-replayed'), null);
});

everyWire.test('CC-14 concurrent calls with one key share one charge', async (wire) => {
  const user = await newUser(FUNDS);
  const asked = scripted(wire.saying('One for all.'));
  const calls = Array.from({ length: 20 }, (_, index) =>
    ask(wire, (index % 2 ? onFirst : onSecond)(user, keyed('all'))),
  );
  const replies = await Promise.all(calls);
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]));
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1);
  assert.equal(new Set(replies.map(({ headers }) => headers.get('x-service-call-id'))).size, 1);
  assert.equal(replies.filter(({ headers }) => headers.get('x-service-replayed') === null).length, 1);
  assert.equal(asked(), 1);
  await expectCharged(user, priceBy(wire));
});

everyWire.test('CC-25 a key replays only its own user’s call', async (wire) => {
  const [user, other] = [await newUser(FUNDS), await newUser(FUNDS)];
  const asked = scripted(wire.saying('Kept.'));
  const first = await ask(wire, onFirst(user, keyed('k')));
  expectReplayOf(first, await ask(wire, onSecond(user, keyed('k'))));
  const conflict = await ask(wire, onSecond(user, keyed('k')), wire.changed);
  assert.deepEqual([conflict.status, conflict.error['code']], [409, 'CONFLICT']);
  assert.deepEqual([conflict.headers.get('x-should-retry'), conflict.headers.get('retry-after')], ['false', null]);
  await expectCharged(user, priceBy(wire));
  await ask(wire, onFirst(other, keyed('k')));
  await expectCharged(other, priceBy(wire));
  const sandboxed = await ask(wire, { ...onFirst(user, keyed('k')), key: app.testKey });
  assert.equal(sandboxed.headers.get('x-service-replayed'), null);
  assert.equal(asked(), 2);
});

everyWire.test('CC-14 a malformed key is refused', async (wire) => {
  const user = await newUser(FUNDS);
  const asked = scripted(wire.saying('Never.'));
  for (const key of ['', 'two words', 'ü', 'k'.repeat(256)]) {
    const { status, error } = await ask(wire, onFirst(user, keyed(key)));
    assert.deepEqual([status, error['code'], error['param']], [400, 'BAD_REQUEST', 'idempotency-key'], key);
  }
  assert.equal(asked(), 0);
  assert.equal((await ask(wire, onFirst(user, keyed('~'.repeat(255))))).status, 200);
});

everyWire.test('CC-14 a call is checked before its key', async (wire) => {
  const user = await newUser(FUNDS);
  scripted(wire.saying('Checked.'));
  await ask(wire, onFirst(user, keyed('checked')));
  const refused = await ask(wire, onFirst(user, keyed('checked')), { unheard_of: 1 });
  assert.deepEqual([refused.status, refused.error['param']], [400, 'unheard_of']);
  assert.equal((await ask(wire, { ...onFirst(user, keyed('checked')), key: 'svc_live_wrong' })).status, 401);
});

eachWire.test('CC-25 refusals, faults and broken streams are not replayed', async (wire) => {
  const poor = await newUser(0);
  assert.equal((await ask(wire, onFirst(poor, keyed('poor')))).status, 402);
  const user = await newUser(FUNDS);
  const asked = scripted({ status: 500, body: '{}' });
  assert.equal((await ask(wire, onFirst(user, keyed('fault')))).status, 502);
  upstream.script(saying('Anew.'));
  assert.equal((await ask(wire, onFirst(user, keyed('fault')))).status, 200);
  assert.equal(asked(), 2);
  await expectCharged(user, CHARGE);

  const steps = streamSteps({ model: 'm', pieces: ['half'], usage: USAGE, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { destroy: true }] });
  const half = await ask(wire, onFirst(user, keyed('half')), { stream: true });
  assert.match(half.text, /UPSTREAM_PROVIDER_ERROR/);
  upstream.script({ body: steps });
  const whole = await ask(wire, onFirst(user, keyed('half')), { stream: true });
  assert.match(whole.text, /charge-micros=/);
  assert.equal(asked(), 4);
  await expectCharged(user, 2 * CHARGE);
});

eachWire.test('CC-25 a keyed stream is replayed byte for byte', async (wire) => {
  const user = await newUser(FUNDS);
  const steps = streamSteps({ model: 'm', pieces: ['Größe ', '\u{1F600}'], usage: USAGE, includeUsageChunk: true });
  const asked = scripted({ body: steps });
  const fields = wire.streamed;
  const first = await ask(wire, onFirst(user, keyed('streamed')), fields);
  assert.match(first.text, /charge-micros=/);
  const replay = await ask(wire, onSecond(user, keyed('streamed')), fields);
  expectReplayOf(first, replay);
  assert.equal(replay.headers.get('content-type'), first.headers.get('content-type'));
  assert.equal(asked(), 1);
  await expectCharged(user, CHARGE);
});

test('CC-12 a stream and its replay state the same charge', async () => {
  const user = await newUser(FUNDS);
  const steps = streamSteps({ model: 'm', pieces: ['Hi'], usage: USAGE, includeUsageChunk: true });
  for (const wantsUsage of [true, false]) {
    const fields = { stream: true, stream_options: { include_usage: wantsUsage } };
    upstream.script({ body: steps });
    const first = await chat(onFirst(user, keyed(`told-${wantsUsage}`)), fields);
    const callId = first.headers.get('x-service-call-id');
    assert.ok(first.text.endsWith(`\n\n: charge-micros=${CHARGE} call-id=${callId}\n\ndata: [DONE]\n\n`), first.text);
    const fieldsTold = [...first.text.matchAll(/"usage":\{.*\},"charge_micros":(\d+)\}/g)].map(([, micros]) => micros);
    assert.deepEqual(fieldsTold, wantsUsage ? [String(CHARGE)] : []);
    expectReplayOf(first, await chat(onSecond(user, keyed(`told-${wantsUsage}`)), fields));
  }
  upstream.script({ body: [...steps.slice(0, 2), { destroy: true }] });
  const failed = await chat(onFirst(user, {}), { stream: true });
  assert.match(failed.text, /UPSTREAM_PROVIDER_ERROR/);
  assert.doesNotMatch(failed.text, /charge.micros/);
});

everyWire.test('CC-14 another body under a running key is refused', async (wire) => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const asked = scripted({ body: [{ waitFor: gate.opened }, { write: wire.saying('Slow.').body as string }] });
  const first = ask(wire, onFirst(user, keyed('slow')));
  await waitUntil('the provider is asked', () => asked() === 1);
  assert.equal((await ask(wire, onSecond(user, keyed('slow')), wire.changed)).status, 409);
  gate.open();
  assert.equal((await first).status, 200);
  await expectCharged(user, priceBy(wire));
});

everyWire.test('CC-14 a sandbox key is charged once', async (wire) => {
  const user = `tester-${wire.name.length}`;
  const options = { ...onFirst(user, keyed('sand')), key: app.testKey };
  const first = await ask(wire, options);
  const { balance = 0 } = (await readSandboxWallet(service.database, app, user)) ?? {};
  const replay = await ask(wire, { ...options, url: second.url });
  expectReplayOf(first, replay);
  assert.equal(replay.headers.get('x-service-mode'), 'sandbox');
  assert.equal(replay.headers.get('x-service-charge-micros'), first.headers.get('x-service-charge-micros'));
  assert.equal((await ask(wire, options, wire.changed)).status, 409);
  assert.equal((await readSandboxWallet(service.database, app, user))?.balance, balance);
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      ask(wire, { ...options, url: index % 2 ? service.url : second.url, headers: keyed('many') }),
    ),
  );
  assert.deepEqual([new Set(all.map(({ text }) => text)).size, all[0]?.status], [1, 200]);
  const charge = Number(first.headers.get('x-service-charge-micros'));
  assert.ok(charge > 0);
  const wallet = await readSandboxWallet(service.database, app, user);
  assert.deepEqual([wallet?.balance, wallet?.held], [balance - charge, 0]);
});

eachWire.test('CC-25 a keyed stream is not replayed if its caller left', async (wire) => {
  const user = await newUser(FUNDS);
  const steps = streamSteps({ model: 'm', pieces: ['one', 'two'], usage: USAGE, includeUsageChunk: true });
  const asked = scripted({ body: [...steps.slice(0, 2), { hang: true }] });
  const body = JSON.stringify({ ...wire.question, stream: true });
  const caller = openChat({ path: wire.path, url: service.url, key: app.liveKey, user, body, headers: keyed('left') });
  await caller.read('one');
  caller.leave();
  await waitUntil('the stream is settled', async () => (await service.wallet(app, user)).held === 0);
  upstream.script({ body: steps });
  const retry = await ask(wire, onFirst(user, keyed('left'), { body }));
  assert.deepEqual([retry.status, retry.headers.get('x-service-replayed')], [200, null]);
  assert.equal(asked(), 2);
});

everyWire.test('CC-25 a suspended wallet gets no answer of an earlier call', async (wire) => {
  const user = await newUser(FUNDS);
  const gate = createGate();
  const asked = scripted(wire.saying('Kept.'));
  await ask(wire, onFirst(user, keyed('kept')));
  upstream.script({ body: [{ waitFor: gate.opened }, { write: wire.saying('Slow.').body as string }] });
  const running = ask(wire, onFirst(user, keyed('running')));
  await waitUntil('the provider is asked', () => asked() === 2);
  await service.setWallet(app, user, 'is_suspended = true');
  for (const key of ['kept', 'running']) {
    for (const fields of [{}, wire.changed]) {
      const { status, error, body } = await ask(wire, onSecond(user, keyed(key)), fields);
      assert.deepEqual([status, error['code'], body['topupUrl']], [402, 'WALLET_SUSPENDED', undefined], key);
    }
  }
  gate.open();
  assert.equal((await running).status, 200);
  await service.setWallet(app, user, 'is_suspended = false');
  assert.equal((await ask(wire, onSecond(user, keyed('running')))).headers.get('x-service-replayed'), 'true');
});
