// A drain, whose caller has left, gives its slot to a new stream (LI-02).
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectDrainsTaken } from '../../packages/service/src/ledger/hold/drain-queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { sql } from '../support/sql.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
});

after(async () => {
  await ledger.close();
});

const streamOf = (user: string, streamsMax: number, amount = 10) => holdOf(user, amount, { streamsMax });

async function expectRight(user: string, openStreams: number): Promise<void> {
  assert.equal((await ledger.wallet(user)).openStreams, openStreams);
  assert.deepEqual(await ledger.differences(), []);
}

test('LI-02 a stream without a slot takes a drain’s', async () => {
  await ledger.open('one', 1_000);
  const running = streamOf('one', 2);
  const drained = streamOf('one', 2);
  assert.deepEqual(await ledger.reserve([running, drained]), [10, 10]);
  assert.deepEqual(await ledger.reserve([streamOf('one', 2)]), ['stream_limit']);
  await ledger.drain([drained]);
  assert.deepEqual(await selectDrainsTaken(ledger.live, [running.callId, drained.callId]), []);

  const next = streamOf('one', 2);
  assert.deepEqual(await ledger.reserve([next]), [10]);
  assert.deepEqual(await selectDrainsTaken(ledger.live, [running.callId, drained.callId]), [drained.callId]);
  assert.equal((await ledger.wallet('one')).held, 30);
  await expectRight('one', 2);
  assert.deepEqual(await ledger.reserve([streamOf('one', 2)]), ['stream_limit']); // A drain gives up its slot only once.

  assert.deepEqual(await ledger.settle([endOf(drained, 4)]), [{ isSettled: true, charged: 4 }]);
  await expectRight('one', 2);
  await ledger.settle([endOf(next, 1), endOf(running, 1)]);
  await expectRight('one', 0);
});

test('LI-02 plain calls and free slots end no drain', async () => {
  await ledger.open('free', 1_000);
  const drained = streamOf('free', 2);
  await ledger.reserve([drained]);
  await ledger.drain([drained]);
  assert.deepEqual(await ledger.reserve([streamOf('free', 2), holdOf('free', 10)]), [10, 10]);
  assert.deepEqual(await selectDrainsTaken(ledger.live, [drained.callId]), []);
  await expectRight('free', 2);
});

test('LI-02 each stream of a batch ends the oldest drain', async () => {
  await ledger.open('batch', 1_000);
  const drains = [streamOf('batch', 3), streamOf('batch', 3), streamOf('batch', 3)] as const;
  await ledger.reserve(drains);
  const [first, second, third] = drains;
  for (const one of [second, third, first]) await ledger.drain([one]);
  const calls = drains.map(({ callId }) => callId);
  assert.deepEqual(await ledger.reserve([streamOf('batch', 3), streamOf('batch', 3)]), [10, 10]);
  const taken = await selectDrainsTaken(ledger.live, calls);
  assert.deepEqual(new Set(taken), new Set([second.callId, third.callId]));
  const more = Array.from({ length: 3 }, () => streamOf('batch', 3));
  assert.deepEqual(await ledger.reserve(more), [10, 'stream_limit', 'stream_limit']);
  await expectRight('batch', 3);
});

test('LI-02 a lowered limit ends as many drains as needed', async () => {
  await ledger.open('lowered', 1_000);
  const streams = Array.from({ length: 4 }, () => streamOf('lowered', 4));
  await ledger.reserve(streams);
  await ledger.drain(streams.slice(0, 2));
  assert.deepEqual(await ledger.reserve([streamOf('lowered', 2)]), ['stream_limit']); // Two others still run.
  await expectRight('lowered', 4);
  await ledger.drain(streams.slice(2, 3));
  assert.deepEqual(await ledger.reserve([streamOf('lowered', 2)]), [10]);
  await expectRight('lowered', 2);
});

test('CC-10 a stream the wallet refuses ends no drain', async () => {
  await ledger.open('poor', 30);
  const drained = streamOf('poor', 1);
  await ledger.reserve([drained]);
  await ledger.drain([drained]);
  assert.deepEqual(await ledger.reserve([streamOf('poor', 1, 21)]), ['balance_race_lost']);
  await ledger.setWallet('poor', 'is_suspended = true');
  assert.deepEqual(await ledger.reserve([streamOf('poor', 1)]), ['wallet_suspended']);
  assert.deepEqual(await selectDrainsTaken(ledger.live, [drained.callId]), []);
  await ledger.setWallet('poor', 'is_suspended = false');
  assert.deepEqual(await ledger.reserve([streamOf('poor', 1, 20)]), [20]);
  await expectRight('poor', 1);
});

test('LI-02 CC-14 a drain that a retry waits for keeps its slot', async () => {
  await ledger.open('joined', 1_000);
  const idempotencyKey = { digest: Buffer.from('joined'), body: Buffer.from('body'), joins: true };
  const retry = () => holdOf('joined', 10, { streamsMax: 2, idempotencyKey });
  const [drained, other] = [retry(), streamOf('joined', 2)];
  await ledger.reserve([drained, other]);
  await ledger.drain([drained]);
  assert.deepEqual(await ledger.reserve([retry(), streamOf('joined', 2)]), ['attempt_running', 'stream_limit']);
  assert.deepEqual(await ledger.reserve([streamOf('joined', 2)]), ['stream_limit']);
  await ledger.drain([other]);
  assert.deepEqual(await ledger.reserve([streamOf('joined', 2)]), [10]);
  assert.deepEqual(await selectDrainsTaken(ledger.live, [drained.callId, other.callId]), [other.callId]);
  await expectRight('joined', 2);
});

test('LI-02 only a running stream becomes a drain', async () => {
  await ledger.open('none', 1_000);
  const plain = holdOf('none', 10);
  const ended = streamOf('none', 1);
  await ledger.reserve([plain, ended]);
  await ledger.drain([plain, ended]);
  await ledger.settle([endOf(ended, 0)]);
  await ledger.drain([ended]);
  const next = streamOf('none', 1);
  assert.deepEqual(await ledger.reserve([next, streamOf('none', 1)]), [10, 'stream_limit']);
  await ledger.drain([next]);
  const before = await drainedSince(next.callId);
  await ledger.drain([next]);
  assert.deepEqual(await drainedSince(next.callId), before);
  await expectRight('none', 1);
});

async function drainedSince(callId: string): Promise<unknown> {
  const rows = await sql<{ since: string }>(ledger)`select drained_since::text as since from ledger.holds
    where call_id = ${callId}`;
  assert.ok(rows[0]?.since);
  return rows[0].since;
}

test('LI-02 simultaneous streams take each drain’s slot once', async () => {
  for (let round = 0; round < 10; round += 1) {
    const user = `race-${round}`;
    await ledger.open(user, 10_000);
    const streams = Array.from({ length: 4 }, () => streamOf(user, 4));
    await ledger.reserve(streams);
    const asked = Array.from({ length: 6 }, () => ledger.reserve([streamOf(user, 4)]));
    const [, ...answers] = await Promise.all([ledger.drain(streams.slice(0, 2)), ...asked]);
    const granted = answers.flat().filter((answer) => answer === 10).length;
    assert.ok(granted <= 2, `${granted} of 2 slots were taken`);
    await expectRight(user, 4);
  }
});
