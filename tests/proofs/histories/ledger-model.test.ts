import { test } from 'node:test';
import fc from 'fast-check';
import { underTest } from './ledger-under-test.ts';
import { createLedgerDatabase, type LedgerDatabase, WAYS } from '../../support/ledger-database.ts';
import { History } from './ledger-history.ts';
import { KEYS, type Step, step } from './ledger-steps.ts';

const RUNS = 10;
const STEPS_MAX = 120; // About sixty on average, and down to one when fast-check shrinks a history.
const SHRINK_MS_MAX = 60_000; // After that, the smallest history found so far is reported.
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const ways = Object.keys(WAYS) as (keyof typeof WAYS)[];
let ledger: LedgerDatabase;
let histories = 0;

async function keepsUp(steps: readonly Step[]): Promise<void> {
  const history = new History(underTest(ledger), `history-${(histories += 1)}`, KEYS);
  await history.begin();
  for (const taken of steps) await history.take(taken);
  await history.compareSpent();
}

for (const way of ways) {
  test(`WA-09 ${RUNS} random histories of up to ${STEPS_MAX} steps match the model, ${way}`, async (t) => {
    t.diagnostic(`seed ${seed}: again with PURSER_TEST_SEED=${seed}`);
    ledger = await createLedgerDatabase(way);
    t.after(() => ledger.close());
    const steps = fc.array(step, { minLength: 1, maxLength: STEPS_MAX, size: 'max' });
    await fc.assert(fc.asyncProperty(steps, keepsUp), { seed, numRuns: RUNS, interruptAfterTimeLimit: SHRINK_MS_MAX });
  });
}
