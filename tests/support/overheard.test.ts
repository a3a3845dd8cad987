import assert from 'node:assert/strict';
import { test } from 'node:test';
import { overhear } from './overheard.ts';

test('ER-03 a secret in a log fails the file', () => {
  const { log, assertDiscreet } = overhear();
  log.debug({ callId: 'c', status: 200 }, 'a call');
  assertDiscreet(['svc_live_key', '']);
  log.debug({ fault: { cause: { message: 'no such key: svc_live_key' } } }, 'a call');
  assert.throws(() => assertDiscreet(['svc_live_key']), /ER-03/);
  const other = overhear();
  other.log.debug({ request: { messages: [{ content: 'Hello' }] } }, 'a call');
  assert.throws(() => other.assertDiscreet([]), /ER-03/);
});
