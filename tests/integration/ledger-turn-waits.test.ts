import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Queryable } from '../../packages/service/src/db/pool/pool.ts';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import { settleHolds } from '../../packages/service/src/ledger/settlement/queries.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { takeTurn } from '../../packages/service/src/ledger/turn/queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { lockWallet } from '../support/lock-wait.ts';
import { placeHolds } from '../support/turns.ts';

// What changes while a turn waits for a wallet: of a call by itself, and of one that shares its turn with another wallet's.
let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase('inTurns');
  await ledger.open('companion', 1_000_000);
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

async function figuresOf(user: string) {
  const { balance, held, openStreams, capSpent, capHeld } = await ledger.wallet(user);
  return { balance, held, openStreams, capSpent, capHeld };
}

/** Opens a wallet with one call that holds. */
async function openWithHold(user: string, balance: number, hold: HoldRequest, cap?: number): Promise<HoldRequest> {
  await ledger.open(user, balance, cap);
  assert.deepEqual(await ledger.reserve([hold]), [Number(hold.most)]);
  return hold;
}

async function rawly(text: string, ...values: readonly unknown[]): Promise<void> {
  await ledger.database.owner.query(text, [...values]);
}

/** Runs a statement as the owner, who waits for a lock without a limit. It has started when `meanwhile` runs. */
async function overtaken<Value>(
  user: string,
  { run, meanwhile }: { readonly run: (db: Queryable) => Promise<Value>; readonly meanwhile: () => Promise<unknown> },
): Promise<Value> {
  const lock = await lockWallet(ledger.database, user);
  const happens = async (): Promise<void> => {
    try {
      await lock.waiting(1);
      await meanwhile();
    } finally {
      await lock.release();
    }
  };
  // Awaited together, so that a statement that fails as soon as the lock is released does not reject unhandled.
  const [value] = await Promise.all([run(ledger.database.owner), happens()]);
  return value;
}

for (const way of ['alone', 'beside another'] as const) {
  const companions = (): HoldRequest[] => (way === 'alone' ? [] : [holdOf('companion', 1)]);
  const end = async (db: Queryable, settlement: Settlement) => {
    const turn = { settlements: [settlement], requests: companions() };
    return (await takeTurn(db, ledger.instance, turn)).settled;
  };
  const place = async (db: Queryable, request: HoldRequest, instance = ledger.instance) =>
    (await placeHolds(db, instance, [request, ...companions()]))[0]?.outcome;

  test(`WA-07 a waiting repeat of an ended call holds nothing, ${way}`, async () => {
    const user = `overtaken, ${way}`;
    await ledger.open(user, 100);
    const request = holdOf(user, 10);
    const outcome = await overtaken(user, {
      run: (db) => place(db, request),
      meanwhile: () =>
        rawly(
          `insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
             completion_tokens, reasoning_tokens, held_micros, charged_micros)
           select $1, wallet_id, db.current_month(), 'failed', false, 0, 0, 0, 0, 10, 0 from ledger.wallets where user_id = $2`,
          request.callId,
          user,
        ),
    });
    assert.equal(outcome, 'call_ended');
    assert.equal((await ledger.wallet(user)).held, 0);
  });

  test(`WA-10 a process fenced while waiting places no hold, ${way}`, async () => {
    const user = `late, ${way}`;
    await ledger.open(user, 100);
    const instance = await ledger.addInstance();
    const placed = overtaken(user, {
      run: (db) => place(db, holdOf(user, 10), instance),
      meanwhile: () => rawly(`update db.instances set state = 'dead' where instance_id = $1`, instance),
    });
    await assert.rejects(placed, { code: '55000' });
    assert.equal((await ledger.wallet(user)).held, 0);
  });

  test(`WA-02 a wallet disconnected during the wait holds nothing, ${way}`, async () => {
    const user = `left, ${way}`;
    await ledger.open(user, 100);
    const lock = await lockWallet(ledger.database, user);
    const placing = place(ledger.database.owner, holdOf(user, 10));
    await lock.waiting(1);
    await lock.change('is_connected = false');
    await lock.release();
    assert.equal(await placing, 'payment_required');
    assert.equal((await ledger.wallet(user)).held, 0);
  });

  test(`WA-07 two waiting turns overspend neither balance nor cap, ${way}`, async () => {
    for (const [user, balance, cap] of [
      [`contested, ${way}`, 100, undefined],
      [`contested cap, ${way}`, 1_000, 100],
    ] as const) {
      await ledger.open(user, balance, cap);
      const lock = await lockWallet(ledger.database, user);
      const both = [1, 2].map(() => place(ledger.database.owner, holdOf(user, 60)));
      await lock.waiting(2);
      await lock.release();
      const outcomes = await Promise.all(both);
      assert.equal(outcomes.filter((outcome) => outcome === 'granted').length, 1);
      assert.equal((await ledger.wallet(user)).held, 60);
    }
  });

  test(`WA-07 two waiting settlements charge a call once, ${way}`, async () => {
    const user = `twice, ${way}`;
    const request = await openWithHold(user, 100, holdOf(user, 60));
    const lock = await lockWallet(ledger.database, user);
    const both = [25, 31].map((charge) => end(ledger.database.owner, endOf(request, charge)));
    await lock.waiting(2);
    await lock.release();
    const answers = (await Promise.all(both)).flat();
    const charged = answers.find((answer) => answer.is_settled)?.charged;
    assert.deepEqual(
      answers.map((answer) => answer.charged),
      [charged, charged],
    );
    assert.equal(answers.filter((answer) => answer.is_settled).length, 1);
    assert.equal((await ledger.wallet(user)).balance, 100 - Number(charged));
  });

  test(`WA-10 a settlement waiting past its hold’s release charges nothing, ${way}`, async () => {
    const user = `released, ${way}`;
    const request = await openWithHold(user, 100, holdOf(user, 60));
    const lock = await lockWallet(ledger.database, user);
    const releasing = settleHolds(ledger.database.owner, [endOf(request, 0)]);
    await lock.waiting(1);
    const ending = end(ledger.database.owner, endOf(request, 25));
    await lock.waiting(2);
    await lock.release();
    assert.deepEqual([(await releasing)[0]?.charged, (await ending)[0]?.charged], [0n, 0n]);
    assert.deepEqual(await figuresOf(user), { balance: 100, held: 0, openStreams: 0, capSpent: 0, capHeld: 0 });
  });

  test(`CC-14 a call joined during its settlement stays open, ${way}`, async () => {
    const user = `joined, ${way}`;
    const request = await openWithHold(user, 100, holdOf(user, 10));
    const settled = await overtaken(user, {
      run: (db) => end(db, { ...endOf(request, 5), isUnkept: true }),
      meanwhile: () => rawly('update ledger.holds set is_joined = true where call_id = $1', request.callId),
    });
    assert.deepEqual(settled, [{ call_id: request.callId, is_settled: false, charged: 0n, is_joined: true }]);
    assert.equal((await ledger.wallet(user)).held, 10);
  });

  test(`LI-02 a drain losing its slot while waiting frees no other, ${way}`, async () => {
    const user = `slots, ${way}`;
    const drain = await openWithHold(user, 100, holdOf(user, 10, { streamsMax: 2 }));
    await ledger.reserve([holdOf(user, 10, { streamsMax: 2 })]);
    const settled = await overtaken(user, {
      run: (db) => end(db, endOf(drain, 5)),
      meanwhile: () =>
        rawly('update ledger.holds set is_stream = false, drained_since = now() where call_id = $1', drain.callId),
    });
    assert.equal(settled[0]?.charged, 5n);
    // The stream that took the slot counts for it: two are open, and the drain is not one of them.
    assert.equal((await ledger.wallet(user)).openStreams, 2);
    await ledger.setWallet(user, 'open_streams = 1');
  });
}
