import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import OpenAI from 'openai';
import { type SimulatedService, startSimulatedService } from '../support/simulated-service.ts';

/** An unmodified client library: what is refused. What all clients are put through is in the matrix. */

let simulated: SimulatedService;
let client: OpenAI;

before(async () => {
  simulated = await startSimulatedService();
  client = simulated.clientOf(simulated.app.liveKey, 'anna');
});

after(() => simulated.close());

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
  {
    code: 'NOT_FOUND',
    status: 404,
    error: OpenAI.NotFoundError,
    act: (failing) => failing.post('/embeddings', { body: {} }),
  },
  { code: 'PAYLOAD_TOO_LARGE', status: 413, error: OpenAI.APIError, act: ask('echo', { user: 'x'.repeat(1_100_000) }) },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('error') },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('rejects') },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('garbage') },
  { code: 'UPSTREAM_PROVIDER_ERROR', status: 502, error: OpenAI.InternalServerError, act: ask('truncated') },
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
  test(`ER-07 a stock client raises its own error for ${code}, with code, type and id readable (${index + 1})`, async () => {
    const receipts = await countReceipts();
    const fault = await failureOf(() => act(who?.() ?? client)); // With its own retries: it must not use them here.
    assert.ok(fault instanceof error, fault.constructor.name);
    assert.deepEqual([fault.status, fault.code], [status, code]);
    assert.equal(typeof fault.type, 'string');
    assert.equal((fault.error as Record<string, unknown>)['correlationId'], fault.requestID);
    assert.match(fault.message, new RegExp(`^${status} [A-Z\`]`));
    assert.doesNotMatch(fault.message, /sim-host|sim-org|sim-internal|engine/);
    assert.equal((await countReceipts()) - receipts, status === 502 ? 1 : 0, 'one attempt, and no retry');
  });
}

async function countReceipts(): Promise<number> {
  const { rows } = await simulated.service.database.owner.query<{ count: number }>(
    'select count(*)::int as count from usage.calls',
  );
  return rows[0]?.count ?? 0;
}

test('ER-05 a stock client is told to retry a throttled call, and raises its error when it has no retries left', async () => {
  const fault = await failureOf(() =>
    ask('throttled')(simulated.clientOf(simulated.app.liveKey, 'anna', { maxRetries: 0 })),
  );
  assert.ok(fault instanceof OpenAI.RateLimitError);
  assert.equal(fault.code, 'UPSTREAM_THROTTLED');
  assert.equal(fault.headers.get('x-should-retry'), 'true');
  assert.ok(Number(fault.headers.get('retry-after')) >= 1);
});

test('CC-11 a provider that never tells usage is charged by our own count, and the books are right after all', async () => {
  const spent = await simulated.spentBy('anna', () => client.chat.completions.create({ model: 'no-usage', messages }));
  assert.ok(spent > 0 && spent < 1_000, `${spent}`);
  assert.deepEqual(await simulated.service.check(), []);
});
