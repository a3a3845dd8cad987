import assert from 'node:assert/strict';
import { test } from 'node:test';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { COMPLETIONS, send } from '../support/client.ts';
import { holdFor, leftFor, outputAffordedBy, shareOf } from '../support/hold-price.ts';
import { completionBody, streamSteps } from '../support/scripted-upstream.ts';
import { sentBytesOf } from '../support/prompt-size.ts';
import { startTestService } from '../support/service.ts';
import { setStage } from '../support/stage.ts';

/**
 * The figures come from `catalogueAt`: the output limit of a call that sets none, and the smallest output worth a call.
 */
const MODEL_MAX = 1_000;
const FLOOR = 16;
const HEADER = 'x-service-max-output-tokens';

let users = 0;

const { upstream, service, app } = await setStage();

type Outcome = Awaited<ReturnType<typeof call>>;

/** One call of a fresh user to a provider that uses as much as possible: every byte is a token, every token is generated. */
async function call(body: string, wallet: { readonly balance: number; readonly cap?: number }) {
  const user = `user-${(users += 1)}`;
  await service.fund(app, user, wallet.balance, wallet.cap);
  const before = upstream.requests.length;
  upstream.script(({ body: sent }) => {
    const { max_completion_tokens: limit, n = 1, stream } = sent as Record<string, number>;
    const usage = {
      prompt_tokens: sentBytesOf(body) + 512,
      completion_tokens: Number(limit) * n,
      total_tokens: 0,
    };
    const facts = { model: 'large-upstream', usage };
    if (stream) return { body: streamSteps({ ...facts, pieces: ['Hi.'], includeUsageChunk: true }) };
    return { body: completionBody({ ...facts, content: 'Hi.' }) };
  });
  const reply = await send(COMPLETIONS, { url: service.url, key: app.liveKey, user, body });
  return { reply, user, seen: upstream.requests[before] };
}

function bodyOf(fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({ model: 'large', messages: [{ role: 'user', content: 'Tell me a story.' }], ...fields });
}

function limitSent({ seen }: Outcome): unknown {
  return (seen?.body as Record<string, unknown> | undefined)?.['max_completion_tokens'];
}

/** Expects a refusal with 402 and without a trace: no provider call, no hold, no charge (CC-08). */
async function expectRefused(outcome: Outcome, code: string, balance: number): Promise<void> {
  assert.equal(outcome.reply.status, 402, outcome.reply.text);
  assert.equal(outcome.reply.error['code'], code);
  assert.equal(outcome.seen, undefined);
  assert.deepEqual(await service.wallet(app, outcome.user), { balance, held: 0, openStreams: 0 });
  assert.deepEqual(await service.check(), []);
}

test('WA-07 an affordable call keeps its output limit', async () => {
  const body = bodyOf();
  const balance = leftFor(holdFor(body, MODEL_MAX));
  const outcome = await call(body, { balance });
  assert.equal(outcome.reply.status, 200, outcome.reply.text);
  assert.equal(limitSent(outcome), MODEL_MAX);
  assert.equal(outcome.reply.headers.get(HEADER), null);
  // Everything was used, and paid to the micro.
  assert.equal((await service.wallet(app, outcome.user)).balance, balance - holdFor(body, MODEL_MAX));
});

for (const spare of [0, 1, 2, 3, 4, 5, 999, 1_234]) {
  test(`WA-07 a wallet ${spare} micros above the floor gets its share’s full output`, async () => {
    const body = bodyOf();
    const balance = holdFor(body, FLOOR) + spare;
    const afforded = outputAffordedBy(shareOf(balance, holdFor(body, FLOOR)), body, MODEL_MAX);
    const outcome = await call(body, { balance });
    assert.equal(outcome.reply.status, 200, outcome.reply.text);
    assert.equal(limitSent(outcome), afforded);
    assert.equal(outcome.reply.headers.get(HEADER), String(afforded));
    const charge = Number(outcome.reply.headers.get('x-service-charge-micros'));
    assert.equal(charge, holdFor(body, afforded ?? 0));
    assert.ok(charge <= balance);
    assert.deepEqual(await service.wallet(app, outcome.user), { balance: balance - charge, held: 0, openStreams: 0 });
    assert.deepEqual(await service.check(), []);
  });
}

test('WA-07 a stream is lowered in the same way', async () => {
  const body = bodyOf({ stream: true });
  const balance = leftFor(holdFor(body, 321));
  const outcome = await call(body, { balance });
  assert.equal(outcome.reply.status, 200, outcome.reply.text);
  assert.equal(limitSent(outcome), 321);
  assert.equal(outcome.reply.headers.get(HEADER), '321');
  const left = balance - holdFor(body, 321);
  assert.deepEqual(await service.wallet(app, outcome.user), { balance: left, held: 0, openStreams: 0 });
});

test('WA-07 a cap lowers the output limit too', async () => {
  const body = bodyOf();
  const cap = leftFor(holdFor(body, 40) + 3);
  const outcome = await call(body, { balance: 1_000_000, cap });
  assert.equal(limitSent(outcome), 40);
  assert.equal(outcome.reply.headers.get(HEADER), '40');
  const charge = 1_000_000 - (await service.wallet(app, outcome.user)).balance;
  assert.equal(charge, holdFor(body, 40));
  assert.ok(charge <= cap);
});

test('WA-07 a wallet one micro below the floor is refused', async () => {
  const body = bodyOf();
  const balance = holdFor(body, FLOOR) - 1;
  await expectRefused(await call(body, { balance }), 'PAYMENT_REQUIRED', balance);
});

test('WA-07 a cap one micro below the floor is refused', async () => {
  const body = bodyOf();
  const outcome = await call(body, { balance: 1_000_000, cap: holdFor(body, FLOOR) - 1 });
  await expectRefused(outcome, 'APP_SPEND_CAP_EXCEEDED', 1_000_000);
  assert.ok('topupUrl' in outcome.reply.error); // Spending alone reaches the cap, so this is not a lost race.
});

for (const parameter of ['max_tokens', 'max_completion_tokens']) {
  test(`WA-07 a caller's own ${parameter} below the floor becomes the floor`, async () => {
    const body = bodyOf({ [parameter]: 5 });
    const outcome = await call(body, { balance: holdFor(body, 5) });
    assert.equal(outcome.reply.status, 200, outcome.reply.text);
    assert.equal(limitSent(outcome), 5);
    assert.equal(outcome.reply.headers.get(HEADER), null);
    const balance = holdFor(body, 5) - 1;
    await expectRefused(await call(body, { balance }), 'PAYMENT_REQUIRED', balance);
  });
}

test("WA-07 a caller's own limit is never raised", async () => {
  const small = await call(bodyOf({ max_tokens: 77 }), { balance: 1_000_000 });
  assert.equal(limitSent(small), 77);
  const large = await call(bodyOf({ max_completion_tokens: 5_000 }), { balance: 1_000_000 });
  assert.equal(limitSent(large), MODEL_MAX);
  assert.equal(large.reply.headers.get(HEADER), null); // Money was not the reason.
});

test('WA-07 several choices share the affordable output', async () => {
  const body = bodyOf({ n: 3, max_completion_tokens: 100 });
  const enough = leftFor(holdFor(body, 300));
  const whole = await call(body, { balance: enough });
  assert.equal(limitSent(whole), 100);
  assert.equal((await service.wallet(app, whole.user)).balance, enough - holdFor(body, 300));
  for (const balance of [holdFor(body, 299), holdFor(body, 100), holdFor(body, 3 * FLOOR)]) {
    const afforded = Math.floor((outputAffordedBy(shareOf(balance, holdFor(body, 3 * FLOOR)), body, 300) ?? 0) / 3);
    const outcome = await call(body, { balance });
    assert.equal(limitSent(outcome), afforded);
    assert.equal(outcome.reply.headers.get(HEADER), String(afforded));
    assert.equal((await service.wallet(app, outcome.user)).balance, balance - holdFor(body, 3 * afforded));
  }
  const balance = holdFor(body, 3 * FLOOR) - 1;
  await expectRefused(await call(body, { balance }), 'PAYMENT_REQUIRED', balance);
});

test('WA-07 a charge never exceeds its hold', async () => {
  const body = bodyOf({ max_completion_tokens: 50 });
  const hold = holdFor(body, 50);
  for (const [prompt, completion] of [
    [1_000_000, 50],
    [10, 1_000_000],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER],
  ]) {
    const user = `user-${(users += 1)}`;
    await service.fund(app, user, 2 * hold);
    const usage = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: 0 };
    upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.', usage }) });
    const reply = await send(COMPLETIONS, { url: service.url, key: app.liveKey, user, body });
    assert.equal(reply.headers.get('x-service-charge-micros'), String(hold));
    assert.deepEqual(await service.wallet(app, user), { balance: hold, held: 0, openStreams: 0 });
  }
  assert.deepEqual(await service.check(), []);
});

test('WA-07 a hold prices prompts at the dearest rate', async () => {
  for (const prices of [
    { cacheWriteMicrosPerMillion: 3_000_000 },
    {
      price: { inputMicrosPerMillion: 1_000_000, cachedInputMicrosPerMillion: 3_000_000, outputMicrosPerMillion: 4e6 },
    },
  ]) {
    const dear = await startTestService(catalogueAt(upstream.baseUrl, prices));
    const dearApp = await dear.addApp();
    const body = bodyOf({ max_completion_tokens: 1 });
    const hold = Math.ceil(((3 * (sentBytesOf(body) + 512) + 4) * 11) / 10);
    await dear.fund(dearApp, 'short', hold - 1);
    await dear.fund(dearApp, 'enough', hold);
    upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.' }) });
    const statusOf = async (user: string): Promise<number> =>
      (await send(COMPLETIONS, { url: dear.url, key: dearApp.liveKey, user, body })).status;
    assert.deepEqual([await statusOf('short'), await statusOf('enough')], [402, 200]);
    await dear.close();
  }
});

test('CC-23 reported usage of zero costs nothing', async () => {
  const user = `user-${(users += 1)}`;
  await service.fund(app, user, 100_000);
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 };
  upstream.script({ body: completionBody({ model: 'large-upstream', content: 'Hi.', usage }) });
  const reply = await send(COMPLETIONS, { url: service.url, key: app.liveKey, user, body: bodyOf() });
  assert.equal(reply.headers.get('x-service-charge-micros'), String(chargeFor({ prompt: 0, completion: 0 })));
  assert.deepEqual(await service.wallet(app, user), { balance: 100_000, held: 0, openStreams: 0 });
});
