import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import type { UsageReportQuery } from '../../packages/service/src/calls/usage/queries.ts';
import {
  type AppUsage,
  createAppUsage,
  nameOf,
  type UsageFigures,
} from '../../packages/service/src/calls/usage/report.ts';
import { APP, createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

const RUNS = 25;
const CALLS_MAX = 25;
const BALANCE = 400;
const HOLD = 60;
const seed = Number(process.env['PURSER_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31));

const call = fc.record({
  user: fc.nat(3),
  model: fc.constantFrom('acme.large-1', 'acme.small-1', 'other.x'),
  /** Sometimes more than the hold. */
  charge: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: HOLD + 10 })),
  isAbandoned: fc.boolean(),
  /** The wallet's money is taken back before the call ends, so the charge is owed. */
  isClawed: fc.constantFrom(false, false, false, false, true),
  daysAgo: fc.nat(70),
});
type Call = typeof call extends fc.Arbitrary<infer Value> ? Value : never;
const groups = fc
  .record({ byDay: fc.boolean(), byModel: fc.boolean(), byUser: fc.boolean() })
  .filter(({ byDay, byModel, byUser }) => byDay || byModel || byUser);

let ledger: LedgerDatabase;
let usage: AppUsage;
let histories = 0;

before(async () => {
  ledger = await createLedgerDatabase();
  usage = createAppUsage({ planes: ledger.live, reports: ledger.live });
});

after(() => ledger.close());

/** Calls on past days by users that occur in no other history. */
async function relive(calls: readonly Call[]): Promise<void> {
  histories += 1;
  const userOf = (index: number): string => `user-${histories}-${index}`;
  for (let index = 0; index < 4; index += 1) await ledger.open(userOf(index), BALANCE);
  for (const { user, model, charge, isAbandoned, isClawed, daysAgo } of calls) {
    const hold = holdOf(userOf(user), HOLD);
    const [granted] = await ledger.reserve([hold]);
    if (typeof granted !== 'number') continue; // The wallet is empty, or it owes money.
    if (isClawed) await ledger.takeBack(userOf(user), BALANCE);
    const outcome = isAbandoned && charge > 0 ? 'abandoned' : endOf(hold, charge).outcome;
    await ledger.settle([{ ...endOf(hold, charge), model, outcome }]);
    await rewrite(
      ledger.database,
      `update usage.calls set settled_at = settled_at - $2 * interval '1 day',
         month = date_trunc('month', (settled_at - $2 * interval '1 day') at time zone 'UTC')
       where call_id = $1`,
      [hold.callId, daysAgo],
    );
  }
}

async function wholeReport(query: UsageReportQuery): Promise<readonly UsageFigures[]> {
  const rows: UsageFigures[] = [];
  for (let next = query.after; ; next = nameOf(rows.at(-1) ?? {})) {
    const page = await usage.page({ ...query, after: next });
    assert.ok(!(page instanceof Refusal));
    rows.push(...page);
    if (page.length < query.most) return rows;
  }
}

/** The charges in the books, by user. */
async function booked(): Promise<ReadonlyMap<string, bigint>> {
  const rows = await sql<{ user_id: string; charged: bigint }>(ledger)`
    select w.user_id, sum(e.amount_micros)::bigint as charged
    from ledger.entries e join ledger.wallets w using (wallet_id)
    where e.kind in ('charge', 'charge_receivable') group by w.user_id`;
  return new Map(rows.map((row) => [row.user_id, row.charged]));
}

function sumOf(amounts: Iterable<bigint>): bigint {
  return Array.from(amounts).reduce((sum, amount) => sum + amount, 0n);
}

/** The UTC day the given number of days from now. */
function dayOf(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
}

test('CP-04 WA-09 a report adds up to the ledger', async () => {
  const property = fc.asyncProperty(
    fc.array(call, { minLength: 1, maxLength: CALLS_MAX }),
    groups,
    fc.integer({ min: 5, max: 50 }),
    async (calls, by, most) => {
      await relive(calls);
      const range = { appId: APP, from: dayOf(-100), to: dayOf(2) };
      const rows = await wholeReport({ ...range, ...by, after: nameOf({}), most });
      const names = rows.map((row) => JSON.stringify(nameOf(row)));
      assert.equal(new Set(names).size, names.length, 'each row comes once');
      const books = await booked();
      assert.equal(sumOf(rows.map(({ charged }) => charged)), sumOf(books.values()));
      if (!by.byUser) return;
      for (const [user, charged] of books) {
        const own = rows.filter(({ userId }) => userId === user);
        assert.equal(sumOf(own.map((row) => row.charged)), charged);
      }
    },
  );
  await fc.assert(property, { numRuns: RUNS, seed, endOnFailure: true });
});
