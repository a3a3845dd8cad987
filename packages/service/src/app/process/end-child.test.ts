import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test, type TestContext } from 'node:test';
import { endChild } from '#app/process/end-child.ts';

/** A shell that runs these words, and has begun to. */
async function shell(t: TestContext, words: string) {
  const child = spawn('sh', ['-c', `${words}; echo begun; while :; do sleep 0.02; done`], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(() => child.kill('SIGKILL'));
  await once(child.stdout, 'data');
  return child;
}

test('OP-12 only a process outlasting its stop is killed', async (t) => {
  const [deaf, polite] = await Promise.all([shell(t, 'trap "" TERM'), shell(t, 'trap "exit 0" TERM')]);
  assert.deepEqual(await Promise.all([endChild(deaf, 50), endChild(polite, 60_000)]), [false, true]);
  assert.deepEqual([deaf.signalCode, polite.exitCode], ['SIGKILL', 0]);
  assert.equal(await endChild(polite, 60_000), true, 'it is gone already');
});
