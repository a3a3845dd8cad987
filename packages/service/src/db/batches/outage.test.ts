import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Waiter } from '#db/batches/batcher.ts';
import { createOutageWatch } from '#db/batches/outage.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { promotedShareOf } from '../../../../../tests/support/promoted.ts';

const AWAY = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' });

/** Work that ends when the test says so. */
function work(): { readonly begin: (waiter: Waiter<string>) => void; readonly end: () => Waiter<string> } {
  let waiter: Waiter<string> | undefined;
  return {
    begin: (given) => (waiter = given),
    end: () => {
      assert.ok(waiter !== undefined, 'it has begun');
      return waiter;
    },
  };
}

const late = async (landing: Promise<string>): Promise<string> => {
  landing.catch(() => undefined);
  return 'late';
};

test('WA-17 work ending in time gives its own result', async () => {
  const watch = createOutageWatch();
  const [done, failed] = [work(), work()];
  const waiting = [watch.orLate(done.begin, late), watch.orLate(failed.begin, late)];
  done.end().resolve('done');
  failed.end().reject(new Error('failed'));
  const [first, second] = await Promise.allSettled(waiting);
  assert.deepEqual(first, { status: 'fulfilled', value: 'done' });
  assert.equal(second?.status, 'rejected');
});

test('WA-17 work is awaited a second, then handed over', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  t.mock.method(steadyClock, 'nowMs', () => nowMs);
  const pass = (ms: number): void => {
    nowMs += ms;
    t.mock.timers.tick(ms);
  };
  const watch = createOutageWatch();
  const takenMs: number[] = [];
  const tookOver = (landing: Promise<string>): Promise<string> => {
    takenMs.push(nowMs);
    return landing;
  };
  const [early, later, never] = [work(), work(), work()];
  const first = watch.orLate(early.begin, tookOver);
  const quick = watch.orLate(never.begin, tookOver);
  never.end().resolve('quick');
  pass(300);
  const second = watch.orLate(later.begin, tookOver);
  for (const ms of [699, 1, 299, 1]) pass(ms);
  assert.deepEqual(takenMs, [1_000, 1_300]);
  early.end().resolve('early');
  later.end().reject(new Error('lost'));
  assert.deepEqual([await first, await quick], ['early', 'quick']);
  await assert.rejects(second, /lost/);
});

test('WA-17 nothing waits for an unreachable server until a statement succeeds', async () => {
  const watch = createOutageWatch();
  const [before, during, after] = [work(), work(), work()];
  const first = watch.orLate(before.begin, late);
  await assert.rejects(watch.run(() => Promise.reject(new Error('a bad statement'))));
  assert.equal(watch.isAway(), false);
  await assert.rejects(watch.run(() => Promise.reject(AWAY)));
  assert.equal(watch.isAway(), true);
  const both = Promise.all([first, watch.orLate(during.begin, late)]);
  assert.deepEqual(await Promise.race([both, nextTurn('still waits')]), ['late', 'late']);
  await watch.run(async () => undefined);
  const third = watch.orLate(after.begin, late);
  after.end().resolve('back');
  assert.equal(await third, 'back');
});

test('OP-04 a full disk shows with the first refused write, and passes', async (t) => {
  const watch = createOutageWatch();
  let nowMs = 0;
  t.mock.method(steadyClock, 'nowMs', () => nowMs);
  const refuse = async (code: string) => {
    const fault = Object.assign(new pg.DatabaseError('no room', 0, 'error'), { code });
    await assert.rejects(watch.run(() => Promise.reject(fault)));
  };
  await refuse('53100');
  assert.equal(watch.takesNoWrites(), true);
  nowMs = 10_000;
  assert.equal(watch.takesNoWrites(), false, 'it gets a call to try');
  await refuse('58030');
  assert.equal(watch.takesNoWrites(), true);
  await watch.run(async () => undefined);
  assert.equal(watch.takesNoWrites(), false);
  await refuse('53100');
  await refuse('25006');
  assert.equal(watch.takesNoWrites(), false, 'a server that changed its role is found by its lease');
  for (const code of ['53200', '53300']) {
    await refuse(code);
    assert.equal(watch.takesNoWrites(), false, `${code} says nothing of the disk`);
  }
});

test('WA-17 work that has ended is collected with the young generation', () => {
  const watch = createOutageWatch();
  const share = promotedShareOf((kept) => {
    const { begin, end } = work();
    void watch.orLate(begin, (landing) => (assert.ok(kept), landing));
    return () => end().resolve('done');
  });
  assert.ok(share < 0.1, `${share} of it was promoted`);
});
