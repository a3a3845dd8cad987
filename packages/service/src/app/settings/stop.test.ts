import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from '#app/environment/settings-reader.ts';
import { readStop } from '#app/settings/stop.ts';

test('OP-12 a stop waits for proxies in production only', () => {
  assert.deepEqual(readStop(readSettings({}), 'development'), { stopDelayMs: 0, stopCallsMs: 30_000 });
  assert.deepEqual(readStop(readSettings({}), 'production'), { stopDelayMs: 5_000, stopCallsMs: 30_000 });
  const set = readSettings({ PURSER_STOP_DELAY_SECONDS: '60', PURSER_STOP_CALLS_SECONDS: '900' });
  assert.deepEqual(readStop(set, 'production'), { stopDelayMs: 60_000, stopCallsMs: 900_000 });
  assert.deepEqual(set.faults(), []);
  const odd = readSettings({ PURSER_STOP_DELAY_SECONDS: '61', PURSER_STOP_CALLS_SECONDS: '0' });
  readStop(odd, 'production');
  assert.equal(odd.faults().length, 2);
});
