import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { sql, sqlValue } from '../support/sql.ts';
import { emptyBucket } from '../support/violations.ts';
import { setSimulatedStage } from '../support/simulated-service.ts';

/** An unmodified client library and refused calls. The matrix has the scenarios for all clients. */

const simulated = await setSimulatedStage();
const client = simulated.clientOf(simulated.app.liveKey, 'anna');

const messages = [{ role: 'user' as const, content: 'How much is the fish?' }];

type Failing = (failing: OpenAI) => Promise<unknown>;
const ask =
  (model: string, more: object = {}): Failing =>
  (failing) =>
    failing.chat.completions.create({ model, messages, ...more });

interface Row {
  readonly code: string;
  readonly status: number;
  readonly error: abstract new (...args: never[]) => Error;
  readonly who?: () => OpenAI;
  readonly act: Failing;
}

const poor = () => simulated.clientOf(simulated.app.liveKey, 'nobody');
const ERRORS: readonly Row[] = [
  {
    code: 'UNAUTHORIZED',
    status: 401,
    error: OpenAI.AuthenticationError,
    who: () => simulated.clientOf('sk-1', 'anna'),
    act: ask('echo'),
  },
  { code: 'BAD_REQUEST', status: 400, error: OpenAI.BadRequestError, act: ask('unheard-of') },
  { code: 'BAD_REQUEST', status: 400, error: OpenAI.BadRequestError, act: ask('echo', { unheard_of: 1 }) },
  {
    code: 'BAD_REQUEST',
    status: 400,
    error: OpenAI.BadRequestError,
    who: () => simulated.clientOf(simulated.app.liveKey, ''),
    act: ask('echo'),
  },
  { code: 'PAYMENT_REQUIRED', status: 402, error: OpenAI.APIError, who: poor, act: ask('echo') },
  { code: 'PAYMENT_REQUIRED', status: 402, error: OpenAI.APIError, who: poor, act: ask('echo', { stream: true }) },
  { code: 'MODEL_NOT_ENTITLED', status: 403, error: OpenAI.PermissionDeniedError, act: ask('sim.secret-1') },
  {
    code: 'NOT_FOUND',
    status: 404,
    error: OpenAI.NotFoundError,
    act: (failing) => failing.models.retrieve('unheard-of'),
  },
  { code: 'BAD_REQUEST', status: 400, error: OpenAI.BadRequestError, act: (failing) => failing.post('/completions') },
  { code: 'PAYLOAD_TOO_LARGE', status: 413, error: OpenAI.APIError, act: ask('echo', { user: 'x'.repeat(1_100_000) }) },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('error') },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('rejects') },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('garbage') },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('cut') },
  {
    code: 'UPSTREAM_PROVIDER_ERROR',
    status: 502,
    error: OpenAI.InternalServerError,
    act: ask('garbage', { stream: true }),
  },
];

async function failureOf(act: () => Promise<unknown>): Promise<InstanceType<typeof OpenAI.APIError>> {
  try {
    await act();
  } catch (fault) {
    assert.ok(fault instanceof OpenAI.APIError, String(fault));
    return fault;
  }
  throw new Error('The call was answered.');
}

for (const [index, { code, status, error, who, act }] of ERRORS.entries()) {
  test(`ER-07 a stock client raises its own error for ${code} (${index + 1})`, async () => {
    const receipts = await countReceipts();
    const fault = await failureOf(() => act(who?.() ?? client)); // With its own retries on: it must not use them here.
    assert.ok(fault instanceof error, fault.constructor.name);
    assert.deepEqual([fault.status, fault.code], [status, code]);
    assert.equal(typeof fault.type, 'string');
    assert.equal((fault.error as Record<string, unknown>)['correlationId'], fault.requestID);
    assert.match(fault.message, new RegExp(`^${status} [A-Z\`]`));
    assert.doesNotMatch(fault.message, /sim-host|sim-org|sim-internal|engine/);
    assert.equal((await countReceipts()) - receipts, status === 502 ? 1 : 0, 'one attempt and no retry');
  });
}

async function countReceipts(): Promise<number> {
  const count = await sqlValue<number>(simulated.service)`select count(*)::int as count from usage.calls`;
  return count ?? 0;
}

test('ER-07 a reached cap offers payment, a blocked wallet none', async () => {
  const { service, app, clientOf } = simulated;
  await service.fund(app, 'capped', 1_000_000, 1);
  await service.fund(app, 'blocked', 1_000_000);
  await service.setWallet(app, 'blocked', 'is_suspended = true');
  for (const [user, code, type, hasLink] of [
    ['capped', 'APP_SPEND_CAP_EXCEEDED', 'spend_cap', true],
    ['blocked', 'WALLET_SUSPENDED', 'wallet_suspended', false],
  ] as const) {
    const fault = await failureOf(() => ask('echo')(clientOf(app.liveKey, user)));
    assert.deepEqual([fault.status, fault.code, fault.type, fault.param], [402, code, type, null]);
    assert.equal('topupUrl' in (fault.error as object), hasLink);
    assert.equal(fault.headers?.has('x-service-topup-url'), hasLink);
    assert.equal(fault.requestID, fault.headers?.get('x-correlation-id'));
  }
});

/** Each interface that is not served, what its refusal names, and a setting by which a client of it is switched. */
const NOT_SERVED: readonly (readonly [path: string, says: RegExp])[] = [
  ['/completions', /completions without a chat.*`is_chat_model=True`/],
];

test('ER-04 an interface that is not served is refused by its name', async () => {
  const { service } = simulated;
  const calls = await countReceipts();
  const stranger = { 'x-api-key': 'sk-ant-1', 'content-type': 'application/json' };
  for (const [path, says] of NOT_SERVED) {
    const fault = await failureOf(() => client.post(path, { body: { model: 'echo', input: 'Hello' } }));
    assert.deepEqual([fault.status, fault.code, fault.type], [400, 'BAD_REQUEST', 'invalid_request_error'], path);
    assert.equal(fault.headers?.get('x-should-retry'), 'false');
    assert.match(fault.message, says);
    assert.match(fault.message, /It serves chat completions, `POST \/v1\/chat\/completions`, Responses,/);
    // Nobody has to be known for it: clients of these interfaces send other keys.
    const reply = await fetch(`${service.url}/v1${path}`, { method: 'POST', headers: stranger, body: '{' });
    assert.equal(reply.status, 400, await reply.text());
  }
  assert.equal(await countReceipts(), calls);
});

test('ER-04 a client at a wrong address learns the right one', async () => {
  const { app, service } = simulated;
  const unversioned = new OpenAI({ baseURL: service.url, apiKey: app.liveKey });
  const fault = await failureOf(() => ask('echo')(unversioned));
  assert.deepEqual([fault.status, fault.code], [404, 'NOT_FOUND']);
  assert.match(fault.message, /Chat completions are at `\/v1\/chat\/completions`/);
  const nowhere = await failureOf(() => client.post('/nothing', { body: {} }));
  assert.equal(nowhere.message, '404 There is nothing at this address.');
});

test('ER-04 a client learns what this service never does', async () => {
  const input = 'Hello';
  for (const [act, says] of [
    [() => client.images.generate({ model: 'echo', prompt: input }), /This service does not make images\./],
    [() => client.moderations.create({ input }), /This service has no moderations\./],
    [() => client.audio.speech.create({ model: 'echo', input, voice: 'alloy' }), /This service has no audio\./],
  ] as const) {
    const fault = await failureOf(act);
    assert.deepEqual([fault.status, fault.code], [404, 'NOT_FOUND']);
    assert.match(fault.message, says);
    assert.match(fault.message, /It serves chat completions, at `\/v1\/chat\/completions`, Responses,/);
  }
});

test('ER-05 a stock client that calls too fast waits', async () => {
  const { service, clientOf } = simulated;
  const hasty = await service.addApp({ ratePerMinute: 600, rateBurst: 1 });
  await emptyBucket(service, hasty);
  const impatient = clientOf(hasty.liveKey, 'anna', { maxRetries: 0 });
  const fault = await failureOf(() => impatient.models.list());
  assert.ok(fault instanceof OpenAI.RateLimitError);
  assert.deepEqual([fault.code, fault.type], ['TOO_MANY_REQUESTS', 'rate_limit_error']);
  assert.deepEqual([fault.headers.get('ratelimit'), fault.headers.get('retry-after-ms')], ['"app";r=0;t=1', '100']);
  assert.equal(fault.headers.get('x-ratelimit-remaining-requests'), '0');
  await sql(service)`update limits.buckets set units = 60000000 where app_id = ${hasty.appId}`;
  const { response } = await clientOf(hasty.liveKey, 'anna').models.list().withResponse();
  assert.equal(response.headers.get('ratelimit'), '"app";r=0;t=1');
});

test('ER-05 a throttled stock client without retries raises its error', async () => {
  const fault = await failureOf(() =>
    ask('throttled')(simulated.clientOf(simulated.app.liveKey, 'anna', { maxRetries: 0 })),
  );
  assert.ok(fault instanceof OpenAI.RateLimitError);
  assert.equal(fault.code, 'UPSTREAM_THROTTLED');
  assert.equal(fault.headers.get('x-should-retry'), 'true');
  assert.ok(Number(fault.headers.get('retry-after')) >= 1);
});

test('CC-23 a provider without usage is charged by our count', async () => {
  const spent = await simulated.spentBy('anna', () => client.chat.completions.create({ model: 'no-usage', messages }));
  assert.ok(spent > 0 && spent < 1_000, `${spent}`);
  assert.deepEqual(await simulated.service.check(), []);
});
