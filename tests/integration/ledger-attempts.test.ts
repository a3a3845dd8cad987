import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import { type CallId, newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { reserveHolds } from '../../packages/service/src/ledger/hold/queries.ts';
import { settleHolds } from '../../packages/service/src/ledger/settlement/queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';

/** Idempotency keys where holds are placed and ended. */

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  assert.deepEqual(await ledger.differences(), []);
  await ledger.close();
});

function keyOf(
  user: string,
  name: string,
  more: { joins?: boolean; body?: string; joined?: CallId } = {},
): HoldRequest {
  const { body = 'body', joins = true, joined } = more;
  const digests = { digest: Buffer.from(name), body: Buffer.from(body) };
  return holdOf(user, 10, { idempotencyKey: { ...digests, joins, ...(joined && { joined }) } });
}

/** The outcome and earlier call of each request, in order. */
async function placed(...requests: readonly HoldRequest[]): Promise<readonly (readonly [string, string | null])[]> {
  const rows = await reserveHolds(ledger.live, ledger.instance, requests);
  return requests.map(({ callId }) => {
    const row = rows.find(({ call_id: id }) => id === callId);
    return [row?.outcome ?? 'missing', row !== undefined && 'earlier' in row ? row.earlier : null] as const;
  });
}

test('CC-14 of equal calls in a batch, the first holds', async () => {
  await ledger.open('batch', 100);
  const [first, second] = [keyOf('batch', 'a'), keyOf('batch', 'a')];
  const conflict = keyOf('batch', 'a', { body: 'other' });
  const other = keyOf('batch', 'b');
  assert.deepEqual(await placed(first, second, conflict, other), [
    ['granted', null],
    ['attempt_running', first.callId],
    ['attempt_conflict', first.callId],
    ['granted', null],
  ]);
  assert.deepEqual(await placed(first, second), [
    ['granted', null],
    ['attempt_running', first.callId],
  ]);
  assert.equal((await ledger.wallet('batch')).held, 20);
  await ledger.settle([endOf(first, 10), endOf(other, 0)]);
  assert.deepEqual(await placed(second), [['granted', null]]); // Nothing of the first was kept.
});

test('CC-14 an idempotency key belongs to one wallet', async () => {
  await ledger.open('mine', 100);
  await ledger.open('yours', 100);
  assert.deepEqual(await placed(keyOf('mine', 'w')), [['granted', null]]);
  assert.deepEqual(await placed(keyOf('yours', 'w')), [['granted', null]]);
});

test('CC-14 a retry finds its call despite an empty wallet', async () => {
  await ledger.open('drained', 10);
  const first = keyOf('drained', 'd');
  await placed(first);
  assert.deepEqual(await placed(keyOf('drained', 'd')), [['attempt_running', first.callId]]);
  assert.deepEqual(await placed(keyOf('drained', 'e')), [['balance_race_lost', null]]);
  await ledger.setWallet('drained', 'is_suspended = true');
  assert.deepEqual(await placed(keyOf('drained', 'd')), [['wallet_suspended', null]]);
  await ledger.setWallet('drained', 'is_connected = false');
  assert.deepEqual(await placed(keyOf('drained', 'd')), [['payment_required', null]]);
});

test('CC-14 a retry joins a call that nobody waits for', async () => {
  await ledger.open('equal', 100);
  const firsts = [keyOf('equal', 'e', { joins: false }), keyOf('equal', 'e', { joins: false })];
  assert.deepEqual(await placed(...firsts), [
    ['granted', null],
    ['granted', null],
  ]);
  const [[, one], [, two]] = (await placed(keyOf('equal', 'e'), keyOf('equal', 'e'))) as [
    [string, CallId],
    [string, CallId],
  ];
  assert.deepEqual(new Set([one, two]), new Set(firsts.map(({ callId }) => callId)));
  assert.deepEqual(await placed(keyOf('equal', 'e', { joined: two })), [['attempt_running', two]]);
});

test('CC-14 a settlement without an answer leaves joined calls open', async () => {
  await ledger.open('joined', 100);
  const [joined, alone] = [keyOf('joined', 'j'), keyOf('joined', 'k')];
  await placed(joined, alone, keyOf('joined', 'j'));
  const unkept = [joined, alone].map((request) => ({ ...endOf(request, 5), isUnkept: true }));
  const rowsOf = async (settlements: Parameters<typeof settleHolds>[1]) => {
    const rows = await settleHolds(ledger.live, settlements);
    return new Map(
      rows.map(({ call_id: id, is_settled, is_joined, charged }) => [id, [is_settled, is_joined, charged]]),
    );
  };
  const first = await rowsOf(unkept);
  assert.deepEqual(first.get(joined.callId), [false, true, 0n]);
  assert.deepEqual(first.get(alone.callId), [true, false, 5n]);
  assert.equal((await ledger.wallet('joined')).held, 10);
  const second = await rowsOf([endOf(joined, 5), { ...endOf(alone, 5), isUnkept: true }]);
  assert.deepEqual(second.get(joined.callId), [true, false, 5n]);
  assert.deepEqual(second.get(alone.callId), [false, false, 5n]);
  assert.deepEqual([(await ledger.wallet('joined')).held, (await ledger.wallet('joined')).balance], [0, 90]);
});

test('CC-14 a call without idempotency key is never joined', async () => {
  await ledger.open('none', 100);
  assert.deepEqual(await placed(holdOf('none', 10), holdOf('none', 10, { callId: newCallId() })), [
    ['granted', null],
    ['granted', null],
  ]);
});
