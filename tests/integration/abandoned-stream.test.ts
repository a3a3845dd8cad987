import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasLeft } from '../support/callers-gone.ts';
import { chargeFor } from '../support/catalogue.ts';
import { startSecondGateway } from '../support/service.ts';
import { sql } from '../support/sql.ts';
import { soon, waitUntil } from '../support/wait-until.ts';
import { eachWire, saidIn, type SpokenWire } from '../support/wires.ts';
import { createGate } from '../support/gate.ts';
import { holdFor } from '../support/hold-price.ts';
import { estimatedPromptOf } from '../support/prompt-size.ts';
import { addJoiningKey, SHARED_SECRET } from '../support/keys.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { openChat } from '../support/open-chat.ts';
import { type Receipt, receiptNamed } from '../support/receipts.ts';
import { frame, streamSteps, type UpstreamStep } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const BALANCE = 1_000_000;
const USAGE = { prompt_tokens: 77, completion_tokens: 33, total_tokens: 110 };
const REPORTED = chargeFor({ prompt: 77, completion: 33 });
const PIECES = ['First piece', ', second piece', ', third and last.'];
const STREAM = streamSteps({ model: 'large-upstream', pieces: PIECES, usage: USAGE, includeUsageChunk: true });

/** The limit is high enough that a mebibyte of content is within it, so that the drain's own bound ends it. */
const DRAINED_TOKENS = 10_000;

const { upstream, service, app, newUser } = await setStage({
  app: { maxStreamsPerUser: 1 },
  environment: SHARED_SECRET,
  catalogue: (catalogue) => {
    const drained = {
      ...catalogue.models[0],
      id: 'acme.drained-1',
      onAbandon: 'drain',
      maxOutputTokens: DRAINED_TOKENS,
    };
    return { ...catalogue, models: [...catalogue.models, drained] };
  },
});

/** Marks of a call that may be repeated: a key of its own, or an API key that joins equal bodies. */
const REPEATABLE = [
  { by: 'key', key: app.liveKey, headers: { 'idempotency-key': 'left' } },
  { by: 'body', key: await addJoiningKey(service.database, app), headers: {} },
] as const;

type Abandoned = Awaited<ReturnType<typeof open>>;

/** Opens a stream for a fresh user. */
async function open(model: string, steps: readonly UpstreamStep[], { limit = 1_000 } = {}) {
  const user = await newUser(BALANCE);
  const body = JSON.stringify({
    model,
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
    max_completion_tokens: limit,
  });
  upstream.script({ body: steps });
  const index = upstream.requests.length;
  const chat = openChat({ url: service.url, key: app.liveKey, user, body, correlationId: user });
  chat.head.catch(() => {}); // Nothing awaits it if the caller leaves first.
  return { user, body, chat /** The request as the provider sees it. */, request: await upstream.arrival(index) };
}

/** Waits for the receipt, then checks that the wallet agrees with it, holds nothing and has its slot back. */
async function settled({ user }: Pick<Abandoned, 'user'>): Promise<Receipt> {
  const receipt = await waitUntil('the call is settled', () => receiptNamed(service.database, user));
  const left = { balance: BALANCE - receipt.charged, held: 0, openStreams: 0 };
  assert.deepEqual(await service.wallet(app, user), left);
  assert.deepEqual(await service.check(), []);
  return receipt;
}

const [ROLE, FIRST] = STREAM as [UpstreamStep, UpstreamStep];
const ENDING = STREAM.slice(-3);
const NEVER: UpstreamStep = { hang: true };

test('CC-08 a stream abandoned while its hold is placed reaches no provider', async (t) => {
  const user = await newUser(BALANCE);
  const before = upstream.requests.length;
  const lock = await lockWallet(service.database, user);
  t.after(lock.release);
  const body = JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Hello' }], stream: true });
  const chat = openChat({ url: service.url, key: app.liveKey, user, body, correlationId: user });
  chat.head.catch(() => {});
  await lock.waiting(1);
  chat.leave();
  await waitUntil('the service has noticed', () => hasLeft(user));
  await lock.release();
  const receipt = await waitUntil('the call has ended', () => receiptNamed(service.database, user));
  assert.deepEqual([receipt.outcome, receipt.charged], ['failed', 0]);
  assert.deepEqual(await service.wallet(app, user), { balance: BALANCE, held: 0, openStreams: 0 });
  assert.equal(upstream.requests.length, before);
});

test('CC-11 an abandoned stream never exceeds its hold', async () => {
  const long = { write: frame({ choices: [{ index: 0, delta: { content: 'long '.repeat(400) } }] }) };
  const abandoned = await open('large', [ROLE, long, NEVER], { limit: 20 });
  await abandoned.chat.read('long');
  abandoned.chat.leave();
  const { charged, held } = await settled(abandoned);
  assert.equal(held, holdFor(abandoned.body, 20));
  assert.equal(charged, atLimit(abandoned.body, 20));
  assert.ok(charged <= held);
});

/** What a call is charged whose own count is above its limit: the estimated prompt, and as much output as it may have. */
function atLimit(body: string, completion: number): number {
  return chargeFor({ prompt: estimatedPromptOf(body), completion });
}

const FLOOD = { write: frame({ choices: [{ index: 0, delta: { content: 'x'.repeat(65_536) } }] }) };

for (const [what, floods] of [
  ['ends after a mebibyte, and the call is charged our own count within its hold', 16],
  ['below a mebibyte goes on to its end', 15],
] as const) {
  test(`CC-11 a drain ${what}`, async () => {
    const gate = createGate();
    const flood = Array.from({ length: floods }, () => FLOOD);
    const end = floods === 16 ? [NEVER] : ENDING;
    const steps = [ROLE, FIRST, { waitFor: gate.opened }, ...flood, ...end];
    const abandoned = await open('acme.drained-1', steps, { limit: DRAINED_TOKENS });
    await abandoned.chat.read('First');
    abandoned.chat.leave();
    await waitUntil('the service has noticed', () => hasLeft(abandoned.user));
    gate.open();
    await abandoned.request.closed;
    assert.equal(abandoned.request.aborted, floods === 16);
    const { outcome, charged, held, isEstimated } = await settled(abandoned);
    assert.deepEqual([outcome, isEstimated], ['abandoned', floods === 16]);
    assert.equal(charged, floods === 16 ? atLimit(abandoned.body, DRAINED_TOKENS) : REPORTED);
    assert.ok(charged <= held);
  });
}

test('LI-02 a new stream ends the oldest drain', async (t) => {
  const second = await startSecondGateway(service, SHARED_SECRET);
  t.after(second.close);
  for (const url of [service.url, second.url]) {
    const abandoned = await open('acme.drained-1', [ROLE, FIRST, NEVER]);
    const { user, body, chat, request } = abandoned;
    await chat.read('First');
    const refused = openChat({ url, key: app.liveKey, user, body });
    assert.equal((await refused.head).statusCode, 429); // The caller is still connected.
    chat.leave();
    await waitUntil('the database knows the drain', () => isDrained(user));

    const gate = createGate();
    upstream.script({ body: [ROLE, FIRST, { waitFor: gate.opened }, ...ENDING] });
    const next = openChat({ url, key: app.liveKey, user, body });
    assert.equal((await next.head).statusCode, 200);
    await soon('the drain is given up', request.closed);
    const receipt = await waitUntil('it is settled', () => receiptNamed(service.database, user));
    assert.deepEqual([receipt.outcome, receipt.isEstimated], ['abandoned', true]);
    assert.ok(receipt.charged > 0 && receipt.charged < receipt.held);
    assert.equal((await service.wallet(app, user)).openStreams, 1);
    gate.open();
    await soon('the new stream ends', next.closed);
    assert.ok(next.text().endsWith('data: [DONE]\n\n'));
    assert.equal((await service.wallet(app, user)).openStreams, 0);
    assert.deepEqual(await service.check(), []);
  }
});

async function isDrained(user: string): Promise<boolean> {
  return (await drainsOf(user)).length === 1;
}

function drainsOf(user: string): Promise<readonly { readonly isJoined: boolean }[]> {
  return sql<{ readonly isJoined: boolean }>(service)`select h.is_joined as "isJoined" from ledger.holds h
    join ledger.wallets w on w.wallet_id = h.wallet_id
    where w.user_id = ${user} and h.drained_since is not null`;
}

for (const { by, ...mark } of REPEATABLE) {
  const leftOpen = async ({ path, promptOf }: SpokenWire, steps: readonly UpstreamStep[]) => {
    const user = await newUser(BALANCE);
    const body = JSON.stringify({ model: 'acme.drained-1', ...promptOf('Hello'), stream: true });
    upstream.script({ body: steps });
    const left = openChat({ path, url: service.url, user, body, correlationId: user, ...mark });
    await left.read('First');
    left.leave();
    await waitUntil('the database knows the drain', () => isDrained(user));
    return { user, repeated: (url: string) => openChat({ path, url, user, body, ...mark }) };
  };
  const isJoined = (user: string) => async () => (await drainsOf(user)).some(({ isJoined: is }) => is);

  eachWire.test(`CC-14 by ${by}, a repeat gets what a drained stream came to`, async (wire, t) => {
    const second = await startSecondGateway(service, SHARED_SECRET);
    t.after(second.close);
    const [gate, before] = [createGate(), upstream.requests.length];
    const { user, repeated } = await leftOpen(wire, [ROLE, FIRST, { waitFor: gate.opened }, ...STREAM.slice(2)]);
    const repeat = repeated(second.url);
    await waitUntil('the repeat waits', isJoined(user)); // It needs no slot, and the only one stays the drain's.
    gate.open();
    await soon('the repeat is answered', repeat.closed);
    const { headers } = await repeat.head;
    assert.equal(headers['x-service-replayed'], 'true');
    const { text, charged: told } = saidOf(wire, repeat.text());
    assert.deepEqual([text, told], [PIECES.join(''), REPORTED]);
    for (const url of [service.url, second.url, service.url]) {
      const cut = repeated(url);
      await cut.read('First');
      cut.leave();
    }
    const again = repeated(service.url);
    await soon('a later repeat is answered', again.closed);
    assert.equal(again.text(), repeat.text());
    assert.equal(upstream.requests.length, before + 1);
    const { outcome, charged } = await settled({ user });
    assert.deepEqual([outcome, charged], ['answered', REPORTED]);
  });

  eachWire.test(`CC-14 by ${by}, a repeat runs anew when its drain fails`, async (wire) => {
    const [gate, before] = [createGate(), upstream.requests.length];
    const { user, repeated } = await leftOpen(wire, [ROLE, FIRST, { waitFor: gate.opened }, { destroy: true }]);
    upstream.script({ body: STREAM });
    const repeat = repeated(service.url);
    await waitUntil('the repeat waits', isJoined(user));
    gate.open();
    await soon('the repeat is answered', repeat.closed);
    assert.equal((await repeat.head).headers['x-service-replayed'], undefined);
    assert.equal(saidOf(wire, repeat.text()).charged, REPORTED);
    assert.equal(upstream.requests.length, before + 2);
    assert.deepEqual(await service.wallet(app, user), { balance: BALANCE - REPORTED, held: 0, openStreams: 0 });
  });
}

function saidOf(wire: SpokenWire, text: string) {
  const headers = new Headers({ 'content-type': 'text/event-stream' });
  return saidIn(wire, { text, body: {}, headers });
}
