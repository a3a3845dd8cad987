import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { VECTORS } from '../../../tests/support/sdk-vectors.ts';
import { isPurserError, PaymentRequiredError, ServiceApiError } from './errors.ts';
import { type TopUpOptions, withTopUp as withTopUpInTime } from './top-up.ts';
import type { Balance } from './wire.ts';

const EMPTY: Balance = {
  userId: 'anna',
  balanceMicros: 0,
  reservedMicros: 0,
  availableMicros: 0,
  currency: 'EUR',
  spendCapMicros: null,
  spentThisMonthMicros: 0,
  status: 'active',
};

const STEP_MS = 50;
const TIME_MS_MAX = 20_000;

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Lets time pass by the test's clock. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    mock.timers.tick(STEP_MS);
    await nextTurn();
  }
}

/** The function itself, while time passes until it is over. */
async function withTopUp<Result>(...of: Parameters<typeof withTopUpInTime<Result>>): Promise<Awaited<Result>> {
  const time = { leftMs: TIME_MS_MAX };
  const waiting = withTopUpInTime(...of).finally(() => (time.leftMs = 0));
  waiting.catch(() => {}); // It is returned below.
  for (await nextTurn(); time.leftMs > 0; time.leftMs -= STEP_MS) await pass(STEP_MS);
  return await waiting;
}

function refusal(fields: Partial<PaymentRequiredError> = {}): PaymentRequiredError {
  const topupUrl = 'https://purser.test/topup/x';
  return new PaymentRequiredError({
    code: 'PAYMENT_REQUIRED',
    message: 'No.',
    correlationId: 'cor_1',
    topupUrl,
    ...fields,
  });
}

type Look = Partial<Balance> | Error;

/** Refuses the first `refused` calls, and shows the wallet one look at a time; the last look repeats. */
function scene(looks: readonly Look[], { error = refusal(), refused = 1 }: { error?: Error; refused?: number } = {}) {
  const count = { calls: 0, looks: 0, links: 0 };
  const balance = async (): Promise<Balance> => {
    const look = looks[Math.min(count.looks, looks.length - 1)] ?? {};
    count.looks += 1;
    if (look instanceof Error) throw look;
    return { ...EMPTY, ...look };
  };
  const call = async (): Promise<string> => {
    count.calls += 1;
    if (count.calls <= refused) throw error;
    return 'answer';
  };
  const run = (options: Partial<TopUpOptions> = {}, isSandbox = false) =>
    withTopUp({ isSandbox, balance }, call, {
      onTopUp: () => (count.links += 1),
      pollMs: 250,
      waitMs: 10_000,
      ...options,
    });
  return { count, run };
}

const LOOKS: Readonly<Record<string, Look>> = {
  '402': refusal(),
  offline: new TypeError('fetch failed'),
  '429': new ServiceApiError({ status: 429, code: 'TOO_MANY_REQUESTS', message: '', correlationId: '' }),
};

for (const { name, code, looks } of VECTORS.topUps) {
  test(`SDK-02 the call is repeated once when ${name}, and not before`, async () => {
    const shown = looks.map((look) => (typeof look === 'string' ? (LOOKS[look] ?? assert.fail(look)) : look));
    const { count, run } = scene(shown, { error: refusal({ code }) });
    assert.equal(await run(), 'answer');
    assert.deepEqual(count, { calls: 2, looks: looks.length, links: 1 });
  });
}

test('SDK-02 a call refused again keeps waiting without asking the user again', async () => {
  const looks = [
    { balanceMicros: 9, reservedMicros: 8 },
    { balanceMicros: 8 },
    { balanceMicros: 8 },
    { balanceMicros: 20 },
  ];
  const { count, run } = scene(looks, { refused: 2 });
  assert.equal(await run(), 'answer');
  assert.deepEqual(count, { calls: 3, looks: looks.length, links: 1 });
  const other = new Error('other');
  const calls = [refusal(), other];
  const shift = async (): Promise<never> => {
    throw calls.shift();
  };
  const balances = [{ balanceMicros: 9, reservedMicros: 8 }, { balanceMicros: 9 }];
  const balance = async (): Promise<Balance> => ({ ...EMPTY, ...balances.shift() });
  await assert.rejects(withTopUp({ isSandbox: false, balance }, shift, { onTopUp: () => {}, pollMs: 250 }), other);
});

test('SDK-02 the balance is read at most four times a second', async () => {
  for (const pollMs of [0, -1, 1, Number.NEGATIVE_INFINITY]) {
    const { count, run } = scene([{}]);
    await assert.rejects(run({ pollMs, waitMs: 400 }), isPurserError);
    assert.ok(count.looks <= 2, `${pollMs}: ${count.looks}`); // The first look comes before the link is shown.
  }
  for (const pollMs of [Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
    const { count, run } = scene([{}]);
    await assert.rejects(run({ pollMs, waitMs: 400 }), isPurserError);
    assert.equal(count.looks, 1, String(pollMs));
  }
});

test('SDK-02 a suspended wallet is not awaiting funds', async () => {
  const { count, run } = scene([{}, { balanceMicros: 5, status: 'suspended' }]);
  await assert.rejects(run({ waitMs: 400 }), isPurserError);
  assert.equal(count.looks, 2);
  assert.equal(count.calls, 1);
});

test('SDK-02 nothing waits without a link or with sandbox money', async () => {
  for (const [error, isSandbox] of [
    [refusal({ code: 'WALLET_SUSPENDED', topupUrl: undefined as never }), false],
    [new Error('other'), false],
    [refusal(), true],
  ] as const) {
    const { count, run } = scene([{}], { error });
    await assert.rejects(run({}, isSandbox), (raised) => raised === error);
    assert.deepEqual(count, { calls: 1, looks: 0, links: 0 });
  }
});

test('SDK-02 a second refusal never asks the user to pay twice', async () => {
  const { count, run } = scene([{}, { balanceMicros: 5 }]);
  const again = refusal({ correlationId: 'cor_2' });
  const call = async (): Promise<never> => {
    throw count.links === 0 ? refusal() : again;
  };
  const looks = [{}, { balanceMicros: 5 }];
  const balance = async (): Promise<Balance> => ({ ...EMPTY, ...looks.shift() });
  await assert.rejects(
    withTopUp({ isSandbox: false, balance }, call, { onTopUp: () => (count.links += 1), pollMs: 250 }),
    (raised) => raised === again,
  );
  assert.equal(count.links, 1);
  assert.equal(await run(), 'answer');
});

test('SDK-02 a promise from the app replaces reading the balance', async () => {
  for (const isSandbox of [false, true]) {
    const { count, run } = scene([{}]);
    const until: TopUpOptions['until'] = async (error, signal) => {
      assert.deepEqual([error.topupUrl, signal.aborted, count.links], ['https://purser.test/topup/x', false, 0]);
    };
    assert.equal(await run({ until }, isSandbox), 'answer');
    assert.deepEqual(count, { calls: 2, looks: 0, links: 1 });
  }
});

test('SDK-02 a promise that resolves early is not missed', async () => {
  let tell: (() => void) | undefined;
  const until = () => new Promise<void>((resolve) => (tell = resolve));
  const onTopUp = async () => {
    await nextTurn(); // A timer of more than 2^31 ms would have fired by then.
    tell?.();
  };
  assert.equal(await scene([{}]).run({ until, onTopUp, waitMs: 2 ** 40 }), 'answer');
});

test('SDK-02 a timeout throws the refusal and stops everything', async () => {
  const error = refusal();
  let given: AbortSignal | undefined;
  const until: TopUpOptions['until'] = (_error, signal) => {
    given = signal;
    return new Promise(() => {});
  };
  await assert.rejects(scene([{}], { error }).run({ waitMs: 30, until }), (raised) => raised === error);
  assert.equal(given?.aborted, true);
  const polled = scene([{}], { error });
  await assert.rejects(polled.run({ waitMs: 30 }), (raised) => raised === error);
  const { looks } = polled.count;
  await pass(10_000);
  assert.equal(polled.count.looks, looks);
  assert.equal(polled.count.calls, 1);
});

test('SDK-02 the wait can be aborted at any time with the given reason', async () => {
  const reason = new Error('closed');
  const before = scene([{}]);
  await assert.rejects(before.run({ signal: AbortSignal.abort(reason) }), reason);
  assert.equal(before.count.calls, 0);
  for (const when of ['link', 'wait'] as const) {
    const leaving = new AbortController();
    const { count, run } = scene([{}]);
    const onTopUp = (): unknown => {
      count.links += 1;
      if (when === 'link') leaving.abort(reason);
      else void pass(STEP_MS).then(() => leaving.abort(reason));
      return undefined;
    };
    await assert.rejects(run({ signal: leaving.signal, onTopUp }), reason);
    assert.equal(count.calls, 1);
  }
});

test('SDK-02 a call aborted earlier asks nobody to pay', async () => {
  const leaving = new AbortController();
  let links = 0;
  const balance = async (): Promise<Balance> => {
    leaving.abort(new Error('closed'));
    return EMPTY;
  };
  const options = { onTopUp: () => (links += 1), signal: leaving.signal };
  const waiting = withTopUp({ isSandbox: false, balance }, () => Promise.reject(refusal()), options);
  await assert.rejects(waiting, { message: 'closed' });
  await pass(10_000);
  assert.equal(links, 0);
});

test('SDK-02 a permanently refused balance read or unshown link ends the wait', async () => {
  const revoked = new ServiceApiError({ status: 401, code: 'UNAUTHORIZED', message: '', correlationId: '' });
  await assert.rejects(scene([{}, revoked]).run(), revoked);
  const broken = new Error('no window');
  await assert.rejects(scene([{}]).run({ onTopUp: () => Promise.reject(broken) }), broken);
});

test('SDK-02 no balance read follows the timeout', async () => {
  let looks = 0;
  const balance: Parameters<typeof withTopUp>[0]['balance'] = ({ signal }) => {
    looks += 1;
    if (looks === 1) return Promise.resolve(EMPTY);
    return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))));
  };
  const options = { onTopUp: () => {}, pollMs: 250, waitMs: 400 };
  await assert.rejects(withTopUp({ isSandbox: false, balance }, () => Promise.reject(refusal()), options));
  await pass(10_000);
  assert.equal(looks, 2);
});
