import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { createKeptAlive } from '#gateway/stream/keep-alive.ts';

const PACE = { statusMsMax: 10, keepAliveMs: 15_000 };
const COMMENT = ': keep-alive\n\n';

/** A caller that receives a stream, with a clock that the test moves. */
function writtenTo(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const written: string[] = [];
  let nowMs = 0;
  let stalled: Promise<void> | undefined;
  const gone = new AbortController();
  const write = (frames: string): Promise<void> | undefined => {
    written.push(frames);
    return stalled;
  };
  return {
    written,
    gone,
    out: createKeptAlive({ write, end: write, fail: write }, PACE, {
      gone: gone.signal,
      clock: { nowMs: () => nowMs },
      alive: () => ': keep-alive\n\n',
    }),
    stall: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      stalled = promise;
      return () => {
        stalled = undefined;
        resolve();
      };
    },
    /** Advances the clock, and runs everything that becomes due. */
    pass: async (ms: number) => {
      // Millisecond by millisecond, so that a timer set on the way is due by the same clock.
      for (let passed = 0; passed < ms; passed += 1) {
        nowMs += 1;
        t.mock.timers.tick(1);
      }
      for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
    },
  };
}

test('CC-01 a comment follows 15 s without a frame', async (t) => {
  const { out, written, pass } = writtenTo(t);
  await pass(1_000);
  await out.write('frame');
  await pass(14_999);
  assert.deepEqual(written, ['frame']);
  await pass(1);
  assert.deepEqual(written, ['frame', COMMENT]);
  await pass(15_000);
  assert.deepEqual(written, ['frame', COMMENT, COMMENT]);
});

test('CC-01 a stream that sends frames contains no comments', async (t) => {
  const { out, written, pass } = writtenTo(t);
  for (let count = 0; count < 5; count += 1) {
    await pass(14_999);
    await out.write('frame');
  }
  assert.ok(!written.includes(COMMENT));
});

test('CC-01 no comment is queued behind unread data', async (t) => {
  const { out, written, stall, pass } = writtenTo(t);
  const goOn = stall();
  const writing = out.write('frame');
  await pass(60_000);
  assert.deepEqual(written, ['frame']);
  goOn();
  await writing;
  await pass(14_999);
  assert.deepEqual(written, ['frame']);
  await pass(1);
  assert.deepEqual(written, ['frame', COMMENT]);
});

test('CC-01 an unread comment is not followed by another', async (t) => {
  const { written, stall, pass } = writtenTo(t);
  const goOn = stall();
  await pass(15_000);
  await pass(60_000);
  assert.deepEqual(written, [COMMENT]);
  goOn();
  await pass(0);
  await pass(15_000);
  assert.deepEqual(written, [COMMENT, COMMENT]);
});

test('CC-01 no comment follows the end of the stream', async (t) => {
  const { out, written, pass } = writtenTo(t);
  out.stop();
  await out.end('end');
  await pass(60_000);
  assert.deepEqual(written, ['end']);
});

test('CC-11 a caller who left is sent no comment', async (t) => {
  const { gone, written, pass } = writtenTo(t);
  gone.abort();
  await pass(60_000);
  assert.deepEqual(written, []);
});
