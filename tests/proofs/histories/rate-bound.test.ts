import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';
import { RateHistory, type Trouble } from './rate-history.ts';

/** The bound of LI-01 over random histories of processes that lease tokens, die, stop, and lose answers. */

const RUNS = 120;
const STEPS_MAX = 60;
const PROCESSES = 3;
const SHRINK_MS_MAX = 60_000; // After that, the smallest history found so far is reported.
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const index = fc.nat(PROCESSES - 1);
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const step = fc.oneof(
  {
    weight: 10,
    arbitrary: fc.record({ do: kind('call'), process: index, calls: fc.constantFrom(1, 5, 8, 20, 60, 150, 500, 500) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ do: kind('pass'), ms: fc.constantFrom(30, 200, 499, 600, 999, 1_100, 2_900, 3_100) }),
  },
  { weight: 1, arbitrary: fc.record({ do: kind('crash'), process: index }) },
  { weight: 1, arbitrary: fc.record({ do: kind('end'), process: index }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: kind('trouble'),
      process: index,
      trouble: fc.constantFrom<Trouble>('held', 'held', 'answer held', 'answer held', 'answer lost'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: kind('release'), process: index }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
const limits = fc.record({
  ratePerMinute: fc.constantFrom(60, 600, 6_000),
  rateBurst: fc.constantFrom(40, 100, 200),
});

let database: TestDatabase;
let pool: Pool;

before(async () => {
  database = await createTestDatabase();
  pool = createPool({ url: database.url, role: 'live', connectionsMax: PROCESSES, log: createLog('silent') });
});

after(async () => {
  await pool.end();
  await database.close();
});

async function perform(history: RateHistory, taken: Step): Promise<void> {
  switch (taken.do) {
    case 'call':
      return history.call(taken.process, taken.calls);
    case 'pass':
      return history.pass(taken.ms);
    case 'crash':
      return history.crash(taken.process);
    case 'end':
      return history.end(taken.process);
    case 'trouble':
      return history.trouble(taken.process, taken.trouble);
    case 'release':
      return history.release(taken.process);
  }
}

test(`LI-01 leased tokens keep to burst and rate (seed ${seed})`, async () => {
  const done = { calls: 0, statements: 0 };
  await fc.assert(
    fc.asyncProperty(
      limits,
      fc.array(step, { minLength: 1, maxLength: STEPS_MAX, size: 'max' }),
      async (set, steps) => {
        const history = new RateHistory(database, pool, set, PROCESSES);
        for (const taken of steps) await perform(history, taken);
        await history.close();
        done.calls += history.calls;
        done.statements += history.statements;
      },
    ),
    { seed, numRuns: RUNS, interruptAfterTimeLimit: SHRINK_MS_MAX },
  );
  assert.ok(done.statements > RUNS && done.calls > RUNS, 'the histories made calls');
});
