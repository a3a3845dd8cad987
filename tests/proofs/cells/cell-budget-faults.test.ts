import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { type HoldAnswer, holdAnswerOf, type HoldRequest } from '../../../packages/service/src/kernel/calls/hold.ts';
import type { KeyId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { micros } from '../../../packages/service/src/kernel/values/micros.ts';
import { createBudgetHome } from '../../../packages/service/src/ledger/budgets/budget-home.ts';
import { createFindRoom } from '../../../packages/service/src/ledger/budgets/find-room.ts';
import { placeOverCells } from '../../../packages/service/src/ledger/budgets/holds-over-cells.ts';
import {
  barAllowances,
  giveBackAllowance,
  type LendRequest,
} from '../../../packages/service/src/ledger/budgets/queries.ts';
import { reserveHolds } from '../../../packages/service/src/ledger/hold/queries.ts';
import { reapHolds } from '../../../packages/service/src/ledger/recovery/queries.ts';
import { settleLate } from '../../../packages/service/src/ledger/settlement/queries.ts';
import { arrive, type Cell, CELLS, HOME, openBudgetCells } from './budget-cells.ts';
import { beginDatabaseClock } from '../../support/database-clock.ts';
import { endOf } from '../../support/ledger-database.ts';
import { ROUNDS } from '../../support/rounds.ts';
import { sql } from '../../support/sql.ts';

/** Calls in three cells, whose gateways do not always reach each other (CP-08). */

const cells = await openBudgetCells();
after(() => cells.close());
const { ledgers, newKey, call, figures, ask, recall } = cells;
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

/** What becomes of a question: whether it arrives, how often, and whether its answer does. */
interface Faults {
  readonly fate: () => 'arrives' | 'is lost' | 'loses its answer' | 'comes twice';
  /** A cell that nobody reaches. */
  readonly away?: Cell | undefined;
  /** What happens before a cell is asked back, and before its answer comes. */
  readonly meanwhile?: (at: 'question' | 'answer') => Promise<void>;
}

class Lost extends Error {}

async function send<Answer>({ fate, away }: Faults, to: Cell, deliver: () => Promise<Answer>): Promise<Answer> {
  const what = to === away ? 'is lost' : fate();
  if (what === 'is lost') throw new Lost();
  if (what === 'comes twice') await deliver();
  const answer = await deliver();
  if (what === 'loses its answer') throw new Lost();
  return answer;
}

/** The way to place a call in each cell. It may be asked again a second later at once. */
function placesOf(faults: Faults): Readonly<Record<Cell, (request: HoldRequest) => Promise<HoldAnswer>>> {
  let aheadMs = 0;
  const clock = { nowMs: () => performance.now() + (aheadMs += 1_000) };
  const log = createLog('silent');
  const homeOf = (cell: Cell) =>
    createBudgetHome({
      db: ledgers[cell].live,
      askBack: async (to, asked) => {
        await faults.meanwhile?.('question');
        const answer = await send(faults, to as Cell, () => giveBackAllowance(ledgers[to as Cell].live, asked));
        await faults.meanwhile?.('answer');
        return answer;
      },
      clock,
    });
  const home = homeOf(HOME);
  const placeIn = (cell: Cell) => {
    const { live: db, instance } = ledgers[cell];
    const findRoom = createFindRoom({
      db,
      home,
      askHome: () => (cell === HOME ? undefined : (asked) => send(faults, HOME, () => home.lend(asked, cell))),
      clock,
      log,
    });
    return placeOverCells(async (request) => {
      const [row] = await reserveHolds(db, instance, [request]);
      assert.ok(row !== undefined && row.outcome !== 'call_ended');
      return holdAnswerOf(row, request);
    }, findRoom);
  };
  return { c1: placeIn('c1'), c2: placeIn('c2'), c3: placeIn('c3') };
}

const arriving: Faults = { fate: () => 'arrives' };

async function usedOf(key: KeyId): Promise<number> {
  const all = Object.values(await figures(key));
  return all.reduce((sum, { spent, held }) => sum + spent + held, 0);
}

const isGranted = ({ kind }: HoldAnswer) => kind === 'granted';
const HOLD = 10;

interface Round {
  readonly admitted: number;
  readonly where: readonly Cell[];
  readonly fates: readonly ReturnType<Faults['fate']>[];
}

const round: fc.Arbitrary<Round> = fc.integer({ min: 1, max: 12 }).chain((admitted) =>
  fc.record({
    admitted: fc.constant(admitted),
    where: fc.array(fc.constantFrom(...CELLS, 'c2' as const, 'c3' as const), {
      minLength: 3 * admitted,
      maxLength: 3 * admitted,
    }),
    fates: fc.array(
      fc.oneof(
        { arbitrary: fc.constant('arrives' as const), weight: 1 },
        {
          arbitrary: fc.constantFrom('is lost' as const, 'loses its answer' as const, 'comes twice' as const),
          weight: 2,
        },
      ),
      { minLength: 200, maxLength: 200 },
    ),
  }),
);

test('CE-05 three cells with lost messages never exceed a budget', async (t) => {
  t.diagnostic(`seed ${seed}: again with PURSER_TEST_SEED=${seed}`);
  let [granted, late] = [0, 0];
  for (const { admitted, where, fates } of fc.sample(round, { seed, numRuns: 5 * ROUNDS })) {
    const rush = async (faults: Faults) => {
      const of = { key: newKey(), budget: admitted * HOLD + 9 };
      const places = placesOf(faults);
      const answers = await Promise.all(where.map((cell) => places[cell](call(cell, of, HOLD))));
      return { of, count: answers.filter(isGranted).length };
    };
    assert.equal((await rush(arriving)).count, admitted);

    const lost = [...fates];
    const { of, count } = await rush({ fate: () => lost.pop() ?? 'arrives' });
    assert.ok(count <= admitted, `${count} of ${admitted}`);
    assert.equal(await usedOf(of.key), count * HOLD);
    // Everything arrives again. Nothing of the budget is lost, wherever it was stranded.
    const places = placesOf(arriving);
    let more = 0;
    for (let refused = 0, at = 0; refused < CELLS.length; at += 1) {
      const cell = CELLS[at % CELLS.length] ?? HOME;
      const isIn = isGranted(await places[cell](call(cell, of, HOLD)));
      more += isIn ? 1 : 0;
      refused = isIn ? 0 : refused + 1;
    }
    assert.equal(count + more, admitted);
    granted += count;
    late += more;
  }
  t.diagnostic(`${granted} calls had a hold while messages were lost, and ${late} after that`);
  assert.deepEqual(await cells.differences(), []);
});

test('CE-05 no budget is called spent while a cell is away', async () => {
  const of = { key: newKey(), budget: 100 };
  await arrive(await ask('c3', of, { least: 1, wanted: 90 }));
  const away = placesOf({ ...arriving, away: 'c3' });
  for (const cell of ['c2', HOME] as const) {
    assert.deepEqual(await away[cell](call(cell, of, 30)), { kind: 'refused', reason: 'budget_elsewhere' });
  }
  assert.ok(isGranted(await away.c3(call('c3', of, 20))), 'it goes on with what it was lent');
  const places = placesOf(arriving);
  assert.ok(isGranted(await places.c2(call('c2', of, 50))));
  assert.ok(isGranted(await places.c1(call('c1', of, 30))));
  for (const cell of CELLS) {
    assert.deepEqual(await places[cell](call(cell, of, 1)), { kind: 'refused', reason: 'budget_race_lost' });
    assert.deepEqual(await places[cell](call(cell, of, 101)), { kind: 'refused', reason: 'budget_reached' });
  }
});

test('CE-05 a call finds a cell’s share amid other requests', async () => {
  const others = {
    question: async (of: Parameters<typeof call>[1]) => (await recall(of.key))[0]?.deliver(), // Its answer is lost.
    answer: async (of: Parameters<typeof call>[1]) => arrive(await ask('c3', of, { least: 1, wanted: 1 })),
  };
  for (const when of ['question', 'answer'] as const) {
    for (const cell of ['c2', HOME] as const) {
      const of = { key: newKey(), budget: 100 };
      await arrive(await ask('c3', of, { least: 1, wanted: 90 }));
      let times = 0;
      const meanwhile = async (at: typeof when) => void (at === when && (times += 1) === 1 && (await others[at](of)));
      assert.ok(isGranted(await placesOf({ ...arriving, meanwhile })[cell](call(cell, of, 80))));
      assert.equal(times, 2);
    }
  }
});

test('CE-05 WA-13 a call gets less only when all cells run short', async () => {
  const of = { key: newKey(), budget: 100 };
  const places = placesOf(arriving);
  const granted = async (cell: Cell, amount: Parameters<typeof call>[2]) => {
    const answer = await places[cell](call(cell, of, amount));
    return answer.kind === 'granted' ? Number(answer.granted) : answer;
  };
  assert.equal(await granted('c2', { least: 5, most: 40 }), 40);
  await arrive(await ask('c3', of, { least: 1, wanted: 20 }));
  assert.equal(await granted('c2', { least: 5, most: 60 }), 45, 'three quarters of sixty, of which c3 had twenty');
  assert.equal(await granted('c1', { least: 5, most: 60 }), 12, 'three quarters of fifteen');
});

test('CE-05 WA-10 a late charge takes only its cell’s share', async () => {
  const of = { key: newKey(), budget: 100 };
  const { c2 } = ledgers;
  await arrive(await ask('c2', of, { least: 1, wanted: 60 }));
  const dead = await c2.addInstance();
  const request = call('c2', of, 50);
  assert.deepEqual(await c2.reserve([request], dead), [50]);
  await sql(c2)`update db.instances set state = 'dead' where instance_id = ${dead}`;
  assert.equal(await reapHolds(c2.live, 100), 1);
  for (const message of await recall(of.key)) await arrive(message); // Nothing is held there any more.
  assert.ok(isGranted(await placesOf(arriving).c1(call('c1', of, 80))));
  await arrive(await ask('c2', of, { least: 1, wanted: 15 }));
  const [row] = await settleLate(c2.live, [endOf(request, 50)]);
  assert.deepEqual([Number(row?.charged), Number(row?.lost)], [15, 35]);
  assert.equal(await usedOf(of.key), 95);
});

test('CE-05 an overtaken question brings nothing back', async () => {
  const of = { key: newKey(), budget: 100 };
  const { c1, c2 } = ledgers;
  await arrive(await ask('c2', of, { least: 1, wanted: 60 }));
  const [first, second] = [call('c2', of, 10), call('c2', of, 50)];
  for (const request of [first, second]) assert.equal((await c2.reserve([request])).length, 1);
  await c2.settle([endOf(first, 10)]);
  const late = await ask('c2', of, { least: 30, wanted: 30 }); // Sent while 50 are held.
  await c2.settle([endOf(second, 0)]);
  for (const message of await recall(of.key)) await arrive(message);
  assert.deepEqual(await c1.reserve([call('c1', of, 90)]), [90]);
  await arrive(late);
  assert.deepEqual(await c2.reserve([call('c2', of, 50)]), ['budget_race_lost']);
  assert.equal(await usedOf(of.key), 100);
});

test('CE-05 WA-10 a loan barred at a start is confirmed and pays', async () => {
  const of = { key: newKey(), budget: 100 };
  const { c2 } = ledgers;
  const { c2: place } = placesOf(arriving);
  const whole = call('c2', of, { least: 100, most: 100 });
  assert.ok(isGranted(await place(whole)));
  await c2.settle([endOf(whole, 0)]);
  await barAllowances(c2.database.owner);
  assert.ok(
    !(await c2.reserve([call('c2', of, 10)])).includes(10),
    'nothing is spent of it before its home confirms it',
  );
  const dead = await c2.addInstance();
  const told = call('c2', of, 50);
  assert.ok(isGranted(await place(call('c2', of, 10))));
  assert.deepEqual(await c2.reserve([told], dead), [50]);
  await sql(c2)`update db.instances set state = 'dead' where instance_id = ${dead}`;
  assert.equal(await reapHolds(c2.live, 100), 1);
  await barAllowances(c2.database.owner);
  const [row] = await settleLate(c2.live, [endOf(told, 50)]);
  assert.deepEqual([Number(row?.charged), Number(row?.lost)], [50, 0]);
});

test('CE-05 a call without room blocks no smaller ones', async () => {
  const of = { key: newKey(), budget: 100 };
  const { c1, c2 } = ledgers;
  await c1.reserve([call('c1', of, 50)]);
  const clock = { nowMs: () => 0 };
  const home = createBudgetHome({ db: c1.live, askBack: () => Promise.reject(new Lost()), clock });
  const askHome = () => (asked: LendRequest) => home.lend(asked, 'c2');
  const findRoom = createFindRoom({ db: c2.live, home, askHome, clock, log: createLog('silent') });
  const budget = { key: of.key, micros: micros(100n) };
  const found = async (amount: bigint) => findRoom({ budget, least: micros(amount), most: micros(amount) });
  assert.equal((await found(80n)).reason, 'budget_race_lost');
  assert.equal((await found(80n)).isTold, true);
  assert.deepEqual(await found(10n), { isTold: false, isNothing: false, reason: undefined });
});

// The last test: the month of a wallet never goes back.
test('CE-05 WA-08 a hold settles in its own month’s allowance', async (t) => {
  const key = newKey();
  const of = { key, budget: 100 };
  const begin = (at: string) =>
    Promise.all(CELLS.map((cell) => beginDatabaseClock(ledgers[cell].database, new Date(at))));
  t.after(() => begin(new Date().toISOString()));
  await begin('2031-01-31T23:59:59Z');
  const places = placesOf(arriving);
  const old = call('c2', of, 90);
  assert.ok(isGranted(await places.c2(old)));
  const late = await (await ask('c2', of, { least: 1, wanted: 10 })).deliver();
  await begin('2031-02-01T00:00:00Z');
  await arrive(late); // It is of January.
  assert.equal((await figures(key)).c2.allowance, null);
  const use = 'select held, allowance from ledger.budget_use($1)';
  assert.deepEqual((await ledgers.c2.database.owner.query(use, [key])).rows, [{ held: 0n, allowance: 0n }]);
  assert.ok(isGranted(await places.c1(call('c1', of, 60))));
  assert.ok(isGranted(await places.c2(call('c2', of, 40))));
  assert.ok(!isGranted(await places.c2(call('c2', of, 1))));
  await ledgers.c2.settle([endOf(old, 50)]);
  assert.equal(await usedOf(key), 100, 'of February');
  assert.deepEqual(await cells.differences(), []);
});
