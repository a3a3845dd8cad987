import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFunding } from '../../packages/service/src/ledger/funding/funding.ts';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { chargeFor } from '../support/catalogue.ts';
import { chat, type Reply } from '../support/client.ts';
import { assertRefusal } from '../support/refusal.ts';
import { VECTORS } from '../support/sdk-vectors.ts';
import { completionBody } from '../support/scripted-upstream.ts';
import { setStage } from '../support/stage.ts';

const USAGE = { prompt_tokens: 100, completion_tokens: 10 };
const CHARGE = chargeFor({ prompt: 100, completion: 10 });

/** The sentence that the cases of the SDK and the Python package have for it too. */
const NO_MONEY = VECTORS.answers.find(({ name }) => name === 'no money')?.message;

const { upstream, service, app, callAs: ask } = await setStage({ model: { timeoutMs: 60_000 } });
upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });

/** The parts of an answer by which a caller could tell two users apart, without those that differ every time. */
function shapeOf(reply: Reply) {
  const { correlationId: _, topupUrl, ...error } = reply.error;
  const names = [...reply.headers.keys()].toSorted();
  return { status: reply.status, error, names, hasUrl: topupUrl !== undefined, keys: Object.keys(reply.body) };
}

test('WA-02 missing, empty and disconnected wallets are refused alike', async () => {
  await service.fund(app, 'u-empty', 0);
  await service.fund(app, 'u-small', 5);
  await service.fund(app, 'u-left1', 1_000_000);
  await service.setWallet(app, 'u-left1', 'is_connected = false');
  for (const stream of [false, true]) {
    const replies = await Promise.all(
      ['u-none1', 'u-empty', 'u-small', 'u-left1'].map((user) => ask(user, { stream })),
    );
    for (const reply of replies) {
      assertRefusal(reply, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true });
      assert.equal(reply.error['message'], NO_MONEY);
      assert.deepEqual(shapeOf(reply), shapeOf(replies[0] as Reply));
      // The names have the same length, so that the links must too.
      assert.equal(String(reply.body['topupUrl']).length, String(replies[0]?.body['topupUrl']).length);
    }
  }
});

test('WA-02 a link is signed for app and user', async () => {
  const links = await Promise.all(
    ['u-1', 'u-2'].map(async (user) => new URL(String((await ask(user)).body['topupUrl']))),
  );
  for (const link of links) {
    assert.equal(link.origin, 'https://purser.test');
    assert.match(link.pathname, /^\/topup\/[A-Za-z0-9_-]{60,}$/);
    assert.equal(link.search, '');
  }
  assert.notEqual(links[0]?.pathname, links[1]?.pathname);
});

test('WA-02 a refused call creates no wallet', async () => {
  await ask('u-nobody');
  await assert.rejects(service.wallet(app, 'u-nobody'), /no such wallet/);
});

test('WA-03 a used-up cap refuses despite a full wallet', async () => {
  await service.fund(app, 'u-capped', 100_000_000, 6_000);
  const replies: Reply[] = [];
  for (let count = 0; count < 100 && replies.at(-1)?.status !== 402; count += 1) replies.push(await ask('u-capped'));
  const last = replies.at(-1);
  assert.ok(last !== undefined && replies.length > 2);
  assertRefusal(last, { code: 'APP_SPEND_CAP_EXCEEDED', param: null, hasLink: true });
  const { balance, held } = await service.wallet(app, 'u-capped');
  assert.equal(100_000_000 - balance, (replies.length - 1) * CHARGE);
  assert.ok(100_000_000 - balance <= 6_000, 'no more than the cap was spent');
  assert.equal(held, 0);
  assert.deepEqual(await service.check(), []);
});

test('WA-03 a cap reached only by holds gives no link', async () => {
  await service.fund(app, 'u-racer', 100_000_000, 2_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const answer = { write: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) };
  upstream.script({ body: [{ waitFor: held }, answer] });
  const arrived = upstream.arrival(upstream.requests.length);
  const running = ask('u-racer');
  await arrived;
  const lost = await ask('u-racer');
  assertRefusal(lost, { code: 'APP_SPEND_CAP_EXCEEDED', param: null, hasLink: false, isPassing: true });
  assert.match(String(lost.error['message']), /on hold for calls that still run/);
  release();
  assert.equal((await running).status, 200);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  assert.equal((await ask('u-racer')).status, 200, 'the room comes back when the other call ends');

  await service.fund(app, 'u-cap1', 1_000_000, 1);
  const upFront = await ask('u-cap1');
  assertRefusal(upFront, { code: 'APP_SPEND_CAP_EXCEEDED', hasLink: true });
  assert.doesNotMatch(String(upFront.error['message']), /on hold/);
});

test('WA-13 a parallel call gets its share of the rest', async () => {
  await service.fund(app, 'u-parallel', 6_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  upstream.script({
    body: [{ waitFor: held }, { write: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) }],
  });
  const running: Promise<Reply>[] = [];
  let last: Reply | undefined;
  while (last === undefined && running.length < 5) {
    const arrived = upstream.arrival(upstream.requests.length);
    const next = ask('u-parallel');
    last = (await Promise.race([next, arrived.then(() => undefined)])) ?? undefined;
    if (last === undefined) running.push(next);
  }
  assert.ok(running.length >= 2 && last !== undefined, `${running.length} at once`);
  // WA-02: the words are those for a stranger, and only the headers say that a retry helps.
  assertRefusal(last, { code: 'PAYMENT_REQUIRED', param: null, hasLink: true, isPassing: true });
  assert.equal(last.error['message'], NO_MONEY);
  assert.equal(last.headers.get('retry-after'), '1');
  // WA-02: once the user has disconnected, running calls tell nothing of it.
  await service.setWallet(app, 'u-parallel', 'is_connected = false');
  assert.deepEqual(shapeOf(await ask('u-parallel')), shapeOf(await ask('u-stranger')));
  await service.setWallet(app, 'u-parallel', 'is_connected = true');
  release();
  for (const reply of await Promise.all(running)) assert.equal(reply.status, 200);
  upstream.script({ body: completionBody({ model: 'm', content: 'Hi', usage: USAGE }) });
  assert.equal((await ask('u-parallel')).status, 200);
});

test('WA-03 an earlier month’s spending leaves the cap whole', async () => {
  await service.fund(app, 'u-month', 1_000_000, 6_000);
  await service.setWallet(app, 'u-month', `cap_month = '2020-01-01', cap_spent_micros = 6000`);
  assert.equal((await ask('u-month')).status, 200);
});

test('WA-04 a suspended wallet’s refusal shows no link or reason', async () => {
  await service.fund(app, 'u-susp', 777_777);
  await service.setWallet(app, 'u-susp', 'is_suspended = true');
  const amount = micros(888_888n);
  const userId = 'u-susp' as EndUserId;
  const credit = { appId: app.appId, userId, kind: 'top_up', amount, key: 'second' } as const;
  for (const isFunded of [false, true]) {
    if (isFunded) await createFunding(service.database.owner).credit(credit);
    for (const stream of [false, true]) {
      const reply = await ask('u-susp', { stream });
      assertRefusal(reply, { code: 'WALLET_SUSPENDED', param: null, hasLink: false });
      assert.doesNotMatch(String(reply.error['message']), /\d|EUR|refund|charge-?back|claw|dispute|shortfall|https?:/i);
      assert.ok(!reply.text.includes('topup'));
    }
  }
  assert.equal((await service.wallet(app, 'u-susp')).balance, 777_777 + 888_888);
});

test('WA-04 the user’s wallet in another app is separate', async () => {
  const other = await service.addApp();
  await service.fund(other, 'u-susp', 1_000_000);
  assert.equal((await chat({ url: service.url, key: other.liveKey, user: 'u-susp' })).status, 200);
});

test('WA-07 a poor wallet gets output it can afford', async () => {
  await service.fund(app, 'u-lower', 2_000);
  const reply = await ask('u-lower');
  assert.equal(reply.status, 200, reply.text);
  const lowered = Number(reply.headers.get('x-service-max-output-tokens'));
  assert.ok(lowered >= 16 && lowered < 1_000, String(lowered));
  const sent = upstream.requests.at(-1)?.body as Record<string, unknown>;
  assert.equal(sent['max_completion_tokens'], lowered);
});
