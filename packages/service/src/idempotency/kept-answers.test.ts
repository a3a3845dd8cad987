import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Pool } from '#db/pool/pool.ts';
import { createKeptAnswers } from '#idempotency/kept-answers.ts';
import { newCallId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';

test('CC-14 an answer waits one second for a busy database, an absent caller’s charge ten', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const busy = { query: () => new Promise(() => {}) } as unknown as Pool;
  const answers = createKeptAnswers({ pool: busy, key: Buffer.alloc(32, 1), log: createLog('silent') });
  t.after(() => answers.stop());
  const key = { digest: Buffer.alloc(32), body: Buffer.alloc(32), joins: false, isKeyed: true, keptMs: 300_000 };
  const answer = { callId: newCallId(), isStream: false, loweredOutputTokens: undefined, text: '{}' };
  for (const [isWaiting, ms] of [
    [true, 1_000],
    [false, 10_000],
  ] as const) {
    let isOver = false;
    const keeping = answers.keep(key, answer, { isWaiting }).then(() => (isOver = true));
    t.mock.timers.tick(ms - 1);
    await setImmediate();
    assert.equal(isOver, false);
    t.mock.timers.tick(1);
    await keeping;
  }
});
