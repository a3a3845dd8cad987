import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runExhaustive } from './exhaustive.ts';
import { runHistory } from './history.ts';

/** The short form of `npm run proofs -- histories`, for every run of the tests. Most of its time it waits for leases to run out. */

/**
 * One case for each step of a call: waiting for its hold (in the first turn, and in one of several calls), its provider, its
 * settlement and its client. Plain and streamed take turns. `npm run proofs -- histories` kills at every failpoint, with calls of both kinds.
 */
const CASES = [
  'statement.ledger-turn-answered:crowded:plain',
  'statement.ledger-turn-answered:crowded2:streamed',
  'instance.replaced:fenced:plain',
  'provider.complete-answered:ordinary:plain',
  'statement.ledger-settle-one-answered:ordinary:streamed',
  'answers.keep-answered:keyed:streamed',
  'chat.write-full:slow:streamed',
];

/** Of three gateways, one is cut off for longer than its lease and one is spared. The others and the database are killed. */
const SEED = 3;

test('WA-07 WA-10 all sides agree after kills, stops and outages', async (t) => {
  const { violations, figures, kept } = await runHistory(SEED);
  t.diagnostic(`history ${SEED}: ${JSON.stringify(figures)}`);
  assert.deepEqual(violations, [], `kept: ${kept}`);
  assert.ok(figures.acknowledged > 0 && figures.charges > 0, 'a history in which nothing happens proves nothing');
});

test('WA-07 WA-10 a killed process charges fully or not at all', async () => {
  const { cases, killed, neverFired, violations, kept } = await runExhaustive({
    seed: 1,
    names: CASES,
    atATime: 4,
  });
  assert.deepEqual(neverFired, []);
  assert.equal(cases, CASES.length);
  assert.equal(killed, cases);
  assert.deepEqual(violations, [], `kept: ${kept}`);
});
