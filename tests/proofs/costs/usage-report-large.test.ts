import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import type { AppId } from '../../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { Refusal } from '../../../packages/service/src/kernel/faults/refusal.ts';
import { createAppUsage, nameOf, type UsageFigures } from '../../../packages/service/src/calls/usage/report.ts';
import { createTestDatabase } from '../../support/database.ts';
import { sql, sqlValue } from '../../support/sql.ts';
import { PARTS_OF_CALLS } from './table-parts.ts';

/** Reports on a hundred thousand calls of one app, beside as many of other apps: what they read and how long they may take. */

const USERS = 200;
const CALLS = 100_000;
const APP = 'app_large' as AppId;

const database = await createTestDatabase();
const { owner } = database;
const log = createLog('silent');
/** One connection, so that its read counts can be flushed when a test needs them. */
const live = createPool({ url: database.url, role: 'live', connectionsMax: 1, log });
const hurried = createPool({ url: database.url, role: 'live', connectionsMax: 2, log, statementMsMax: 1 });
after(async () => {
  await Promise.all([live.end(), hurried.end()]);
  await database.close();
});

await sql(owner)`insert into ledger.wallets (app_id, user_id, currency)
  select app, 'user-' || u, 'EUR' from generate_series(1, ${USERS}::int) u, unnest(array[${APP}, 'app_other']) app`;
// Spread evenly over four months, with each wallet's calls over the whole time, as in real use.
await owner.query(
  `insert into usage.calls (call_id, wallet_id, month, model, outcome, is_estimated, prompt_tokens, cached_tokens,
     completion_tokens, reasoning_tokens, held_micros, charged_micros, correlation_id, settled_at)
   select gen_random_uuid(), w.wallet_id, date_trunc('month', at)::date, 'acme.model-' || n / ($2 * 2) % 5, 'answered', false, 10, 0,
     5, 0, 100, 7, 'cor-always', at at time zone 'UTC'
   from generate_series(0, $1 * 2 - 1) n
   join ledger.wallets w on w.wallet_id = 1 + n % ($2 * 2),
     lateral (select timestamp '2026-01-01' + n * (interval '120 days' / ($1 * 2)) as at) t`,
  [CALLS, USERS],
);
await sql(owner)`analyze`;

const MARCH = { appId: APP, from: '2026-03-01', to: '2026-04-01' };
const BY_ALL = { byDay: true, byModel: true, byUser: true };

const FIRST = { after: nameOf({}), most: 10_000 };
const usage = createAppUsage({ planes: live, reports: live });

async function pageOf(query: Parameters<typeof usage.page>[0]): Promise<readonly UsageFigures[]> {
  const page = await usage.page(query);
  assert.ok(!(page instanceof Refusal), page instanceof Refusal ? page.message : '');
  return page;
}

/** Rows of `usage.calls` read so far, by index and otherwise. */
async function readSoFar(): Promise<readonly [number, number]> {
  // Sessions report their counts late. This flushes the reads of the expectation before the measurement starts.
  for (const session of [owner, live]) await session.query('select pg_stat_force_next_flush()');
  const { rows } = await owner.query<{ by_index: number; others: number }>(
    `select sum(idx_tup_fetch)::float8 as by_index, sum(seq_tup_read)::float8 as others
     from pg_stat_user_tables where relid in ${PARTS_OF_CALLS}`,
  );
  return [rows[0]?.by_index ?? Number.NaN, rows[0]?.others ?? Number.NaN];
}

async function rowsRead(work: () => Promise<unknown>): Promise<{ readonly byIndex: number; readonly others: number }> {
  const [byIndexBefore, othersBefore] = await readSoFar();
  await work();
  const [byIndex, others] = await readSoFar();
  return { byIndex: byIndex - byIndexBefore, others: others - othersBefore };
}

/** The app's calls whose holds belong to these months. */
async function callsOf(...months: readonly string[]): Promise<number> {
  const count = await sqlValue<bigint>(owner)`select count(*) from usage.calls join ledger.wallets using (wallet_id)
    where app_id = ${APP} and to_char(month, 'YYYY-MM') = any (${months})`;
  return Number(count);
}

test('CP-04 a report reads only its own app’s calls, by index', async () => {
  const own = await callsOf('2026-02', '2026-03');
  assert.ok(own > CALLS / 3 && own < (CALLS * 2) / 3);
  for (const by of [BY_ALL, { ...BY_ALL, byDay: false }, { byDay: true, byModel: false, byUser: false }]) {
    const { byIndex, others } = await rowsRead(() => pageOf({ ...MARCH, ...by, ...FIRST }));
    assert.deepEqual([byIndex, others], [own, 0]);
  }
});

test('CP-04 a later page does not reread months of earlier pages', async () => {
  const year = { ...MARCH, from: '2026-01-01', to: '2027-01-01', ...BY_ALL, most: 1_000 };
  const after = { day: '2026-04-10', model: 'acme.model-1', userId: 'user-1' };
  const { byIndex } = await rowsRead(() => pageOf({ ...year, after }));
  assert.equal(byIndex, await callsOf('2026-03', '2026-04'));
});

test('CP-04 a large paged report adds up', async () => {
  const rows: UsageFigures[] = [];
  for (let next = FIRST.after, isWhole = false; !isWhole; next = nameOf(rows.at(-1) ?? {})) {
    const page = await pageOf({ ...MARCH, ...BY_ALL, ...FIRST, after: next });
    isWhole = page.length < FIRST.most;
    rows.push(...page);
  }
  const march = await callsOf('2026-03');
  assert.ok(rows.length > FIRST.most);
  assert.equal(
    rows.reduce((sum, { requests }) => sum + requests, 0),
    march,
  );
  assert.equal(
    rows.reduce((sum, { charged }) => sum + charged, 0n),
    7n * BigInt(march),
  );
});

test('CP-04 a report that would take too long is refused', async () => {
  const { page } = createAppUsage({ planes: live, reports: hurried });
  const answer = await page({ ...MARCH, ...BY_ALL, ...FIRST });
  assert.ok(answer instanceof Refusal);
  assert.deepEqual([answer.code, answer.detail.param], ['BAD_REQUEST', 'from']);
});

test('CP-04 reports beyond a fixed number are refused', async () => {
  const answers = await Promise.all(Array.from({ length: 30 }, () => usage.page({ ...MARCH, ...BY_ALL, ...FIRST })));
  const refused = answers.filter((answer) => answer instanceof Refusal);
  assert.deepEqual(
    refused.map(({ code, detail }) => [code, detail.retryAfterSeconds]),
    Array.from({ length: 8 }, () => ['TOO_MANY_REQUESTS', 5]),
  );
});

test('CP-04 a shared correlation id reads no more receipts than returned', async () => {
  let told = 0;
  const { byIndex, others } = await rowsRead(async () => {
    told = (await usage.receipts(APP, 'cor-always')).length;
  });
  assert.equal(told, 100);
  assert.ok(byIndex < 1_000, `${byIndex} rows were read for 100`); // Every other call belongs to another app.
  assert.equal(others, 0);
});
