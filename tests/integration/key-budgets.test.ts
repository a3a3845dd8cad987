import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { HoldRequest } from '../../packages/service/src/kernel/calls/hold.ts';
import { type CallId, type KeyId, newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { beginDatabaseClock } from '../support/database-clock.ts';
import { createLedgerDatabase, endOf, holdOf, WAYS } from '../support/ledger-database.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

/** Monthly budgets of API keys in the ledger (CP-08). */

for (const way of Object.keys(WAYS) as (keyof typeof WAYS)[]) {
  const ledger = await createLedgerDatabase(way, true);
  after(() => ledger.close());
  const { database } = ledger;
  let named = 0;

  /** A key with this budget, and its requests. */
  const keyWith = (budget: number) => {
    const key = `key_${way}_${(named += 1)}` as KeyId;
    return {
      key,
      ask: (user: string, amount: Parameters<typeof holdOf>[1], options: Partial<HoldRequest> = {}, limit = budget) =>
        holdOf(user, amount, { ...options, budget: { key, micros: micros(BigInt(limit)) } }),
      rows: async () => {
        const rows = await sql<{ month: string; spent: number; held: number }>(database)`
          select month::text, spent_micros::int as spent, held_micros::int as held from ledger.key_budgets
          where key_id = ${key} order by month`;
        return rows.map(({ spent, held }) => [spent, held]);
      },
    };
  };
  /** Wallets that are rich enough. */
  const users = async (count: number) => {
    const all = Array.from({ length: count }, () => `rich-${way}-${(named += 1)}`);
    for (const user of all) await ledger.open(user, 1_000_000);
    return all as [string, ...string[]];
  };

  test(`CP-08 a budget is booked with the hold and returned at settlement (${way})`, async () => {
    const [anna, bert = ''] = await users(2);
    const { ask, rows } = keyWith(100);
    const [first, second] = [ask(anna, 60), ask(bert, 30)];
    assert.deepEqual(await ledger.reserve([first, second]), [60, 30]);
    assert.deepEqual(await rows(), [[0, 90]]);
    assert.deepEqual(await ledger.reserve([ask(anna, 11)]), ['budget_race_lost']);
    assert.deepEqual(await ledger.settle([endOf(first, 20)]), [{ isSettled: true, charged: 20 }]);
    assert.deepEqual(await rows(), [[20, 30]]);
    assert.deepEqual(await ledger.settle([endOf(first, 20)]), [{ isSettled: false, charged: 20 }]);
    assert.deepEqual(await ledger.reserve([first]), ['call_ended']);
    assert.deepEqual(await ledger.reserve([second]), [30], 'a repeat holds nothing more');
    assert.deepEqual(await rows(), [[20, 30]]);
    assert.deepEqual(await ledger.reserve([ask(bert, 81)]), ['budget_reached']);
    // A larger or smaller limit holds for the next call.
    assert.deepEqual(await ledger.reserve([ask(bert, 81, {}, 1_000)]), [81]);
    assert.deepEqual(await ledger.reserve([ask(bert, 1, {}, 20)]), ['budget_reached']);
    assert.deepEqual(await ledger.differences(), []);
  });

  test(`CP-08 a call gets what the budget has left (${way})`, async () => {
    const [anna] = await users(1);
    const { ask, rows } = keyWith(100);
    assert.deepEqual(await ledger.reserve([ask(anna, { least: 10, most: 500 })]), [75]);
    assert.deepEqual(await ledger.reserve([ask(anna, { least: 20, most: 500 })]), [20]);
    assert.deepEqual(await ledger.reserve([ask('nobody', 5)]), ['payment_required']);
    assert.deepEqual(
      await ledger.reserve([ask('nobody', 6)]),
      ['budget_race_lost'],
      'no user pays for a call that the key refuses',
    );
    assert.deepEqual(await ledger.reserve([ask('nobody', 101)]), ['budget_reached']);
    assert.deepEqual(await rows(), [[0, 95]]);
  });

  test(`CP-08 WA-08 a budget begins anew with the month (${way})`, async () => {
    const [anna] = await users(1);
    const { ask, rows } = keyWith(100);
    await beginDatabaseClock(database, new Date('2027-01-31T23:59:59Z'));
    const old = ask(anna, 90);
    assert.deepEqual(await ledger.reserve([old]), [90]);
    assert.deepEqual(await ledger.reserve([ask(anna, 90)]), ['budget_race_lost']);
    await beginDatabaseClock(database, new Date('2027-02-01T00:00:00Z'));
    assert.deepEqual(await ledger.reserve([ask(anna, 90)]), [90]);
    await ledger.settle([endOf(old, 50)]);
    assert.deepEqual(await rows(), [
      [50, 0],
      [0, 90],
    ]);
    // The clock of another server is behind: a wallet's month never goes back, and neither does the budget of its calls.
    await beginDatabaseClock(database, new Date('2027-01-31T23:59:59Z'));
    assert.deepEqual(await ledger.reserve([ask(anna, 11)]), ['budget_race_lost']);
    const late = ask(anna, 10);
    assert.deepEqual(await ledger.reserve([late]), [10]);
    assert.deepEqual(await ledger.settle([endOf(late, 10)]), [{ isSettled: true, charged: 10 }]);
    assert.deepEqual(await rows(), [
      [50, 0],
      [10, 90],
    ]);
    await beginDatabaseClock(database, new Date('2027-02-01T00:00:00Z'));
    assert.deepEqual(await ledger.differences(), []);
  });

  test(`CP-08 WA-10 a dead process’s calls free their budget (${way})`, async () => {
    const [anna, bert = ''] = await users(2);
    const { ask, rows } = keyWith(100);
    const dead = await ledger.addInstance();
    assert.deepEqual(await ledger.reserve([ask(anna, 40), ask(bert, 60)], dead), [40, 60]);
    assert.deepEqual(await ledger.reserve([ask(anna, 1)]), ['budget_race_lost']);
    await sql(database)`update db.instances set lease_until = clock_timestamp() where instance_id = ${dead}`;
    assert.equal(await reapHolds(ledger.live, 1_000), 2);
    assert.deepEqual(await rows(), [[0, 0]]);
    assert.deepEqual(await ledger.reserve([ask(anna, 100)]), [100]);
  });

  test(`CP-08 crossed calls overspend no budget and never deadlock (${way})`, async () => {
    const names = await users(24); // Few turns share a wallet, whose lock would hide that of the budget.
    const keys = [keyWith(1_000), keyWith(1_500), keyWith(700)];
    let granted: CallId[] = [];
    const takeOne = async (turn: number, ends: readonly CallId[]) => {
      const requests = Array.from({ length: 5 }, (_, at) => {
        const user = names[(turn * 5 + at * 7) % names.length] ?? '';
        const key = keys[(turn + at) % (keys.length + 1)]; // One in four has none.
        return key === undefined ? holdOf(user, 50) : key.ask(user, 50, { callId: newCallId() });
      });
      const settlements = ends.map((callId) => endOf({ callId }, 50));
      const { placed } = await ledger.turn(settlements, requests);
      for (const answer of placed)
        assert.ok([50, 'budget_race_lost', 'budget_reached'].includes(answer), String(answer));
      return requests.filter((_, at) => placed[at] === 50).map(({ callId }) => callId);
    };
    for (let round = 0; round < 5; round += 1) {
      const open = granted;
      const taken = await Promise.all(
        Array.from({ length: 12 }, (_, at) => takeOne(round * 12 + at, open.slice(at * 3, at * 3 + 3))),
      );
      granted = taken.flat();
    }
    for (const [at, budget] of [1_000, 1_500, 700].entries()) {
      const [[spent = 0, held = 0] = []] = (await keys[at]?.rows()) ?? [];
      assert.equal(spent + held, budget, 'every call costs 50, so all of it is used');
    }
    assert.deepEqual(await ledger.differences(), []);
  });

  test(`CP-08 WA-09 the check derives what each budget spends and holds (${way})`, async () => {
    const [anna] = await users(1);
    const { key, ask } = keyWith(100);
    const call = ask(anna, 30);
    await ledger.reserve([call, ask(anna, 20)]);
    await ledger.settle([endOf(call, 25)]);
    const rules = async (change: string) => {
      await database.owner.query(`update ledger.key_budgets set ${change} where key_id = $1`, [key]);
      return (await ledger.differences()).map(({ rule, expected, found }) => [
        rule.slice(rule.indexOf(': ') + 2),
        expected,
        found,
      ]);
    };
    assert.deepEqual(await rules('spent_micros = 24'), [['spent is the sum of its charges', 25n, 24n]]);
    assert.deepEqual(await rules('spent_micros = 25, held_micros = 21'), [['held is the sum of its holds', 20n, 21n]]);
    assert.deepEqual(await rules('held_micros = 20'), []);
    await rewrite(database, 'update usage.calls set budget_key = null where call_id = $1', [call.callId]);
    assert.equal((await ledger.differences()).length, 1);
  });
}
