import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { EndUserId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { movementsOf, receiptOf } from '../support/receipts.ts';
import { sql } from '../support/sql.ts';

// Money that leaves a wallet other than through calls, the shortfall it may leave, and how a wallet recovers.

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  await ledger.close();
});

async function expectWallet(user: string, expected: Partial<Awaited<ReturnType<LedgerDatabase['wallet']>>>) {
  const state = await ledger.wallet(user);
  assert.deepEqual({ ...state, ...expected }, state);
  assert.deepEqual(await ledger.differences(), []);
}

/** The entries after the first one, which put money in. */
async function movementsAfterFirst(user: string): Promise<readonly string[]> {
  const movements = (await movementsOf(ledger.database, user)).slice(1);
  return movements.map(({ kind, books, amount, after: left }) => `${kind}, ${books}: ${amount}, leaves ${left}`);
}

function keyOf(user: string) {
  return { appId: APP, userId: user as EndUserId };
}

/** A wallet of 100 that a claw-back of 130 has emptied. */
async function openShort(user: string): Promise<void> {
  await ledger.open(user, 100);
  assert.equal(await ledger.takeBack(user, 130), 'booked');
}

for (const kind of ['refund', 'claw_back'] as const) {
  test(`WA-05 a ${kind} within the balance does not suspend the wallet`, async () => {
    await ledger.open(`within-${kind}`, 100);
    assert.equal(await ledger.takeBack(`within-${kind}`, 100, { kind }), 'booked');
    await expectWallet(`within-${kind}`, { balance: 0, shortfall: 0, isSuspended: false });
    assert.deepEqual(await movementsAfterFirst(`within-${kind}`), [`${kind}, wallet to processor: 100, leaves 0`]);
  });

  test(`WA-05 WA-06 a ${kind} above the balance suspends the wallet`, async () => {
    await ledger.open(`above-${kind}`, 100);
    assert.equal(await ledger.takeBack(`above-${kind}`, 130, { kind }), 'booked');
    await expectWallet(`above-${kind}`, { balance: 0, shortfall: 30, isSuspended: true });
    assert.deepEqual(await movementsAfterFirst(`above-${kind}`), [
      `${kind}, wallet to processor: 100, leaves 0`,
      `${kind}_receivable, receivable to processor: 30, leaves 0`,
    ]);
    assert.deepEqual(await ledger.reserve([holdOf(`above-${kind}`, 1)]), ['wallet_suspended']);
  });

  test(`WA-05 a ${kind} from an empty wallet is owed in full`, async () => {
    await ledger.open(`empty-${kind}`, 0);
    assert.equal(await ledger.takeBack(`empty-${kind}`, 1, { kind }), 'booked');
    await expectWallet(`empty-${kind}`, { balance: 0, shortfall: 1, isSuspended: true, entries: 1 });
  });

  test(`WA-09 a ${kind} sent many times counts once`, async () => {
    const user = `once-${kind}`;
    await ledger.open(user, 100);
    const act = { kind, key: 'dispute-1' };
    const answers = await Promise.all(Array.from({ length: 16 }, () => ledger.takeBack(user, 130, act)));
    assert.deepEqual(answers.toSorted(), ['booked', ...Array.from({ length: 15 }, () => 'repeated')]);
    assert.equal(await ledger.takeBack(user, 100, act), 'conflict'); // The amount that was taken, not the amount of the request.
    assert.equal(await ledger.takeBack(user, 129, act), 'conflict');
    await expectWallet(user, { balance: 0, shortfall: 30, entries: 3 });
  });
}

test('WA-09 a key counts separately per kind and wallet', async () => {
  await ledger.open('apart', 100);
  await ledger.open('other', 100);
  for (const user of ['apart', 'other']) {
    for (const kind of ['refund', 'claw_back'] as const) {
      assert.equal(await ledger.takeBack(user, 10, { kind, key: 'first' }), 'booked', `${kind} of ${user}`);
    }
    for (const kind of ['top_up', 'funds_reinstated'] as const) {
      assert.equal(await ledger.credit(user, 10, { kind, key: 'first' }), 'booked', `${kind} of ${user}`);
    }
    await expectWallet(user, { balance: 100, entries: 5 });
  }
});

test('WA-05 an invalid credit or claw-back is refused', async () => {
  await ledger.open('odd', 100);
  const call = (act: string, kind: string, amount: string) =>
    ledger.live.query(`select ledger.${act}($1, 'odd', '${kind}', ${amount}, 'key')`, [APP]);
  for (const amount of ['0', '-1', 'null']) {
    await assert.rejects(call('take_back', 'refund', amount), { code: '23514' }, amount);
    await assert.rejects(call('credit', 'top_up', amount), { code: '23514' }, amount);
  }
  for (const kind of ['charge', 'recovery', 'top_up', 'write_off', 'claw_back_receivable', 'nonsense']) {
    await assert.rejects(call('take_back', kind, '1'), /takes nothing back|invalid input value/, kind);
  }
  for (const kind of ['charge', 'refund', 'recovery', 'claw_back', 'nonsense']) {
    await assert.rejects(call('credit', kind, '1'), /is no credit|invalid input value/, kind);
  }
  await expectWallet('odd', { balance: 100, entries: 1 });
});

test('WA-06 money acts do not create a missing wallet', async () => {
  assert.equal(await ledger.credit('nobody', 1), 'no_wallet');
  assert.equal(await ledger.takeBack('nobody', 1), 'no_wallet');
  assert.equal(await ledger.reinstate('nobody'), 'no_wallet');
  assert.equal(await ledger.wallets.setCap({ ...keyOf('nobody'), cap: undefined }), false);
  assert.equal(await ledger.wallets.setConnected({ ...keyOf('nobody'), isConnected: true }), false);
  assert.equal(await ledger.wallets.find(APP, 'nobody' as EndUserId), undefined);
});

test('WA-06 a claw-back takes even money that calls hold', async () => {
  await ledger.open('held', 100);
  const request = holdOf('held', 80);
  await ledger.reserve([request]);
  await ledger.takeBack('held', 150);
  await expectWallet('held', { balance: 0, held: 80, shortfall: 50, isSuspended: true, isClawed: true });
  await ledger.settle([endOf(request, 30)]);
  await expectWallet('held', { balance: 0, held: 0, shortfall: 80, isSuspended: true, isClawed: false });
});

test('WA-06 a shortfall is never recovered in part', async () => {
  await openShort('uncovered');
  await ledger.credit('uncovered', 29);
  assert.equal(await ledger.reinstate('uncovered'), 'shortfall');
  await expectWallet('uncovered', { balance: 29, shortfall: 30, isSuspended: true });
});

test('WA-06 recovering a shortfall ends the suspension', async () => {
  await openShort('covered');
  await ledger.credit('covered', 31);
  assert.equal(await ledger.reinstate('covered'), 'reinstated');
  await expectWallet('covered', { balance: 1, shortfall: 0, isSuspended: false });
  assert.equal((await movementsAfterFirst('covered')).at(-1), 'recovery, wallet to receivable: 30, leaves 1');
  assert.deepEqual(await ledger.reserve([holdOf('covered', 1)]), [1]);
});

test('WA-06 money held by calls covers no shortfall', async () => {
  await ledger.open('holding', 100);
  const request = holdOf('holding', 80);
  await ledger.reserve([request]);
  await ledger.takeBack('holding', 130);
  await ledger.credit('holding', 109);
  assert.equal(await ledger.reinstate('holding'), 'shortfall');
  await ledger.credit('holding', 1);
  assert.equal(await ledger.reinstate('holding'), 'reinstated');
  await expectWallet('holding', { balance: 80, held: 80, shortfall: 0, isSuspended: false, isClawed: false });
  assert.deepEqual(await ledger.settle([endOf(request, 80)]), [{ isSettled: true, charged: 80 }]);
});

test('WA-06 writing off a shortfall lifts the suspension', async () => {
  await openShort('forgiven');
  await ledger.credit('forgiven', 37); // This would cover it.
  assert.equal(await ledger.reinstate('forgiven', true), 'reinstated');
  await expectWallet('forgiven', { balance: 37, shortfall: 0, isSuspended: false });
  assert.equal((await movementsAfterFirst('forgiven')).at(-1), 'write_off, loss to receivable: 30, leaves 37');
});

test('WA-06 reinstating again changes nothing', async () => {
  await openShort('again');
  for (const time of [1, 2, 3]) {
    assert.equal(await ledger.reinstate('again', true), 'reinstated');
    assert.equal(await ledger.reinstate('again', true), 'reinstated');
    await expectWallet('again', { shortfall: 0, isSuspended: false, entries: 2 + 2 * time });
    await ledger.takeBack('again', 30);
    await expectWallet('again', { shortfall: 30, isSuspended: true, entries: 3 + 2 * time });
  }
});

test('WA-06 reinstating many times at once recovers once', async () => {
  await openShort('at-once');
  await ledger.credit('at-once', 90);
  const answers = await Promise.all(Array.from({ length: 16 }, () => ledger.reinstate('at-once')));
  assert.deepEqual(new Set(answers), new Set(['reinstated']));
  await expectWallet('at-once', { balance: 60, shortfall: 0, isSuspended: false });
});

test('WA-05 funds a bank returns lift no suspension', async () => {
  await openShort('won');
  assert.equal(await ledger.credit('won', 130, { kind: 'funds_reinstated' }), 'booked');
  await expectWallet('won', { balance: 130, shortfall: 30, isSuspended: true });
  assert.equal((await movementsAfterFirst('won')).at(-1), 'funds_reinstated, processor to wallet: 130, leaves 130');
  assert.equal(await ledger.reinstate('won'), 'reinstated');
  await expectWallet('won', { balance: 100, shortfall: 0, isSuspended: false });
});

for (const isConnected of [true, false]) {
  for (const isSuspended of [true, false]) {
    const facts = `${isConnected ? '' : 'dis'}connected and ${isSuspended ? '' : 'not '}suspended`;
    test(`WA-11 each fact of a wallet that is ${facts} changes alone`, async () => {
      const user = `facts-${isConnected}-${isSuspended}`;
      await ledger.open(user, 100);
      await ledger.wallets.setConnected({ ...keyOf(user), isConnected });
      if (isSuspended) await ledger.takeBack(user, 130);
      const read = async () => {
        const wallet = await ledger.wallets.find(APP, user as EndUserId);
        return [wallet?.isConnected, wallet?.isSuspended];
      };
      for (const connects of [!isConnected, isConnected]) {
        assert.ok(await ledger.wallets.setConnected({ ...keyOf(user), isConnected: connects }));
        assert.deepEqual(await read(), [connects, isSuspended]);
      }
      assert.equal(await ledger.reinstate(user, true), 'reinstated');
      assert.deepEqual(await read(), [isConnected, false]);
      await ledger.takeBack(user, 130);
      assert.deepEqual(await read(), [isConnected, true]);
      assert.deepEqual(await ledger.differences(), []);
    });
  }
}

test('WA-03 AU-10 a lowered cap binds only the next call', async () => {
  await ledger.open('capped', 1_000, 500);
  const request = holdOf('capped', 400);
  assert.deepEqual(await ledger.reserve([request]), [400]);
  assert.ok(await ledger.wallets.setCap({ ...keyOf('capped'), cap: micros(10n) }));
  assert.deepEqual(await ledger.reserve([holdOf('capped', 1)]), ['cap_race_lost']);
  assert.deepEqual(await ledger.settle([endOf(request, 300)]), [{ isSettled: true, charged: 300 }]);
  assert.deepEqual(await ledger.reserve([holdOf('capped', 1)]), ['cap_reached']);
  await ledger.wallets.setCap({ ...keyOf('capped'), cap: undefined });
  assert.deepEqual(await ledger.reserve([holdOf('capped', 700)]), [700]);
  await expectWallet('capped', { balance: 700, held: 700, capSpent: 300 });
});

test('WA-07 reported usage above the hold is our loss', async () => {
  await ledger.open('overrun', 100);
  const request = holdOf('overrun', 60);
  await ledger.reserve([request]);
  assert.deepEqual(await ledger.settle([endOf(request, 95)]), [{ isSettled: true, charged: 60 }]);
  assert.deepEqual(await movementsAfterFirst('overrun'), [
    'charge, wallet to earned: 60, leaves 40',
    'charge_overrun, loss to earned: 35, leaves 40',
  ]);
  await expectWallet('overrun', { balance: 40, held: 0, shortfall: 0, isSuspended: false, capSpent: 60 });
  assert.equal((await receiptOf(ledger.database, request.callId))?.charged, 60);
  assert.deepEqual(await ledger.settle([endOf(request, 95)]), [{ isSettled: false, charged: 60 }]);
  await expectWallet('overrun', { entries: 3 });
});

test('WA-07 our count above the hold books no loss', async () => {
  await ledger.open('counted', 100);
  const request = holdOf('counted', 60);
  await ledger.reserve([request]);
  await ledger.settle([{ ...endOf(request, 95), isEstimated: true }]);
  assert.deepEqual(await movementsAfterFirst('counted'), ['charge, wallet to earned: 60, leaves 40']);
});

test('WA-07 WA-12 a clawed call’s overrun is booked beside its debt', async () => {
  await ledger.open('both', 100);
  const request = holdOf('both', 60);
  await ledger.reserve([request]);
  await ledger.takeBack('both', 80);
  await ledger.settle([endOf(request, 70)]);
  assert.deepEqual((await movementsAfterFirst('both')).slice(1), [
    'charge, wallet to earned: 20, leaves 0',
    'charge_receivable, receivable to earned: 40, leaves 0',
    'charge_overrun, loss to earned: 10, leaves 0',
  ]);
  await expectWallet('both', { balance: 0, held: 0, shortfall: 40, isSuspended: true, isClawed: false });
});

test('WA-09 a receipt says if its usage contradicted itself', async () => {
  await ledger.open('clamped', 100);
  const [odd, even] = [holdOf('clamped', 10), holdOf('clamped', 10)];
  await ledger.reserve([odd, even]);
  await ledger.settle([{ ...endOf(odd, 1), isUsageClamped: true }, endOf(even, 1)]);
  const rows = await sql(ledger.live)`select is_usage_clamped as clamped from usage.calls
    where call_id = any (${[odd.callId, even.callId]}) order by clamped`;
  assert.deepEqual(rows, [{ clamped: false }, { clamped: true }]);
});

test('WA-06 a wallet beyond the largest amount stays readable', async () => {
  const most = Number.MAX_SAFE_INTEGER;
  await ledger.open('boundless', most);
  for (let times = 0; times < 2; times += 1) {
    const request = holdOf('boundless', most);
    await ledger.reserve([request]);
    await ledger.settle([endOf(request, most)]);
    assert.equal(await ledger.credit('boundless', most), 'booked');
  }
  for (let times = 0; times < 3; times += 1) assert.equal(await ledger.takeBack('boundless', most), 'booked');
  const wallet = await ledger.wallets.find(APP, 'boundless' as EndUserId);
  assert.deepEqual([wallet?.spentThisMonth, wallet?.shortfall], [BigInt(most), BigInt(most)]);
  assert.deepEqual(await ledger.differences(), []);
});
