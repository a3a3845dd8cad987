import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { Gate, type GateLimits } from '#gateway/upstream/gate.ts';
import type { AppId } from '#kernel/values/ids.ts';
import { UpstreamError } from '#providers/port/provider.ts';

/** A gate with a clock that the test moves, and calls that note when they are let in. */
function stage(t: TestContext, limits: GateLimits) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let nowMs = 0;
  const gate = new Gate({ nowMs: () => nowMs });
  gate.setLimits(limits);
  const said: string[] = [];
  return {
    gate,
    said,
    enter: (name: string, gone = new AbortController().signal, waitMsMax = 60_000): void => {
      const note = (fault: unknown) => {
        assert.ok(fault instanceof UpstreamError);
        said.push(`${name} ${fault.kind} ${fault.retryAfterSeconds ?? ''}`.trim());
      };
      try {
        const room = gate.enter({ appId: name.split(' ')[0] as AppId, waitMsMax, gone });
        if (room === undefined) said.push(name);
        else void room.then(() => said.push(name), note);
      } catch (fault) {
        note(fault);
      }
    },
    pass: async (ms: number) => {
      nowMs += ms;
      t.mock.timers.tick(ms);
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

test('CC-16 a provider’s concurrency limit holds, and waiting calls take freed places', async (t) => {
  const { gate, said, enter, pass } = stage(t, { callsAtOnce: 2, queueMs: 500 });
  for (const name of ['a 1', 'a 2', 'a 3']) enter(name);
  assert.deepEqual([said, gate.running(), gate.waiting()], [['a 1', 'a 2'], 2, 1]);
  gate.leave();
  await pass(0);
  assert.deepEqual([said, gate.running(), gate.waiting()], [['a 1', 'a 2', 'a 3'], 2, 0]);
});

test('CC-16 waiting calls are let in app by app', async (t) => {
  const { gate, said, enter, pass } = stage(t, { callsAtOnce: 1, queueMs: 500 });
  for (const name of ['a 0', 'a 1', 'a 2', 'a 3', 'b 1', 'c 1', 'b 2']) enter(name);
  for (let count = 0; count < 6; count += 1) gate.leave();
  await pass(0);
  assert.deepEqual(said, ['a 0', 'a 1', 'b 1', 'c 1', 'a 2', 'b 2', 'a 3']);
});

test('CC-16 a call that waits too long is throttled', async (t) => {
  const { gate, said, enter, pass } = stage(t, { callsAtOnce: 1, queueMs: 500 });
  enter('a 1');
  enter('a 2');
  enter('b 1', undefined, 100);
  enter('b 2', undefined, 0);
  assert.deepEqual(said, ['a 1', 'b 2 throttled 1']);
  await pass(100);
  await pass(400);
  assert.deepEqual(said.slice(2), ['b 1 throttled 1', 'a 2 throttled 1']);
  assert.equal(gate.waiting(), 0);
});

test('CC-16 a caller leaving the queue frees its place', async (t) => {
  const { gate, said, enter, pass } = stage(t, { callsAtOnce: 1, queueMs: 500 });
  const gone = new AbortController();
  enter('a 1');
  enter('a 2', gone.signal);
  gone.abort();
  await pass(0);
  assert.deepEqual([said, gate.waiting()], [['a 1', 'a 2 unsent'], 0]);
  gate.leave();
  assert.equal(gate.running(), 0);
});

test('CC-16 no minute has more calls than the limit', async (t) => {
  const { gate, said, enter, pass } = stage(t, { callsPerMinute: 2, queueMs: 60_000 });
  enter('a 1');
  gate.leave();
  await pass(50_000);
  enter('a 2');
  gate.leave();
  enter('a 3');
  await pass(9_999);
  assert.deepEqual(said, ['a 1', 'a 2']);
  await pass(1);
  assert.deepEqual(said, ['a 1', 'a 2', 'a 3']);
});

test('CC-16 a call over the rate learns when to return', (t) => {
  const { said, enter } = stage(t, { callsPerMinute: 1, queueMs: 0 });
  enter('a 1');
  enter('a 2');
  assert.deepEqual(said, ['a 1', 'a 2 throttled 60']);
});

test('CC-16 a provider without limits keeps nobody waiting', (t) => {
  const { gate, said, enter } = stage(t, {});
  for (let count = 0; count < 100; count += 1) enter(`a ${count}`);
  assert.deepEqual([said.length, gate.running()], [100, 100]);
});
