import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createHeavyBodies } from '#http/requests/heavy-bodies.ts';
import { Refusal } from '#kernel/faults/refusal.ts';

const HEAVY = Buffer.from(`{"a":[${'1234,'.repeat(20_000)}1]}`);
const ORDINARY = [
  Buffer.from(`{"a":[${'1234,'.repeat(19_999)}1]}`),
  Buffer.from(`{"a":${JSON.stringify(',":'.repeat(100_000))}}`),
  Buffer.from(`{"a":[${'1,'.repeat(30_000)}1]}`), // Of fewer bytes than matter.
];

/** Pauses that end when the test says so. */
function heldPauses() {
  const ends: (() => void)[] = [];
  const bodies = createHeavyBodies(() => new Promise((resolve) => void ends.push(resolve)));
  return { bodies, ends };
}

/** Lets everything run that waits for nothing. */
const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

test('CC-07 bodies of very many values are read one after the other, others at once', async () => {
  const { bodies, ends } = heldPauses();
  const done: number[] = [];
  for (const [at, body] of ORDINARY.entries())
    assert.equal(
      bodies.run('a', body, () => at),
      at,
      'at once',
    );
  const runs = [1, 2, 3].map((at) => bodies.run('a', HEAVY, () => void done.push(at)));
  for (const expected of [[1], [1, 2], [1, 2, 3]]) {
    await settled();
    assert.deepEqual(done, expected);
    ends.at(-1)?.();
  }
  for (const run of runs) await run;
  const broken = bodies.run('a', HEAVY, () => assert.fail('broken'));
  await assert.rejects(Promise.resolve(broken), /broken/);
  ends.at(-1)?.();
  assert.equal(await bodies.run('a', HEAVY, () => Promise.resolve(7)), 7, 'a fault keeps nobody waiting');
});

test('CC-07 at most sixteen such bodies wait, four of one account', async () => {
  const { bodies, ends } = heldPauses();
  await bodies.run('a', HEAVY, () => 0);
  const admitted = async (caller: string) => {
    const run = Promise.resolve(bodies.run(caller, HEAVY, () => 0));
    return !((await Promise.race([run, settled()])) instanceof Refusal);
  };
  const fates: boolean[] = [];
  for (const caller of ['a', 'b', 'c', 'd', 'e'])
    for (let more = 0; more < 5; more += 1) fates.push(await admitted(caller));
  const ofOne = [true, true, true, true, false];
  assert.deepEqual(fates, [...ofOne, ...ofOne, ...ofOne, ...ofOne, false, false, false, false, false]);
  ends.at(-1)?.();
  await settled();
  assert.equal(await admitted('e'), true, 'one place is free again');
});
