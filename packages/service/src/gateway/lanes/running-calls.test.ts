import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatCall } from '#gateway/call/call.ts';
import { createRunningCalls } from '#gateway/lanes/running-calls.ts';
import { FAILED } from '#gateway/usage/ending.ts';
import { type AppId, newCallId } from '#kernel/values/ids.ts';
import { createLog } from '#kernel/log.ts';
import { micros, ZERO_MICROS } from '#kernel/values/micros.ts';

const granted = micros(5n);

function callOf(appId: string, isStream = false): ChatCall {
  const app = { appId: appId as AppId, limits: { maxCallsPerApp: 2 } };
  return { callId: newCallId(), app, isStream, model: { id: 'acme.m' } } as unknown as ChatCall;
}

test('CC-18 an app’s plain calls per process are limited', async () => {
  const running = createRunningCalls(createLog('silent'));
  const [first, second, third] = [callOf('app_1'), callOf('app_1'), callOf('app_1')];
  assert.deepEqual([first, second, third].map(running.admit), [true, true, false]);
  assert.deepEqual([callOf('app_2'), callOf('app_1', true)].map(running.admit), [true, true], 'others and streams');
  running.dismiss(second); // It got no hold.
  assert.equal(running.admit(third), true);
  const { hold } = running.begin<'live'>({ mode: 'live', call: first, granted });
  const joined = await running.end(hold, FAILED, Promise.resolve({ charged: ZERO_MICROS, isJoined: true }));
  assert.equal(joined.isJoined, true);
  assert.equal(running.admit(second), false, 'a joined call goes on');
  await running.end(hold, FAILED, Promise.resolve({ charged: ZERO_MICROS }));
  await running.end(hold, FAILED, Promise.resolve({ charged: ZERO_MICROS }));
  assert.deepEqual([second, callOf('app_1')].map(running.admit), [true, false]);
  const failed = running.begin<'live'>({ mode: 'live', call: third, granted });
  await assert.rejects(running.end(failed.hold, FAILED, Promise.reject(new Error('made by a test'))));
  assert.equal(running.admit(callOf('app_1')), true);
});
