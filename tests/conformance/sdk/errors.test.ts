import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  asPaymentRequired,
  guard,
  isPurserError,
  PaymentRequiredError,
  Purser,
  ServiceApiError,
} from '../../../packages/sdk/src/sdk.ts';
import { setApp } from '../../support/operator-acts.ts';
import { setSimulatedStage } from '../../support/simulated-service.ts';
import { CLIENTS, requestsAt } from '../../support/sdk.ts';
import { REDIRECT_URI } from '../../support/service.ts';
import { sql } from '../../support/sql.ts';

/** The companion library's errors (SDK-01), against the real service. */

const { service, app } = await setSimulatedStage();
await service.fund(app, 'capped', 1_000_000, 1);
await service.fund(app, 'blocked', 1_000_000);
await service.setWallet(app, 'blocked', 'is_suspended = true');

function purserBy(apiKey = app.liveKey): Purser {
  return new Purser({ baseURL: service.url, apiKey });
}

async function raisedBy(work: () => Promise<unknown>): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was raised.');
}

const REFUSED = [
  ['nobody', 'PAYMENT_REQUIRED', true],
  ['capped', 'APP_SPEND_CAP_EXCEEDED', true],
  ['blocked', 'WALLET_SUSPENDED', false],
] as const;

function assertPaymentRequired(error: unknown, code: string, hasLink: boolean, correlationId = /^cor_/): void {
  assert.ok(error instanceof PaymentRequiredError, String(error));
  assert.ok(isPurserError(error, 'PaymentRequiredError') && !isPurserError(error, 'ServiceApiError'));
  assert.deepEqual([error.name, error.status, error.code], ['PaymentRequiredError', 402, code]);
  assert.match(error.correlationId, correlationId);
  assert.match(
    error.message,
    /^[A-Z].{10,}\.(?: https:\S+)?$/,
    'by Responses and Messages, the link is in the message',
  );
  assert.equal('topupUrl' in error, hasLink);
  if (hasLink) assert.match(error.topupUrl ?? '', /^https:\/\/purser\.test\/topup\/.+/);
  assert.equal(error.cause, undefined, 'it does not contain the question');
}

function pathOf(name: string): string {
  if (name.includes('anthropic')) return '/v1/messages';
  return name.includes('Responses') ? '/v1/responses' : '/v1/chat/completions';
}

/** The message without the ids of the call, which Anthropic's client shows. */
function unnumbered({ message }: Error): string {
  return message.replaceAll(/cor_\w+/g, 'cor_');
}

for (const [name, says] of Object.entries(CLIENTS)) {
  test(`SDK-01 ${name}: a 402 becomes a PaymentRequiredError after one request`, async () => {
    for (const [user, code, hasLink] of REFUSED) {
      let error: unknown;
      const requests = await requestsAt(service.url, async () => {
        error = await raisedBy(() => guard(() => says(purserBy().forUser(user), 'echo', 'Hello')));
      });
      assertPaymentRequired(error, code, hasLink);
      assert.deepEqual(requests, [pathOf(name)]);
    }
  });

  test(`SDK-01 ${name}: any other error stays the client's own`, async () => {
    for (const [model, key] of [
      ['unheard-of', undefined],
      ['secret', undefined],
      ['sim.secret-1', undefined],
      ['echo', 'svc_live_nobody'],
    ] as const) {
      const own = await raisedBy(() => says(purserBy(key).forUser('anna'), model, 'Hello'));
      const guarded = await raisedBy(() => guard(() => says(purserBy(key).forUser('anna'), model, 'Hello')));
      assert.ok(!isPurserError(guarded), String(guarded));
      assert.ok(guarded instanceof Error && own instanceof Error);
      assert.deepEqual([guarded.constructor, unnumbered(guarded)], [own.constructor, unnumbered(own)]);
      assert.equal(asPaymentRequired(guarded), undefined);
    }
  });

  test(`SDK-02 ${name}: a call with the SDK’s settings is charged to that user`, async () => {
    const purser = purserBy();
    const { balanceMicros } = await purser.balance('anna');
    assert.match(await guard(() => says(purser.forUser('anna'), 'echo', 'Hello')), /simulator/);
    assert.ok((await purser.balance('anna')).balanceMicros < balanceMicros);
  });

  test(`SDK-01 ${name}: a sandbox 402 is a PaymentRequiredError too`, async () => {
    const user = `poor-${name.replaceAll(/\W/g, '')}`;
    await sql(service)`insert into sandbox.wallets (app_id, user_id, balance_micros) values (${app.appId}, ${user}, 0)`;
    const error = await raisedBy(() => guard(() => says(purserBy(app.testKey).forUser(user), 'echo', 'Hello')));
    assertPaymentRequired(error, 'PAYMENT_REQUIRED', true);
    assert.ok(isPurserError(error, 'PaymentRequiredError') && error.topupUrl === 'https://purser.test/topup/sandbox');
  });
}

test('SDK-01 the fetch returns a 402 and does not throw', async () => {
  const { fetch, baseURL } = purserBy().forUser('nobody');
  const body = JSON.stringify({ model: 'echo', messages: [{ role: 'user', content: 'Hello' }] });
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${baseURL}/chat/completions`, { method: 'POST', body, headers });
  assert.equal(response.status, 402);
  assert.equal(((await response.json()) as { error: { code: string } }).error.code, 'PAYMENT_REQUIRED');
});

const STREAMED = Object.entries(CLIENTS).filter(([name]) => name.endsWith('streamed') && !name.includes('Responses'));
for (const [name, says] of STREAMED) {
  test(`SDK-01 ${name}: a payment error in mid-stream is recognised by its code`, async () => {
    const purser = new Purser({ baseURL: 'https://purser.test', apiKey: 'k', fetch: async () => brokenOff(name) });
    const error = await raisedBy(() => guard(() => says(purser.forUser('anna'), 'echo', 'Hello')));
    assertPaymentRequired(error, 'APP_SPEND_CAP_EXCEEDED', false, name.startsWith('@ai-sdk') ? /^$/ : /^cor_1$/);
  });
}

const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'sim.echo-1', content: [] };
const BEGUN = {
  type: 'message_start',
  message: { ...MESSAGE, stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 0 } },
};

/** A stream whose charge no longer fits under the cap, ended as the service ends it (ER-06). */
function brokenOff(name: string): Response {
  const choices = [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }];
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'sim.echo-1', choices };
  const type = 'spend_cap';
  const error = {
    code: 'APP_SPEND_CAP_EXCEEDED',
    message: 'The cap is reached.',
    correlationId: 'cor_1',
    type,
    param: null,
  };
  const frames = [chunk, { error, choices: error.message }].map((frame) => `data: ${JSON.stringify(frame)}\n\n`);
  const failed = { type: 'error', error: { ...error, type: 'api_error', serviceType: type }, request_id: 'cor_1' };
  const text = name.includes('anthropic')
    ? `event: message_start\ndata: ${JSON.stringify(BEGUN)}\n\nevent: error\ndata: ${JSON.stringify(failed)}\n\n`
    : frames.join('');
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } });
}

test('SDK-01 a helper throws PaymentRequiredError on a 402', async () => {
  assertPaymentRequired(await raisedBy(() => purserBy().balance('nobody')), 'PAYMENT_REQUIRED', true);
  assertPaymentRequired(await raisedBy(() => purserBy(app.testKey).balance('anna')), 'PAYMENT_REQUIRED', true);
});

function helpersBy(key: string): readonly (() => Promise<unknown>)[] {
  const purser = purserBy(key);
  return [
    () => purser.balance('anna'),
    () => purser.connect('anna', { redirectUri: REDIRECT_URI }),
    () => purser.usageSummary('anna'),
  ];
}

test('SDK-01 a helper throws ServiceApiError on any other failure', async () => {
  const suspended = await service.addApp();
  await setApp(service, suspended, "status = 'suspended'");
  const rows: readonly (readonly [() => Promise<unknown>, number, string])[] = [
    ...helpersBy('svc_live_nobody').map((call) => [call, 401, 'UNAUTHORIZED'] as const),
    [() => purserBy().connect('anna', { redirectUri: 'https://evil.test/' }), 400, 'BAD_REQUEST'],
    ...helpersBy(suspended.liveKey).map((call) => [call, 403, 'APP_SUSPENDED'] as const),
    [() => purserBy().usageSummary('anna', { month: '2026-13' }), 400, 'BAD_REQUEST'],
  ];
  for (const [call, status, code] of rows) {
    const error = await raisedBy(call);
    assert.ok(error instanceof ServiceApiError, String(error));
    assert.ok(isPurserError(error, 'ServiceApiError') && !isPurserError(error, 'PaymentRequiredError'));
    assert.deepEqual([error.name, error.status, error.code], ['ServiceApiError', status, code]);
    assert.match(error.correlationId, /^cor_/);
    assert.match(error.message, /^[A-Z`]/);
  }
  const named = await raisedBy(() => purserBy('svc_live_nobody').balance('anna', { correlationId: 'mine-1' }));
  assert.ok(isPurserError(named, 'ServiceApiError'));
  assert.equal(named.correlationId, 'mine-1');
});
