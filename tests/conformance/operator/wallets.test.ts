import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { chat, type Reply } from '../../support/client.ts';
import { newOperator, personWith } from '../../support/control.ts';
import { openStream } from '../../support/open-stream.ts';
import { assertRefusal, assertRefused } from '../../support/refusal.ts';
import { streamSteps } from '../../support/scripted-upstream.ts';
import { startSecondGateway } from '../../support/service.ts';
import { setStage } from '../../support/stage.ts';
import { idOf, trailOf } from '../../support/trail.ts';

const { service, upstream, app, newUser } = await setStage({
  model: { timeoutMs: 60_000 },
  environment: { PURSER_PAYMENTS: 'none' },
});
const second = await startSecondGateway(service);
const operator = await newOperator(service);
const elsewhere = personWith(second.url, operator.token);
const actor = await idOf(operator);
const WALLETS = `/operator/apps/${app.appId}/wallets`;
const MOST = Number.MAX_SAFE_INTEGER;

afterEach(async () => assert.deepEqual(await service.check(), []));

const FRESH = {
  balanceMicros: 0,
  reservedMicros: 0,
  availableMicros: 0,
  currency: 'EUR',
  spendCapMicros: null,
  spentThisMonthMicros: 0,
  status: 'active',
  connected: true,
  shortfallMicros: 0,
};

type Act = 'credit' | 'refund' | 'clawback' | 'reinstate';

let keys = 0;

function walletOf(user: string): string {
  return `${WALLETS}/${encodeURIComponent(user)}`;
}

/** Makes a movement with a reason, and with a new key unless one is given. */
function move(user: string, act: Act, body: Readonly<Record<string, unknown>>, by = operator): Promise<Reply> {
  const needs = act === 'reinstate' ? {} : { idempotencyKey: `key-${(keys += 1)}` };
  return by.ask('POST', `${walletOf(user)}/${act}`, { reason: 'as agreed', ...needs, ...body });
}

function assertWallet(reply: Reply, expected: object): void {
  assert.equal(reply.status, 200, reply.text);
  const { userId: _userId, ...wallet } = reply.body;
  assert.deepEqual(wallet, { ...FRESH, ...expected });
}

interface Details {
  readonly wallet: Readonly<Record<string, unknown>>;
  readonly holds: readonly Readonly<Record<string, unknown>>[];
  readonly entries: readonly Readonly<Record<string, unknown>>[];
  readonly next: string | null;
}

async function details(user: string, query = ''): Promise<Details> {
  return (await operator.get(200, 'GET', walletOf(user) + query)) as unknown as Details;
}

test('CP-05 WA-01 a wallet is opened once, connected, with credit and cap', async () => {
  const body = { userId: 'opened', creditMicros: 5_000, spendCapMicros: 9_000, idempotencyKey: 'k' };
  const wallet = await operator.get(201, 'POST', WALLETS, body);
  const figures = { balanceMicros: 5_000, availableMicros: 5_000, spendCapMicros: 9_000 };
  assert.deepEqual(wallet, { userId: 'opened', ...FRESH, ...figures });
  assertRefused(await operator.ask('POST', WALLETS, body), 'CONFLICT');
  assertRefused(await operator.ask('POST', WALLETS, { userId: 'opened' }), 'CONFLICT');
  assert.deepEqual(await operator.get(201, 'POST', WALLETS, { userId: 'empty' }), { userId: 'empty', ...FRESH });
  assert.deepEqual((await details('opened')).wallet, wallet);
  assert.deepEqual(await trailOf(operator, `${app.appId} opened`), [
    { actor, action: 'wallet.open', subject: `${app.appId} opened`, reason: null },
  ]);
});

test('CP-05 a funded wallet opening needs a key, app and valid user', async () => {
  const ask = (body: unknown) => operator.ask('POST', WALLETS, body);
  assertRefused(await ask({ userId: 'u', creditMicros: 1 }), 'BAD_REQUEST', 'idempotencyKey');
  assertRefused(await ask({ userId: 'two words' }), 'BAD_REQUEST', 'userId');
  assertRefused(await ask({}), 'BAD_REQUEST', 'userId');
  assertRefused(await operator.ask('POST', '/operator/apps/app_none/wallets', { userId: 'u' }), 'NOT_FOUND');
  assertRefused(await operator.ask('GET', `${WALLETS}/u`), 'NOT_FOUND');
});

test('CP-05 two processes that open the same wallet open only one', async () => {
  for (let race = 0; race < 25; race += 1) {
    const body = { userId: `raced-${race}`, creditMicros: 7, idempotencyKey: 'k' };
    const replies = await Promise.all(
      [operator, elsewhere, operator, elsewhere].map((by) => by.ask('POST', WALLETS, body)),
    );
    const statuses = replies.map(({ status }) => String(status)).toSorted();
    assert.deepEqual(statuses, ['201', '409', '409', '409']);
    assert.equal((await details(body.userId)).wallet['balanceMicros'], 7);
  }
});

test('CP-05 users of any valid name have their wallet at their address', async () => {
  for (const user of ['a/b', 'a%2Fb', '100%', '?x=1&y', '#1', '~!@$^*(){}|"<>', 'x'.repeat(256), '/'.repeat(256)]) {
    await operator.get(201, 'POST', WALLETS, { userId: user });
    assertWallet(await move(user, 'credit', { amountMicros: 3 }), { balanceMicros: 3, availableMicros: 3 });
    assert.equal((await details(user)).wallet['userId'], user);
  }
});

for (const [act, sign] of [
  ['credit', 1],
  ['refund', -1],
  ['clawback', -1],
] as const) {
  test(`CP-05 a ${act} counts once for each wallet and key`, async () => {
    const user = await newUser(1_000);
    const other = await newUser(1_000);
    const after = 1_000 + sign * 10;
    const body = { amountMicros: 10, idempotencyKey: 'one' };
    const replies = await Promise.all(
      [operator, elsewhere, operator, elsewhere, operator, elsewhere].map((by) => move(user, act, body, by)),
    );
    for (const reply of replies) assertWallet(reply, { balanceMicros: after, availableMicros: after });
    assertRefused(await move(user, act, { ...body, amountMicros: 11 }), 'CONFLICT', 'idempotencyKey');
    assertRefused(await move(user, act, { ...body, amountMicros: 9 }, elsewhere), 'CONFLICT', 'idempotencyKey');
    // A key belongs to its wallet and its kind of action.
    assertWallet(await move(other, act, body), { balanceMicros: after, availableMicros: after });
    const opposite = act === 'credit' ? 'refund' : 'credit';
    assertWallet(await move(user, opposite, body), { balanceMicros: 1_000, availableMicros: 1_000 });
    const kinds = (await trailOf(operator, `${app.appId} ${user}`)).map(({ action }) => action);
    assert.deepEqual(kinds, [`wallet.${opposite}`, `wallet.${act}`]);
  });
}

test('CP-05 simultaneous movements of one wallet are all booked', async () => {
  const user = await newUser(0);
  const replies = await Promise.all(
    Array.from({ length: 24 }, (_, index) =>
      move(user, 'credit', { amountMicros: 1 }, index % 2 === 0 ? operator : elsewhere),
    ),
  );
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [200]);
  assert.equal((await details(user)).wallet['balanceMicros'], 24);
});

for (const act of ['refund', 'clawback'] as const) {
  test(`WA-05 WA-06 a ${act} above the balance leaves a debt and suspends`, async () => {
    const user = await newUser(100);
    const owing = { status: 'suspended', shortfallMicros: 30 };
    assertWallet(await move(user, act, { amountMicros: 130 }), owing);
    const options = { url: service.url, key: app.liveKey, user };
    assertRefusal(await chat(options), { code: 'WALLET_SUSPENDED', hasLink: false });

    assertRefused(await move(user, 'reinstate', {}), 'CONFLICT');
    const funded = { ...owing, balanceMicros: 29, availableMicros: 29 };
    assertWallet(await move(user, 'credit', { amountMicros: 29 }), funded);
    assertRefused(await move(user, 'reinstate', { writeOff: false }), 'CONFLICT');
    await move(user, 'credit', { amountMicros: 6 });
    assertWallet(await move(user, 'reinstate', {}), { balanceMicros: 5, availableMicros: 5 });
    assertWallet(await move(user, 'reinstate', {}), { balanceMicros: 5, availableMicros: 5 });
  });
}

test('WA-06 a write-off lifts the shortfall and its suspension, not the balance', async () => {
  const user = await newUser(10);
  await move(user, 'clawback', { amountMicros: 25 });
  await move(user, 'credit', { amountMicros: 4 });
  assertWallet(await move(user, 'reinstate', { writeOff: true }), { balanceMicros: 4, availableMicros: 4 });
  const { entries } = await details(user);
  const newest = { kind: 'write_off', debit: 'loss', credit: 'receivable', amountMicros: 15, balanceAfterMicros: 4 };
  assert.deepEqual({ ...entries[0], seq: 0, cause: '', at: '' }, { ...newest, seq: 0, cause: '', at: '' });
});

test('WA-05 WA-12 a claw-back takes held money and ends the running call', async () => {
  const user = await newUser(1_000_000);
  const { promise: held, resolve: release } = Promise.withResolvers<void>();
  const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
  const steps = streamSteps({ model: 'm', pieces: ['begun', 'ended'], usage, includeUsageChunk: true });
  upstream.script({ body: [...steps.slice(0, 2), { waitFor: held }, ...steps.slice(2)] });
  const stream = await openStream({ url: service.url, key: app.liveKey, user });
  await stream.until('begun');

  const before = await details(user);
  const [hold] = before.holds;
  assert.deepEqual([before.holds.length, hold?.['stream']], [1, true]);
  assert.equal(hold?.['amountMicros'], before.wallet['reservedMicros']);
  assert.ok(Date.parse(String(hold?.['placedAt'])) > 0 && String(hold?.['callId']).length === 36);

  const clawed = await move(user, 'clawback', { amountMicros: 1_000_000 });
  const { reservedMicros } = before.wallet;
  assertWallet(clawed, { reservedMicros });
  release();
  assert.match(await stream.whole(), /ended/);
  const charge = (10 * 1 + 5 * 4) * 1.1;
  const { wallet, holds, entries } = await details(user);
  assert.deepEqual([holds, wallet['shortfallMicros'], wallet['status']], [[], charge, 'suspended']);
  const kinds = entries.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['charge_receivable', 'claw_back', 'contract_credit']);
});

test('CP-05 a suspended app’s wallets can be credited, refunded and reinstated', async () => {
  const { appId } = await service.addApp();
  const base = `/operator/apps/${appId}`;
  await operator.get(200, 'POST', `${base}/suspend`, { reason: 'unpaid' });
  await operator.get(201, 'POST', `${base}/wallets`, { userId: 'u', creditMicros: 50, idempotencyKey: 'k' });
  const body = { amountMicros: 60, reason: 'closing', idempotencyKey: 'k' };
  const refunded = await operator.get(200, 'POST', `${base}/wallets/u/refund`, body);
  assert.deepEqual([refunded['balanceMicros'], refunded['shortfallMicros']], [0, 10]);
  const reinstated = await operator.get(200, 'POST', `${base}/wallets/u/reinstate`, { writeOff: true, reason: 'x' });
  assert.equal(reinstated['status'], 'active');
});

test('WA-01 a credit above the largest amount books nothing', async () => {
  const user = await newUser(1);
  assertRefused(await move(user, 'credit', { amountMicros: MOST }), 'CONFLICT', 'amountMicros');
  assertWallet(await move(user, 'credit', { amountMicros: MOST - 1 }), {
    balanceMicros: MOST,
    availableMicros: MOST,
  });
  for (const shortfallMicros of [0, MOST, MOST]) {
    const reply = await move(user, 'clawback', { amountMicros: MOST });
    assertWallet(reply, { shortfallMicros, status: shortfallMicros === 0 ? 'active' : 'suspended' });
  }
  assertWallet(await move(user, 'reinstate', { writeOff: true }), {});
});

test('CP-05 a movement needs an amount, a reason and a key', async () => {
  const user = await newUser(5);
  for (const [change, param] of [
    [{ amountMicros: undefined }, 'amountMicros'],
    [{ amountMicros: 0 }, 'amountMicros'],
    [{ reason: undefined }, 'reason'],
    [{ reason: ' ' }, 'reason'],
    [{ reason: 'x'.repeat(501) }, 'reason'],
    [{ idempotencyKey: undefined }, 'idempotencyKey'],
    [{ idempotencyKey: '' }, 'idempotencyKey'],
    [{ idempotencyKey: 'two words' }, 'idempotencyKey'],
    [{ idempotencyKey: 'x'.repeat(256) }, 'idempotencyKey'],
    [{ currency: 'EUR' }, 'currency'],
  ] as const) {
    for (const act of ['credit', 'refund', 'clawback'] as const) {
      assertRefused(await move(user, act, { amountMicros: 1, ...change }), 'BAD_REQUEST', param);
    }
  }
  assertRefused(await move(user, 'reinstate', { reason: undefined }), 'BAD_REQUEST', 'reason');
  assertRefused(await move(user, 'reinstate', { writeOff: 'yes' }), 'BAD_REQUEST', 'writeOff');
  for (const act of ['credit', 'refund', 'clawback', 'reinstate'] as const) {
    assertRefused(await move('nobody', act, act === 'reinstate' ? {} : { amountMicros: 1 }), 'NOT_FOUND');
  }
  assert.deepEqual(await trailOf(operator, `${app.appId} ${user}`), []);
  assert.deepEqual(await trailOf(operator, `${app.appId} nobody`), []);
});

test('CP-05 without a payment processor, a payment refund is refused', async () => {
  const user = await newUser(5);
  const reply = await move(user, 'refund', { amountMicros: 1, paymentId: 'pay_1' });
  assertRefused(reply, 'CONFLICT', 'paymentId');
  assert.match(String(reply.error['message']), /no payment processor/);
  assert.equal((await details(user)).wallet['balanceMicros'], 5);
});

test('CP-05 a wallet of 100,000 entries is read in pages', async () => {
  const user = await newUser(0);
  await service.database.owner.query(
    `with booked as (
       insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, n, 'contract_credit', 'contract:' || wallet_id || ':' || n, 'contract', 'wallet', 1, n
       from ledger.wallets, generate_series(1, 100000) n where app_id = $1 and user_id = $2
     )
     update ledger.wallets set balance_micros = 100000, entry_seq = 100000 where app_id = $1 and user_id = $2`,
    [app.appId, user],
  );
  const first = await details(user);
  assert.deepEqual([first.entries.length, first.next], [1_000, '99001']);
  const seen: unknown[] = [];
  let next: string | null = '1500';
  while (next !== null) {
    const page: Details = await details(user, `?before=${next}&limit=500`);
    assert.ok(page.entries.length <= 500);
    seen.push(...page.entries.map(({ seq }) => seq));
    ({ next } = page);
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 1_499 }, (_, index) => 1_499 - index),
  );
  for (const [query, param] of [
    ['?limit=1001', 'limit'],
    ['?limit=0', 'limit'],
    ['?before=x', 'before'],
  ]) {
    assertRefused(await operator.ask('GET', walletOf(user) + query), 'BAD_REQUEST', param ?? null);
  }
});
