// What a caller receives from a provider that takes its time.
import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { catalogueAt } from '../support/catalogue.ts';
import { chat } from '../support/client.ts';
import { createGate } from '../support/gate.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { openStream } from '../support/open-stream.ts';
import { assertRefusal } from '../support/refusal.ts';
import { joinStream } from './messages/join-stream.ts';
import { checkStream } from './responses/check-stream.ts';
import { eventsIn } from './responses/streams.ts';
import { frame, streamSteps, type UpstreamStep } from '../support/scripted-upstream.ts';
import { startTestService } from '../support/service.ts';
import { setStage } from '../support/stage.ts';
import { MESSAGES, RESPONSES } from '../support/wires.ts';

const BALANCE = 1_000_000;
const COMMENT = ': keep-alive\n\n';
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const STEPS = streamSteps({ model: 'm', pieces: ['one', 'two'], usage: USAGE, includeUsageChunk: false });
const FIRST = STEPS.slice(0, 2);
const REST = STEPS.slice(2);

const pace = { statusMsMax: 200, keepAliveMs: 300, heldUpMsMax: 10_000 };
const { upstream, service, app, newUser } = await setStage({ model: { timeoutMs: 60_000 }, pace });
/** Lets the status wait for the provider from now on, however busy the machine is. */
const waitForStatus = (): void => void (pace.statusMsMax = 3_600_000);
afterEach(() => void (pace.statusMsMax = 200));

async function callerOf(steps: readonly UpstreamStep[]) {
  upstream.script({ body: steps });
  return { url: service.url, key: app.liveKey, user: await newUser(BALANCE) };
}

async function expectWallet(user: string, isCharged: boolean): Promise<void> {
  const { balance, held, openStreams } = await service.wallet(app, user);
  assert.deepEqual([balance < BALANCE, held, openStreams], [isCharged, 0, 0]);
}

/** The frames of a stream without its comments, and the number of comments. */
function parted(text: string): { readonly frames: string; readonly comments: number } {
  const parts = text.split(COMMENT);
  return { frames: parts.join(''), comments: parts.length - 1 };
}

for (const [when, before] of [
  ['to send its head', [] as UpstreamStep[]],
  ['after its head', [{ write: '' }] as UpstreamStep[]],
  ['after comments of its own', [{ write: ': wait\n\n: wait\n\n' }] as UpstreamStep[]],
] as const) {
  test(`CC-01 if the provider is slow ${when}, a keep-alive precedes the answer`, async () => {
    const gate = createGate();
    const caller = await callerOf([...before, { waitFor: gate.opened }, ...STEPS]);
    const stream = await openStream(caller);
    assert.equal(stream.status, 200);
    assert.equal(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    await stream.until(COMMENT + COMMENT); // The second one after another period of silence.
    gate.open();
    const { frames } = parted(await stream.whole());
    assert.match(frames, /^data: .*"one".*"two".*data: \[DONE\]\n\n$/s);
    await expectWallet(caller.user, true);
  });
}

test('CC-01 a keep-alive follows a late status at once', async (t) => {
  const pace = { statusMsMax: 50, keepAliveMs: 3_600_000, heldUpMsMax: 10_000 };
  const unhurried = await startTestService(catalogueAt(upstream.baseUrl), {}, undefined, { pace });
  t.after(unhurried.close);
  const other = await unhurried.addApp();
  await unhurried.fund(other, 'u', BALANCE);
  upstream.script({ body: [{ hang: true }] });
  const stream = await openStream({ url: unhurried.url, key: other.liveKey, user: 'u' });
  await stream.until(COMMENT);
  stream.leave();
});

for (const [clause, wire, checked] of [
  ['WI-06', RESPONSES, checkStream],
  ['WI-09', MESSAGES, joinStream],
] as const) {
  test(`${clause} a settlement that takes long puts no event out of order`, async (t) => {
    const hurried = { statusMsMax: 3_600_000, keepAliveMs: 1, heldUpMsMax: 10_000 };
    const restless = await startTestService(catalogueAt(upstream.baseUrl), {}, undefined, { pace: hurried });
    t.after(restless.close);
    const other = await restless.addApp();
    await restless.fund(other, 'restless', BALANCE);
    const gate = createGate();
    const end = { write: REST.map(({ write }) => write).join('') };
    upstream.script({ body: [...FIRST, { waitFor: gate.opened }, end] });
    const caller = { path: wire.path, url: restless.url, key: other.liveKey, user: 'restless' };
    const stream = await openStream(caller, wire.question);
    await stream.until('"one"');
    const lock = await lockWallet(restless.database, 'restless');
    t.after(lock.release);
    gate.open();
    await lock.waiting(1);
    await stream.soFar();
    await lock.release();
    checked(eventsIn(await stream.whole()));
  });
}

test('CC-15 a request rejected after its status reaches the provider once', async () => {
  const gate = createGate();
  const caller = await callerOf([]);
  upstream.script({ status: 400, body: [{ waitFor: gate.opened }, { write: '{}' }] });
  const before = upstream.requests.length;
  const stream = await openStream(caller);
  assert.equal(stream.status, 200);
  gate.open();
  assert.match(await stream.whole(), /"UPSTREAM_PROVIDER_ERROR"/);
  waitForStatus();
  assert.equal((await openStream(caller)).status, 502);
  assert.equal(upstream.requests.length - before, 1);
  await expectWallet(caller.user, false);
});

test('CC-01 comments between frames fill silence until the stream ends', async () => {
  const gate = createGate();
  const half = frame({ choices: [{ index: 0, delta: { content: 'half' }, finish_reason: null }] });
  const cut = [{ write: half.slice(0, 30) }, { waitFor: gate.opened }, { write: half.slice(30) }];
  const caller = await callerOf([...FIRST, ...cut, ...REST]);
  const stream = await openStream(caller);
  await stream.until(`"one"`);
  await stream.until(COMMENT + COMMENT);
  gate.open();
  const text = await stream.whole();
  assert.match(text, /"one"[^\n]*\n\n(: keep-alive\n\n){2,}data: [^\n]*"half"/);
  assert.ok(text.endsWith('data: [DONE]\n\n'));
  await expectWallet(caller.user, true);
});

for (const [what, steps, message] of [
  ['fails', [{ destroy: true }] as UpstreamStep[], 'UPSTREAM_PROVIDER_ERROR'],
  [
    'is throttled',
    [{ write: frame({ error: { code: 'rate_limit_exceeded' } }) }] as UpstreamStep[],
    'UPSTREAM_THROTTLED',
  ],
] as const) {
  test(`ER-06 a provider that ${what} after the status is reported in the stream`, async () => {
    const gate = createGate();
    const caller = await callerOf([{ write: '' }, { waitFor: gate.opened }, ...steps]);
    const stream = await openStream(caller);
    assert.equal(stream.status, 200);
    await stream.until(COMMENT);
    gate.open();
    const { frames } = parted(await stream.whole());
    const match = /^data: (.*)\n\n$/.exec(frames);
    assert.equal((JSON.parse(match?.[1] ?? '{}') as { error?: { code: string } }).error?.code, message);
    await expectWallet(caller.user, false);
  });
}

test('ER-06 a malformed first frame still gets a real status', async () => {
  waitForStatus();
  for (const bad of ['data: {"choices": [\n\n', 'data: nothing\n\n', `data: "a text"\n\n`]) {
    const caller = await callerOf([{ write: bad }, { hang: true }]);
    assertRefusal(await chat(caller, { stream: true }), { code: 'UPSTREAM_PROVIDER_ERROR' });
    await expectWallet(caller.user, false);
  }
});

test('CC-11 a caller that leaves early ends the provider’s stream', async () => {
  const caller = await callerOf([{ write: '' }, { hang: true }]);
  const index = upstream.requests.length;
  const stream = await openStream(caller);
  await stream.until(COMMENT);
  stream.leave();
  const request = await upstream.arrival(index);
  await request.closed;
  assert.equal(request.aborted, true);
});
