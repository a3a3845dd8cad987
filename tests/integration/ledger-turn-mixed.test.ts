import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import type { Settlement } from '../../packages/service/src/ledger/settlement/settlement.ts';
import { takeOrdinary } from '../../packages/service/src/ledger/turn/queries.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { sql, sqlValue } from '../support/sql.ts';

// Turns that settle and hold at once: on one wallet, and on several.
let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase('inTurns');
  await ledger.open('companion', 1_000_000);
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

const tryTurn = (settlements: readonly Settlement[], requests: readonly HoldRequest[]) =>
  takeOrdinary(ledger.live, ledger.instance, { settlements, requests });

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

test('WA-07 a turn settles before it holds', async () => {
  const old = await openWithHold('freed', 100, holdOf('freed', 75));
  const other = await openWithHold('freed-other', 100, holdOf('freed-other', 10));
  const ends = [endOf(old, 10), endOf(other, 5)];
  // 90 are left, and a call may have three quarters of that.
  const over = holdOf('freed', { least: 1, most: 69 });
  const undone = { settlements: [ends[0]], requests: [over] };
  const beside = holdOf('freed-other', 20);
  assert.deepEqual(await tryTurn(ends, [over, beside]), {
    done: { settlements: [ends[1]], requests: [beside] },
    left: undone,
  });
  assert.deepEqual(await figuresOf('freed'), { balance: 100, held: 75, openStreams: 0, capSpent: 0, capHeld: 75 });
  const exact = holdOf('freed', { least: 1, most: 68 });
  assert.deepEqual((await tryTurn(ends.slice(0, 1), [exact])).left, { settlements: [], requests: [] });
  assert.deepEqual(await figuresOf('freed'), { balance: 90, held: 68, openStreams: 0, capSpent: 10, capHeld: 68 });
  assert.deepEqual(await figuresOf('freed-other'), { balance: 95, held: 20, openStreams: 0, capSpent: 5, capHeld: 20 });
});

test('WA-03 a turn counts its charges against the cap', async () => {
  const old = await openWithHold('capped', 1_000, holdOf('capped', 60), 100);
  const over = holdOf('capped', { least: 1, most: 39 }); // The charge of 50 leaves 50 of the cap.
  assert.deepEqual((await tryTurn([endOf(old, 50)], [over])).done, { settlements: [], requests: [] });
  assert.deepEqual((await tryTurn([endOf(old, 50)], [holdOf('capped', 38)])).left, { settlements: [], requests: [] });
  assert.deepEqual(await figuresOf('capped'), { balance: 950, held: 38, openStreams: 0, capSpent: 50, capHeld: 38 });
});

for (const [kind, slots] of [
  ['LI-02 a stream', { streamsMax: 1 }],
  ['CC-18 a plain call', { callsMax: 1 }],
] as const) {
  test(`${kind} takes the slot of exactly one that ends in its turn`, async () => {
    const user = `slot of ${kind}`;
    const old = await openWithHold(user, 1_000, holdOf(user, 10, slots));
    const [one, two] = [holdOf(user, 10, slots), holdOf(user, 10, slots)];
    assert.deepEqual((await tryTurn([endOf(old, 5)], [one, two])).done, { settlements: [], requests: [] });
    assert.deepEqual((await tryTurn([endOf(old, 5)], [one])).left, { settlements: [], requests: [] });
    assert.deepEqual((await tryTurn([], [two, holdOf('companion', 1)])).left.requests, [two]);
    assert.deepEqual((await tryTurn([endOf(one, 5)], [holdOf('companion', 1)])).left.settlements, []);
    assert.deepEqual((await tryTurn([], [two, holdOf('companion', 1)])).left.requests, []);
  });
}

test('WA-08 a wallet whose month begins in mid-turn is left whole', async () => {
  const old = await openWithHold('turning', 1_000, holdOf('turning', 60), 100);
  await ledger.setWallet('turning', `cap_month = '2020-01-01'`);
  await sql(ledger)`update ledger.holds set month = '2020-01-01' where call_id = ${old.callId}`;
  const next = holdOf('turning', 70);
  const left = { settlements: [endOf(old, 50)], requests: [next] };
  assert.deepEqual((await tryTurn(left.settlements, left.requests)).left, left);
  const { settled, placed } = await ledger.turn(left.settlements, left.requests);
  assert.deepEqual([settled, placed], [[{ isSettled: true, charged: 50 }], [70]]);
  assert.deepEqual(await figuresOf('turning'), { balance: 950, held: 70, openStreams: 0, capSpent: 0, capHeld: 70 });
});

test('WA-07 a charge above its hold delays only its wallet', async () => {
  const old = await openWithHold('above', 100, holdOf('above', 10));
  const [own, other] = [holdOf('above', 20), holdOf('companion', 1)];
  const left = { settlements: [endOf(old, 11)], requests: [own] };
  assert.deepEqual(await tryTurn(left.settlements, [own, other]), {
    done: { settlements: [], requests: [other] },
    left,
  });
  assert.deepEqual(await ledger.turn(left.settlements, left.requests), {
    settled: [{ isSettled: true, charged: 10 }],
    placed: [20],
  });
});

test('CC-14 a turn skips a retry and does the rest', async () => {
  const old = await openWithHold('joining', 100, holdOf('joining', 10));
  const attempt = { digest: Buffer.from('joining'), body: Buffer.from('body') };
  const first = holdOf('joining', 10, { idempotencyKey: { ...attempt, joins: false } });
  const again = holdOf('joining', 10, { idempotencyKey: { ...attempt, joins: true } });
  const ends = [endOf(old, 5)];
  assert.deepEqual(await tryTurn(ends, [first, again]), {
    done: { settlements: ends, requests: [first] },
    left: { settlements: [], requests: [again] },
  });
  assert.deepEqual((await ledger.turn([endOf(old, 5)], [again])).placed, ['attempt_running']);
});

test('WA-07 a call ended and asked for settles first', async () => {
  const held = await openWithHold('both', 100, holdOf('both', 10));
  assert.deepEqual(await ledger.turn([endOf(held, 5)], [held]), {
    settled: [{ isSettled: true, charged: 5 }],
    placed: ['call_ended'],
  });
  const gone = await openWithHold('both-gone', 100, holdOf('both-gone', 10));
  await ledger.setWallet('both-gone', 'is_connected = false');
  assert.deepEqual(await ledger.turn([endOf(gone, 5)], [gone, holdOf('companion', 1)]), {
    settled: [{ isSettled: true, charged: 5 }],
    placed: ['call_ended', 1],
  });
  assert.deepEqual(await figuresOf('both'), { balance: 95, held: 0, openStreams: 0, capSpent: 5, capHeld: 0 });
});

test('WA-10 a fenced process’s turn does nothing', async () => {
  const old = await openWithHold('fenced', 100, holdOf('fenced', 10));
  const fenced = await ledger.addInstance();
  await rawly(`update db.instances set state = 'dead' where instance_id = $1`, fenced);
  const turn = [[endOf(old, 5)], [holdOf('fenced', 20)]] as const;
  await assert.rejects(ledger.turn(...turn, fenced), { code: '55000' });
  assert.deepEqual(await figuresOf('fenced'), { balance: 100, held: 10, openStreams: 0, capSpent: 0, capHeld: 10 });
  const answers = { settled: [{ isSettled: true, charged: 5 }], placed: [20] };
  assert.deepEqual(await ledger.turn(...turn), answers);
  const again = { ...answers, settled: [{ isSettled: false, charged: 5 }] };
  assert.deepEqual(await ledger.turn(...turn, await ledger.addInstance()), again);
  assert.deepEqual(await figuresOf('fenced'), { balance: 95, held: 20, openStreams: 0, capSpent: 5, capHeld: 20 });
});

async function countTold(): Promise<number> {
  const count = await sqlValue<number>(ledger)`select count(*)::int as count from webhooks.events
    where convert_from(body, 'UTF8') like '%"low"%'`;
  return count ?? -1;
}

test('WH-05 a turn that leaves money short reports it', async () => {
  await rawly(
    `insert into webhooks.subscriptions (app_id, endpoint_url, events, low_balance_threshold_micros, sealed_secret, secret_fingerprint)
     values ($1, 'https://example.com', '{balance.low}', 50, '', '')`,
    APP,
  );
  const first = await openWithHold('low', 100, holdOf('low', 40));
  const second = holdOf('low', 40);
  assert.deepEqual((await tryTurn([endOf(first, 10)], [second])).left.requests, []);
  assert.equal(await countTold(), 0, '60 before, 50 after');
  const third = holdOf('low', 50);
  assert.deepEqual((await tryTurn([endOf(second, 0)], [third])).left.requests, []);
  assert.equal(await countTold(), 1, '50 before, 40 after');
  assert.deepEqual((await tryTurn([endOf(third, 2)], [holdOf('low', 50)])).left.requests, []);
  assert.equal(await countTold(), 1, '40 before, 38 after');
  await rawly(
    'update webhooks.subscriptions set events = $1, low_balance_threshold_micros = null',
    '{topup.completed}',
  );
});

async function rawly(text: string, ...values: readonly unknown[]): Promise<void> {
  await ledger.database.owner.query(text, [...values]);
}
