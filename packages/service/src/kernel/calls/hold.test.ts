import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdAnswerOf, type HoldRow } from '#kernel/calls/hold.ts';
import { newCallId } from '#kernel/values/ids.ts';
import { micros } from '#kernel/values/micros.ts';

const asked = { least: micros(10n), most: micros(20n) };
const call = { call_id: newCallId(), earlier: null };

test('WA-07 an answer about a hold that cannot be true is not taken', () => {
  const held = (granted: bigint): HoldRow => ({ ...call, outcome: 'granted', granted });
  for (const granted of [10n, 20n]) assert.deepEqual(holdAnswerOf(held(granted), asked), { kind: 'granted', granted });
  for (const granted of [9n, 21n]) assert.throws(() => holdAnswerOf(held(granted), asked), /within what was asked for/);
  assert.throws(() => holdAnswerOf({ ...call, outcome: 'cap_reached', granted: 1n }, asked), /holds nothing/);
  const earlier = { ...call, outcome: 'attempt_running', earlier: newCallId(), granted: 5n } as const;
  assert.throws(() => holdAnswerOf(earlier, asked), /holds nothing/);
});
