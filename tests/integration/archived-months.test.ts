import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test, type TestContext } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { UsageError } from '../../packages/service/src/cli/terminal/command-error.ts';
import { Refusal } from '../../packages/service/src/kernel/faults/refusal.ts';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { archiveMonth, detachMonth } from '../../packages/service/src/ledger/archives/archive.ts';
import { MonthFault } from '../../packages/service/src/ledger/months/month-fault.ts';
import { beginRestore, endRestore } from '../../packages/service/src/ledger/archives/queries.ts';
import { restoreMonth } from '../../packages/service/src/ledger/archives/restore.ts';
import { selectDaysOfWallet, selectEntriesOfWallet } from '../../packages/service/src/ledger/history/queries.ts';
import { rebuildStats } from '../../packages/service/src/calls/rebuild/rebuild.ts';
import { selectSummedFrom } from '../../packages/service/src/calls/roll-up/queries.ts';
import { rollUpAll } from '../../packages/service/src/calls/roll-up/roll-up.ts';
import { createAppUsage, nameOf } from '../../packages/service/src/calls/usage/report.ts';
import { APP, createLedgerDatabase, type LedgerDatabase } from '../support/ledger-database.ts';
import { fillAndClose } from './archived-stage.ts';
import { runHere } from '../support/commands.ts';
import { beginMonths, tableOfMonth } from '../support/past-months.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';
import { afterTampering } from '../support/victim.ts';

const FIRST = '2025-01';

let ledger: LedgerDatabase;
let folder: string;
let walletId: bigint;

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'purser-archive-'));
  ledger = await createLedgerDatabase();
  await beginMonths(ledger, FIRST);
  await ledger.open('user', 1_000);
  const { rows } = await ledger.database.owner.query<{ wallet_id: bigint }>('select wallet_id from ledger.wallets');
  walletId = rows[0]?.wallet_id ?? 0n;
  await ledger.open('other', 1_000);
});

after(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

async function receiptsText(month: string): Promise<readonly unknown[]> {
  const { rows } = await ledger.database.owner.query(`select * from ${tableOfMonth(month)} order by call_id`);
  return rows;
}

const rulesOf = async (): Promise<readonly string[]> => (await ledger.differences()).map(({ rule }) => rule);

const balances = async () => [(await ledger.wallet('user')).balance, (await ledger.wallet('other')).balance];

let january: readonly unknown[];

/** Two months with every kind of receipt, closed. Tests share them, and each can run alone. */
let closing: Promise<void> | undefined;
const close = (): Promise<void> =>
  (closing ??= fillAndClose(ledger).then(async () => {
    january = await receiptsText('2025-01');
  }));

/** The first of them is archived, and may be detached. */
async function archive(): Promise<void> {
  await close();
  await archiveMonth(ledger.database.owner, '2025-01', folder);
  await checkChanges(ledger.live);
  await rollUpAll(ledger.live, 1);
}

async function detach(t: TestContext): Promise<void> {
  await close();
  const rows = await sql(ledger)`select from ledger.months where month = '2025-01-01' and detached_at is null`;
  if (rows.length > 0) await archive();
  await run(t, 'detach', '2025-01', '--archive', folder);
}

const run = (t: TestContext, ...words: readonly string[]) =>
  runHere(t, ['ledger', ...words], { owner: ledger.database.owner });

test('WA-16 closed months are archived as they were sealed', async () => {
  const { owner } = ledger.database;
  await close();
  await assert.rejects(archiveMonth(owner, '2025-03', folder), /Close 2025-03 first/);
  const file = await archiveMonth(owner, '2025-01', folder);
  const text = gunzipSync(readFileSync(file));
  const manifest = JSON.parse(readFileSync(file.replace('.csv.gz', '.json'), 'utf8')) as Record<string, unknown>;
  const { month, receipts, entries, chargedMicros, sha256 } = manifest;
  assert.deepEqual(
    { month, receipts, entries, chargedMicros, sha256 },
    {
      month: '2025-01',
      receipts: january.length,
      entries: 4,
      chargedMicros: '24',
      sha256: createHash('sha256').update(text).digest('hex'),
    },
  );
});

test('WA-16 receipts differing from the seal replace no archive', async () => {
  const { owner } = ledger.database;
  await close();
  const file = await archiveMonth(owner, '2025-01', folder);
  const whole = readFileSync(file);
  const names = readdirSync(folder);
  const tamper = (change: string) =>
    rewrite(ledger.database, `update usage.calls set prompt_tokens = prompt_tokens ${change} where charged_micros = 3`);
  await tamper('+ 1');
  await assert.rejects(archiveMonth(owner, '2025-01', folder), /THE RECEIPTS OF 2025-01 ARE NOT WHAT WAS SEALED/);
  await tamper('- 1');
  assert.deepEqual(readFileSync(file), whole);
  assert.deepEqual(readdirSync(folder), names);
  const missing = path.join(folder, 'missing');
  await assert.rejects(archiveMonth(owner, '2025-01', missing), (fault) => {
    return fault instanceof MonthFault && /missing.* cannot be written: ENOENT/.test(fault.message);
  });
});

test('WA-16 only a month with whole archive is detached', async () => {
  const { owner } = ledger.database;
  await close();
  await archiveMonth(owner, '2025-01', folder);
  const from = async () => ({ folder, isEarly: false, summedFrom: await selectSummedFrom(owner) });
  await assert.rejects(detachMonth(owner, '2025-02', await from()), /Archive 2025-02 first/);
  await assert.rejects(detachMonth(owner, '2025-01', await from()), /have not been over all of 2025-01/);
  await checkChanges(ledger.live);
  await assert.rejects(detachMonth(owner, '2025-01', await from()), /have not been over all of 2025-01/);
  await rollUpAll(ledger.live, 1);
  await assert.rejects(detachMonth(owner, '2025-01', { ...(await from()), folder: os.tmpdir() }), /cannot be read/);
  const file = path.join(folder, 'purser-receipts-2025-01.csv.gz');
  const whole = readFileSync(file);
  writeFileSync(file, whole.subarray(0, whole.length - 9));
  await assert.rejects(detachMonth(owner, '2025-01', await from()), /cannot be read, or is not whole/);
  writeFileSync(
    file,
    gzipSync(
      gunzipSync(whole).toString('utf8').replace(',answered', ',abandoned').replace('"answered"', '"abandoned"'),
    ),
  );
  await assert.rejects(detachMonth(owner, '2025-01', await from()), /is not the archive of this month/);
  writeFileSync(file, whole);
  assert.deepEqual(await receiptsText('2025-01'), january);
});

test('WA-16 balances stay right after a month is detached', async (t) => {
  const { owner } = ledger.database;
  await archive();
  const before = await balances();
  const sums = async () =>
    sql(owner)`select hour, outcome, calls, charged_micros, cost_micros from stats.hours order by hour, outcome`;
  const hours = await sums();
  const daysBefore = await selectDaysOfWallet(ledger.live, walletId, { before: undefined, most: 10 });
  for (const _twice of [1, 2]) await run(t, 'detach', '2025-01', '--archive', folder);
  assert.deepEqual((await owner.query(`select to_regclass('${tableOfMonth('2025-01')}') as gone`)).rows, [
    { gone: null },
  ]);
  assert.deepEqual(await ledger.differences(), []);
  assert.equal((await checkChanges(ledger.live)).found, 0n);
  assert.deepEqual(await balances(), before);
  const rebuilt = await rebuildStats(owner, { from: new Date('2025-01-01'), to: new Date('2027-01-01') });
  assert.equal(rebuilt.from.toISOString(), '2025-02-02T00:00:00.000Z');
  assert.deepEqual(await sums(), hours);
  const page = await selectEntriesOfWallet(ledger.live, walletId, { before: undefined, most: 10 });
  assert.deepEqual(
    page.map(({ seq, kind }) => [Number(seq), kind]),
    [
      [7, 'charge'],
      [5, 'charge'],
      [3, 'top_up'],
      [1, 'contract_credit'],
    ],
  );
  const days = await selectDaysOfWallet(ledger.live, walletId, { before: undefined, most: 10 });
  assert.deepEqual(days, daysBefore.slice(0, 1));
});

test('WA-16 the check works after a month is detached', async (t) => {
  await detach(t);
  for (const [by, rule] of [
    [
      `update ledger.wallets set balance_micros = balance_micros + 1 where user_id = 'user'`,
      'the balance is the sum of the entries',
    ],
    [
      `update usage.calls set charged_micros = charged_micros - 1, balance_after_micros = balance_after_micros + 1 where charged_micros = 5`,
      'the balance is the sum of the entries',
    ],
    [
      `update usage.calls set balance_after_micros = balance_after_micros + 1 where charged_micros = 5`,
      'each entry carries the balance after it',
    ],
    [
      `update ledger.month_wallets set closing_micros = closing_micros + 1 where month = '2025-01-01' and last_seq = 6`,
      'each entry carries the balance after it',
    ],
    [
      `update ledger.month_wallets set booked_micros = booked_micros + 1, charged_micros = charged_micros + 1 where month = '2025-01-01' and last_seq = 6`,
      'the balance is the sum of the entries',
    ],
    [
      `update ledger.month_wallets set entries = entries + 1 where month = '2025-01-01' and last_seq = 6`,
      'entries are numbered without a gap',
    ],
    [`update usage.calls set seq = 6 where charged_micros = 5`, 'each entry has a number of its own'],
    [
      `update ledger.journal set amount_micros = amount_micros + 1 where kind = 'charge_receivable'`,
      'a call is charged what its receipt says',
    ],
    [`update ledger.month_budgets set charged_micros = charged_micros + 1`, 'spent is the sum of its charges'],
  ] as const) {
    const found = await afterTampering(ledger, [by], async (db) => {
      const { rows } = await db.query<{ rule: string }>('select rule from ledger.differences()');
      return rows.map((row) => row.rule);
    });
    assert.ok(
      found.some((one) => one.includes(rule)),
      `${by}: ${found.join()}`,
    );
  }
  assert.deepEqual(await rulesOf(), []);
});

test('WA-16 CP-04 a report that needs archived receipts is refused', async (t) => {
  await detach(t);
  const usage = createAppUsage({ planes: ledger.live, reports: ledger.live });
  const query = {
    appId: APP,
    to: '2027-01-01',
    byDay: false,
    byModel: true,
    byUser: false,
    after: nameOf({}),
    most: 10,
  };
  const refused = await usage.page({ ...query, from: '2025-02-01' });
  assert.ok(refused instanceof Refusal && /Calls up to 2025-02-01 are archived/.test(refused.message));
  const page = await usage.page({ ...query, from: '2025-02-02' });
  assert.ok(!(page instanceof Refusal));
  assert.equal(page[0]?.requests, 1);
});

test('WA-16 a month comes back from its archive', async (t) => {
  const { owner } = ledger.database;
  await detach(t);
  const file = path.join(folder, 'purser-receipts-2025-01.csv.gz');
  const named = path.join(folder, 'renamed.gz');
  writeFileSync(named, readFileSync(file));
  const changed = path.join(folder, 'changed.gz');
  writeFileSync(changed, gzipSync(gunzipSync(readFileSync(file)).toString('utf8').replace(',3,', ',2,')));
  await assert.rejects(restoreMonth(owner, changed), /is the archive of no month/);
  await beginRestore(owner, '2025-01-01'); // As a restore that was killed leaves it, or one that begins before another ends.
  await assert.rejects(endRestore(owner, '2025-01-01'), /the month was closed with 7 receipts, and 0 were restored/);
  assert.equal(await restoreMonth(owner, named), '2025-01');
  assert.deepEqual(await receiptsText('2025-01'), january);
  assert.deepEqual(await ledger.differences(), []);
  assert.equal((await checkChanges(ledger.live)).found, 0n);
  await assert.rejects(restoreMonth(owner, named), /is the archive of no month/);
  for (const text of ['update $ set seq = seq', 'delete from $', 'truncate $']) {
    await assert.rejects(owner.query(text.replace('$', tableOfMonth('2025-01'))), /never changed or removed/, text);
  }
  await assert.rejects(
    owner.query('insert into $ select * from $'.replaceAll('$', tableOfMonth('2025-01'))),
    /is closed/,
  );
});

test('WA-16 the commands work one at a time', async (t) => {
  const { owner } = ledger.database;
  await close();
  const { lines } = await run(t, 'months');
  assert.match(
    lines[0] ?? '',
    /^2025-01 and before: closed \d{4}-\d\d-\d\d, 7 receipts, 24 micros, .*SHA-256 [0-9a-f]{64}/,
  );
  for (const words of [
    ['archive', '2025-01'],
    ['detach', '2025-01'],
    ['close-month'],
    ['archive', '2025-1', '--to', folder],
    ['sell'],
  ]) {
    await assert.rejects(run(t, ...words), UsageError, words.join(' '));
  }
  const client = await owner.connect();
  await client.query(`select pg_advisory_lock(hashtextextended('ledger.months', 0))`);
  await assert.rejects(run(t, 'close-month', '2025-03'), /Another command/);
  client.release(true);
});
