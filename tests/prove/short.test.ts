import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExhaustive } from './exhaustive.ts';
import { runHistory } from './history.ts';

/** The short form of `npm run prove`, for every run of the tests. Most of its time it waits for leases to run out. */

/**
 * One failpoint for each step of a call: waiting for its hold, its provider, its settlement and its client. `npm run prove` kills at
 * all of them.
 */
const FAILPOINTS = [
  'statement.ledger-turn-answered@crowded',
  'instance.replaced',
  'provider.complete-answered@ordinary',
  'statement.ledger-settle-one-answered',
  'answers.keep-answered',
  'chat.write-full',
];

test('WA-07, WA-10 two histories of kills, stops and outages: books, model, clients and provider agree', async (t) => {
  const results = await Promise.all([runHistory(3), runHistory(6)]);
  for (const { seed, violations, figures, kept } of results) {
    t.diagnostic(`history ${seed}: ${JSON.stringify(figures)}`);
    assert.deepEqual(violations, [], `kept: ${kept}`);
  }
  const sum = (of: 'acknowledged' | 'charges') => results.reduce((total, { figures }) => total + figures[of], 0);
  assert.ok(sum('acknowledged') > 0 && sum('charges') > 0, 'histories in which nothing happens prove nothing');
});

test('WA-07, WA-10 a process killed at a failpoint leaves no hold and charges in full or not at all', async () => {
  const { cases, killed, neverFired, violations, kept } = await runExhaustive({
    seed: 1,
    names: FAILPOINTS,
    atATime: 4,
  });
  assert.deepEqual(neverFired, []);
  assert.equal(killed, cases);
  assert.deepEqual(violations, [], `kept: ${kept}`);
});
