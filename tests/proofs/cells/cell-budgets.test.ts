import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import type { HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { arrive, type Cell, HOME, openBudgetCells } from './budget-cells.ts';
import { BudgetPlay, budgetSteps } from './budget-play.ts';
import { endOf } from '../../support/ledger-database.ts';
import { ROUNDS } from '../../support/rounds.ts';
import { sql } from '../../support/sql.ts';

/** Monthly budgets of API keys over the databases of three cells (CP-08), message by message. */

const cells = await openBudgetCells();
after(() => cells.close());
const { ledgers, newKey, call, figures, ask, recall } = cells;

const place = async (cell: Cell, request: HoldRequest) => (await ledgers[cell].reserve([request]))[0];

test('CE-05 the home counts loans before they are spent', async () => {
  const of = { key: newKey(), budget: 100 };
  assert.equal(await place('c2', call('c2', of, 10)), 'budget_race_lost', 'nothing was lent');
  const question = await ask('c2', of, { least: 10, wanted: 30 });
  const answer = await question.deliver();
  assert.equal((await figures(of.key)).c2.lent, 30);
  assert.equal(await place('c2', call('c2', of, 10)), 'budget_race_lost', 'the answer is still on its way');
  assert.equal(await place('c1', call('c1', of, 71)), 'budget_race_lost', 'what is lent may come back');
  assert.equal(await place('c1', call('c1', of, 70)), 70);
  await arrive(answer);
  const first = call('c2', of, 20);
  assert.equal(await place('c2', first), 20);
  assert.equal(await place('c2', call('c2', of, 11)), 'budget_race_lost');
  await ledgers.c2.settle([endOf(first, 5)]);
  assert.equal(await place('c2', call('c2', of, 25)), 25, 'what a call gives back is free in its cell');
  assert.deepEqual(await cells.differences(), []);
});

test('CE-05 a call is refused while more may exist elsewhere', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 10, wanted: 40 }));
  const large = () => call('c2', of, { least: 10, most: 80 });
  assert.equal(await place('c2', large()), 'budget_race_lost');
  await arrive(await ask('c2', of, { least: 10, wanted: 40 }));
  assert.equal(await place('c2', large()), 75, 'three quarters of all that is left, as without cells');
  const other = { key: newKey(), budget: 100 };
  assert.equal(await place('c1', call('c1', other, 60)), 60);
  await arrive(await ask('c2', other, { least: 10, wanted: 80 }));
  assert.equal(await place('c2', call('c2', other, { least: 10, most: 80 })), 30, 'of the forty that were lent');
  // At home the same: what is lent may come back.
  const third = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', third, { least: 10, wanted: 60 }));
  assert.equal(await place('c1', call('c1', third, { least: 10, most: 80 })), 'budget_race_lost');
  for (const message of await recall(third.key)) await arrive(message);
  assert.equal(await place('c1', call('c1', third, { least: 10, most: 80 })), 75);
});

test('CE-05 budget is free only once its cell gave it up', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 1, wanted: 100 }));
  const running = call('c2', of, 30);
  assert.equal(await place('c2', running), 30);
  const [question] = await recall(of.key);
  const answer = await question?.deliver();
  assert.equal(await place('c2', call('c2', of, 1)), 'budget_race_lost', 'given up');
  assert.equal(await place('c1', call('c1', of, 1)), 'budget_race_lost', 'and not heard of yet');
  await arrive(answer);
  assert.equal(await place('c1', call('c1', of, 71)), 'budget_race_lost', 'on hold in the other cell');
  assert.equal(await place('c1', call('c1', of, 70)), 70);
  await ledgers.c2.settle([endOf(running, 30)]);
  for (const message of await recall(of.key)) await arrive(message);
  assert.equal(await place('c1', call('c1', of, 71)), 'budget_reached', 'what others have spent is known');
});

test('CE-05 simultaneous recalls free only what the cell gave up', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 1, wanted: 100 }));
  const running = call('c2', of, 30);
  assert.equal(await place('c2', running), 30);
  const [first, second] = [await recall(of.key), await recall(of.key)];
  const answer = await first[0]?.deliver();
  await arrive(answer);
  assert.equal(await place('c1', call('c1', of, 60)), 60);
  await ledgers.c2.settle([endOf(running, 10)]);
  await arrive(second[0]);
  await arrive(answer); // It is older than what is known.
  assert.deepEqual([(await figures(of.key)).c2.lent, (await figures(of.key)).c2.allowance], [10, 10]);
  assert.equal(await place('c1', call('c1', of, 30)), 30);
});

test('CE-05 late, lost or repeated messages create no budget', async () => {
  const of = { key: newKey(), budget: 100 };
  const first = await (await ask('c2', of, { least: 40, wanted: 40 })).deliver(); // Its answer is late.
  const [back] = await recall(of.key);
  await arrive(back);
  assert.equal((await figures(of.key)).c2.lent, 0);
  await arrive(first);
  assert.equal((await figures(of.key)).c2.allowance, 0, 'it was taken back before it came');
  const second = await ask('c2', of, { least: 10, wanted: 10 });
  const answer = await second.deliver();
  await arrive(answer);
  await arrive(answer);
  assert.deepEqual([(await figures(of.key)).c2.lent, (await figures(of.key)).c2.allowance], [10, 10]);
  await arrive(second); // A repeat of the question lends once more, and is counted.
  assert.deepEqual([(await figures(of.key)).c2.lent, (await figures(of.key)).c2.allowance], [20, 20]);
  await arrive(answer);
  assert.equal((await figures(of.key)).c2.allowance, 20);
  // The answer to a recall comes after more was lent.
  const [late] = await recall(of.key);
  const given = await late?.deliver();
  await arrive(await ask('c2', of, { least: 5, wanted: 5 }));
  await arrive(given);
  const now = (await figures(of.key)).c2;
  assert.ok((now.allowance ?? 0) <= now.lent, JSON.stringify(now));
  // An answer that is lost strands what it lent until the next one.
  await (await ask('c3', of, { least: 30, wanted: 30 })).deliver();
  await arrive(await ask('c3', of, { least: 1, wanted: 1 }));
  assert.equal((await figures(of.key)).c3.allowance, 31);
  assert.deepEqual(await cells.differences(), []);
});

test('CE-05 a lowered budget holds in every cell', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 60, wanted: 60 }));
  assert.equal(await place('c2', call('c2', of, 10)), 10);
  assert.equal(await place('c1', call('c1', of, 30)), 30);
  const lower = { ...of, budget: 50 };
  assert.equal(await place('c2', call('c2', lower, 1)), 'budget_race_lost');
  await arrive(await ask('c2', lower, { least: 1, wanted: 1 }));
  assert.equal(await place('c2', call('c2', lower, 1)), 'budget_race_lost', 'more is lent than there is');
  for (const message of await recall(of.key)) await arrive(message);
  await arrive(await ask('c2', lower, { least: 1, wanted: 10 }));
  assert.equal(await place('c2', call('c2', lower, 10)), 10);
  assert.equal(await place('c1', call('c1', lower, 1)), 'budget_race_lost');
  const higher = { ...of, budget: 70 };
  assert.equal(await place('c1', call('c1', higher, 20)), 20);
});

test('CE-05 a restored home learns from a cell what it had lent', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 60, wanted: 60 }));
  await sql(ledgers[HOME])`delete from ledger.allowances where key_id = ${of.key}`;
  await sql(ledgers[HOME])`delete from ledger.key_budgets where key_id = ${of.key}`;
  await arrive(await ask('c2', of, { least: 1, wanted: 1 }));
  assert.deepEqual([(await figures(of.key)).c2.lent, (await figures(of.key)).c2.allowance], [61, 61]);
  const old = { key: newKey(), budget: 100 };
  await sql(ledgers.c2)`update cells.own set borrows_budgets = false`; // As before budgets were shared.
  assert.equal(await place('c2', call('c2', old, 90)), 90);
  await sql(ledgers.c2)`update cells.own set borrows_budgets = true`;
  assert.equal(await place('c2', call('c2', old, 5)), 'budget_race_lost');
  await arrive(await ask('c2', old, { least: 5, wanted: 5 }));
  assert.equal(await place('c2', call('c2', old, 5)), 5);
  assert.equal(await place('c1', call('c1', old, 6)), 'budget_race_lost');
  assert.equal(await place('c1', call('c1', old, 5)), 5);
});

/** Puts the home back to what it knew then: of one question of c2, and nothing that came after it. */
async function restoreHome(key: KeyId, lent: number): Promise<void> {
  const { owner } = ledgers[HOME].database;
  await sql(owner)`update ledger.allowances set lent_micros = ${lent}, spent_micros = 0, number = 1, lent_number = 1
    where key_id = ${key}`;
  await sql(owner)`update ledger.key_budgets set lent_micros = ${lent}, lent_spent_micros = 0 where key_id = ${key}`;
}

test('CE-05 a restored home learns its loans despite lost recalls', async () => {
  for (const spent of [90, 8]) {
    const of = { key: newKey(), budget: 100 };
    await arrive(await ask('c2', of, { least: 10, wanted: 10 }));
    await arrive(await ask('c2', of, { least: 90, wanted: 90 }));
    const done = call('c2', of, spent);
    assert.equal(await place('c2', done), spent);
    await ledgers.c2.settle([endOf(done, spent)]);
    assert.equal(await place('c2', call('c2', of, 95 - spent)), 95 - spent);
    await restoreHome(of.key, 10);
    for (let times = 0; times < 3; times += 1) await recall(of.key);
    await arrive(await ask('c2', of, { least: 5, wanted: 5 }));
    assert.deepEqual([(await figures(of.key)).c2.lent, (await figures(of.key)).c2.allowance], [100, 100]);
    assert.notEqual(await place('c1', call('c1', of, 1)), 1);
    for (const message of await recall(of.key)) await arrive(message);
    assert.equal(await place('c1', call('c1', of, 6)), 'budget_race_lost');
    assert.equal(await place('c1', call('c1', of, 5)), 5);
  }
});

test('CE-05 a restored home answers a cell that overspent', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 50, wanted: 50 }));
  const done = call('c2', of, 30);
  assert.equal(await place('c2', done), 30);
  await ledgers.c2.settle([endOf(done, 30)]);
  const late = await ask('c2', of, { least: 95, wanted: 95 });
  await restoreHome(of.key, 10);
  await sql(ledgers[HOME])`update ledger.allowances set number = 9, lent_number = 9 where key_id = ${of.key}`;
  await assert.doesNotReject(() => arrive(late)); // By its number it was overtaken, so what the cell had does not count.
  assert.deepEqual([(await figures(of.key)).c2.lent, (await figures(of.key)).c2.allowance], [10, 10]);
  assert.deepEqual(await cells.differences(), []);
});

test('CE-05 WA-09 the check compares what is lent with its parts', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c2', of, { least: 60, wanted: 60 }));
  const { owner } = ledgers[HOME].database;
  await sql(owner)`update ledger.key_budgets set lent_micros = 59 where key_id = ${of.key}`;
  const [found, ...others] = await ledgers[HOME].differences();
  assert.match(String(found?.rule), /lent is the sum of its allowances$/);
  assert.deepEqual([found?.expected, found?.found, others], [60n, 59n, []]);
  await sql(owner)`update ledger.key_budgets set lent_micros = 60 where key_id = ${of.key}`;
});

test('CE-05 message faults neither overspend nor lose a budget', async (t) => {
  const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`seed ${seed}: again with PURSER_TEST_SEED=${seed}`);
  let [granted, delivered] = [0, 0];
  const keepsUp = fc.asyncProperty(budgetSteps, async (taken) => {
    const play = new BudgetPlay(cells);
    for (const step of taken) {
      await play.take(step);
      await play.compare();
    }
    await play.end();
    granted += play.granted;
    delivered += play.delivered;
  });
  await fc.assert(keepsUp, { seed, numRuns: 5 * ROUNDS, endOnFailure: true });
  t.diagnostic(`${granted} calls had a hold, ${delivered} messages arrived`);
  assert.deepEqual(await cells.differences(), []);
});
