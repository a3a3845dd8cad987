import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { catalogueAt, chargeFor } from '../support/catalogue.ts';
import { COMPLETIONS, type Reply, send } from '../support/client.ts';
import { waitUntil } from '../support/wait-until.ts';
import { createGate } from '../support/gate.ts';
import { holdFor } from '../support/hold-price.ts';
import {
  completionBody,
  type ScriptedUpstream,
  startScriptedUpstream,
  streamSteps,
  type UpstreamScript,
} from '../support/scripted-upstream.ts';
import { type SecondGateway, startSecondGateway } from '../support/second-gateway.ts';
import { startTestService, type TestApp, type TestService } from '../support/service.ts';

const CALLS = 200;
const ADMITTED = 3;
const RICH = 1_000_000_000;
const USAGE = { prompt_tokens: 40, completion_tokens: 20, total_tokens: 60 };
const CHARGE = chargeFor({ prompt: 40, completion: 20 });
/** No default of the catalogue is asked for: the hold is of exactly this. */
const OUTPUT_TOKENS = 300;

let upstream: ScriptedUpstream;
let service: TestService;
let second: SecondGateway;
let app: TestApp;

before(async () => {
  upstream = await startScriptedUpstream();
  service = await startTestService(catalogueAt(upstream.baseUrl, { timeoutMs: 60_000 }));
  second = await startSecondGateway(service);
  app = await service.addApp();
});

after(async () => {
  await second.close();
  await service.close();
  await upstream.close();
});

function bodyOf(isStream: boolean): string {
  return JSON.stringify({
    model: 'large',
    messages: [{ role: 'user', content: 'How much is the fish? — Wieviel kostet der Fisch?' }],
    max_completion_tokens: OUTPUT_TOKENS,
    ...(isStream ? { stream: true } : {}),
  });
}

function answerOf(isStream: boolean, opened: Promise<void>): UpstreamScript {
  if (!isStream) {
    const write = completionBody({ model: 'large-upstream', content: 'A lot.', usage: USAGE });
    return { headers: { 'content-type': 'application/json' }, body: [{ waitFor: opened }, { write }] };
  }
  const steps = streamSteps({ model: 'large-upstream', pieces: ['A lot.'], usage: USAGE, includeUsageChunk: true });
  return { body: [{ waitFor: opened }, ...steps] };
}

interface Rush {
  readonly user: string;
  readonly urls: readonly string[];
  readonly isStream: boolean;
}

/** Sends all calls at once to a provider that answers none before every other call has been refused. */
async function rush({ user, urls, isStream }: Rush): Promise<{ replies: readonly Reply[]; reached: number }> {
  const gate = createGate();
  const before = upstream.requests.length;
  upstream.script(answerOf(isStream, gate.opened));
  let answered = 0;
  const replies = Array.from({ length: CALLS }, async (_, index) => {
    const url = urls[index % urls.length] ?? '';
    const reply = await send(COMPLETIONS, { url, key: app.liveKey, user, body: bodyOf(isStream) });
    answered += 1;
    return reply;
  });
  await waitUntil('every call is refused or with the provider', () => {
    return answered + upstream.requests.length - before >= CALLS;
  });
  const { held } = await service.wallet(app, user);
  assert.equal(held, ADMITTED * holdFor(bodyOf(isStream), OUTPUT_TOKENS));
  gate.open();
  return { replies: await Promise.all(replies), reached: upstream.requests.length - before };
}

async function expectExactlyThree(user: string, balance: number, result: Awaited<ReturnType<typeof rush>>) {
  const { replies, reached } = result;
  assert.equal(replies.filter(({ status }) => status === 200).length, ADMITTED);
  assert.equal(replies.filter(({ status }) => status === 402).length, CALLS - ADMITTED);
  assert.equal(reached, ADMITTED);
  const left = { balance: balance - ADMITTED * CHARGE, held: 0, openStreams: 0 };
  assert.deepEqual(await service.wallet(app, user), left);
  assert.deepEqual(await service.check(), []);
  const refused = replies.filter(({ status }) => status === 402);
  return new Set(refused.map(({ error }) => `${String(error['code'])}, link: ${String('topupUrl' in error)}`));
}

for (const isStream of [false, true]) {
  const kind = isStream ? 'streams' : 'plain calls';
  const hold = holdFor(bodyOf(isStream), OUTPUT_TOKENS);

  test(`WA-02 of ${CALLS} ${kind} at once on a wallet worth exactly ${ADMITTED}, ${ADMITTED} are admitted`, async () => {
    const user = `balance-${kind.slice(0, 5)}`;
    await service.fund(app, user, ADMITTED * hold);
    const result = await rush({ user, urls: [service.url], isStream });
    const refusals = await expectExactlyThree(user, ADMITTED * hold, result);
    assert.deepEqual([...refusals], ['PAYMENT_REQUIRED, link: true']);
  });

  test(`WA-03 of ${CALLS} ${kind} at once under a cap worth exactly ${ADMITTED}, ${ADMITTED} are admitted`, async () => {
    const user = `cap-${kind.slice(0, 5)}`;
    await service.fund(app, user, RICH, ADMITTED * hold);
    const result = await rush({ user, urls: [service.url], isStream });
    const refusals = await expectExactlyThree(user, RICH, result);
    // Nothing was spent when they were refused, so that each of them lost the race to other calls' holds.
    assert.deepEqual([...refusals], ['APP_SPEND_CAP_EXCEEDED, link: false']);
  });
}

test('WA-02 two gateways on one database admit no more between them than one does', async () => {
  const hold = holdFor(bodyOf(false), OUTPUT_TOKENS);
  await service.fund(app, 'two-gateways', ADMITTED * hold);
  const result = await rush({ user: 'two-gateways', urls: [service.url, second.url], isStream: false });
  await expectExactlyThree('two-gateways', ADMITTED * hold, result);
});

test('WA-03 two gateways on one database keep one cap', async () => {
  const hold = holdFor(bodyOf(true), OUTPUT_TOKENS);
  await service.fund(app, 'two-gateways-cap', RICH, ADMITTED * hold);
  const result = await rush({ user: 'two-gateways-cap', urls: [service.url, second.url], isStream: true });
  await expectExactlyThree('two-gateways-cap', RICH, result);
});

test('WA-07 one micro less than three holds admits two whole calls and a third with less output', async () => {
  const hold = holdFor(bodyOf(false), OUTPUT_TOKENS);
  await service.fund(app, 'one-less', ADMITTED * hold - 1);
  const gate = createGate();
  const before = upstream.requests.length;
  upstream.script(answerOf(false, gate.opened));
  const calls = Array.from({ length: 4 }, () => {
    return send(COMPLETIONS, { url: service.url, key: app.liveKey, user: 'one-less', body: bodyOf(false) });
  });
  assert.equal((await Promise.race(calls)).status, 402);
  await upstream.arrival(before + 2);
  gate.open();
  const limits = upstream.requests
    .slice(before)
    .map(({ body }) => (body as Record<string, unknown>)['max_completion_tokens']);
  const sorted = limits.map(Number).toSorted((left, right) => left - right);
  assert.deepEqual(sorted, [OUTPUT_TOKENS - 1, OUTPUT_TOKENS, OUTPUT_TOKENS]);
  const statuses = (await Promise.all(calls)).map(({ status }) => status);
  assert.equal(statuses.filter((status) => status === 200).length, 3);
  assert.deepEqual(await service.check(), []);
});
