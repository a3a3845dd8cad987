import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { closeMonth } from '../../packages/service/src/ledger/closing/close.ts';
import { makeMonth } from '../../packages/service/src/ledger/months/queries.ts';
import { HEADER, readReceiptLines } from '../../packages/service/src/ledger/months/receipt-lines.ts';
import { selectChanges } from '../../packages/service/src/ledger/check/queries.ts';
import { rollUp } from '../../packages/service/src/calls/roll-up/queries.ts';
import { rollUpAll } from '../../packages/service/src/calls/roll-up/roll-up.ts';
import { callIdAt } from '../support/call-ids.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { beginMonths, monthName, tableOfMonth } from '../support/past-months.ts';
import { sql, sqlRow } from '../support/sql.ts';

const FIRST = '2026-01';
const DAY_MS = 86_400_000;

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
  await beginMonths(ledger, FIRST);
  await ledger.open('user', 1_000);
  await ledger.open('idle', 1_000);
  await call('user', at('2026-01', 31), 3);
  await call('user', at('2026-01', 2), 0);
  await call('user', at('2026-01', 9), 5);
});

after(() => ledger.close());

const at = (month: string, day = 1): Date => new Date(Date.parse(`${month}-01T00:00:00Z`) + (day - 1) * DAY_MS);

async function call(user: string, when: Date, charge: number): Promise<string> {
  const request = { ...holdOf(user, 10), callId: callIdAt(when) };
  assert.deepEqual(await ledger.reserve([request]), [10]);
  await ledger.settle([endOf(request, charge)]);
  return request.callId;
}

const stateOf = async (month: string) => {
  return sqlRow<{ receipts: bigint; charged_micros: bigint; closed: boolean }>(ledger)`
    select receipts, charged_micros, closed_at is not null as closed from ledger.months where month = ${`${month}-01`}`;
};

test('WA-16 a month closes only once it is complete', async () => {
  const { owner } = ledger.database;
  await assert.rejects(closeMonth(owner, '2025-12'), /2026-01 is the first month/);
  await assert.rejects(closeMonth(owner, '2026-02'), /Close 2026-01 first/);
  const now = monthName(new Date());
  const long = { ...holdOf('user', 10), callId: callIdAt(at('2026-01', 20)) };
  await ledger.reserve([long]);
  await assert.rejects(closeMonth(owner, '2026-01'), /1 calls that began in 2026-01 or before still hold money/);
  await ledger.settle([endOf(long, 0)]);
  await ledger.setWallet('idle', 'balance_micros = balance_micros + 1');
  await assert.rejects(closeMonth(owner, '2026-01'), /The books have 1 differences/);
  await ledger.setWallet('idle', 'balance_micros = balance_micros - 1');
  assert.deepEqual(await stateOf('2026-01'), { receipts: null, charged_micros: null, closed: false });
  await closeMonth(owner, '2026-01');
  assert.deepEqual(await stateOf('2026-01'), { receipts: 4n, charged_micros: 8n, closed: true });
  await assert.rejects(closeMonth(owner, now), /Close 2026-02 first/);
});

test('WA-16 a closed month takes no receipt', async () => {
  const { owner } = ledger.database;
  await closeMonth(owner, '2026-01');
  const late = { ...holdOf('user', 10), callId: callIdAt(at('2026-01', 31)) };
  await assert.rejects(ledger.reserve([late]), { code: '23514' });
  await assert.rejects(
    owner.query(`insert into ${tableOfMonth('2026-01')} select * from ${tableOfMonth('2026-01')}`),
    /the month of this receipt is closed/,
  );
  assert.deepEqual(await ledger.differences(), []);
  assert.equal((await ledger.wallet('user')).held, 0);
});

test('WA-16 a month’s hash chains its CSV to the previous month', async () => {
  const { owner } = ledger.database;
  const { receipts: closed } = await closeMonth(owner, '2026-01');
  await call('user', at('2026-02', 3), 7);
  await closeMonth(owner, '2026-02');
  const pieces: string[] = [];
  const { receipts, hash } = await readReceiptLines(owner, '2026-01-01', (piece) => void pieces.push(piece));
  const text = pieces.join('');
  assert.equal(receipts, Number(closed));
  assert.equal(text.split('\n').length, 1 + receipts + 1);
  assert.ok(text.startsWith(HEADER));
  assert.deepEqual(hash, createHash('sha256').update(text).digest());
  let chain = '0'.repeat(64);
  for (const month of ['2026-01', '2026-02']) {
    const rows = await sql<{ line: string; chain: string }>(owner)`
      select concat_ws(' ', receipts, entries, charged_micros, encode(rows_hash, 'hex')) as line,
      encode(chain_hash, 'hex') as chain from ledger.months where month = ${`${month}-01`}`;
    chain = createHash('sha256').update(`${month} ${rows[0]?.line} ${chain}`).digest('hex');
    assert.equal(rows[0]?.chain, chain);
  }
  assert.equal((await closeMonth(owner, '2026-01')).receipts, closed);
});

test('WA-16 a closed month keeps its sums', async () => {
  const rows = await sql(ledger)`
    select to_char(month, 'YYYY-MM') as month, receipts::int, charged_micros::int as charged, entries::int, last_seq::int,
    opening_micros::int as opening, closing_micros::int as closing from ledger.month_wallets order by month`;
  assert.deepEqual(rows, [
    { month: '2026-01', receipts: 4, charged: 8, entries: 2, last_seq: 3, opening: 1_000, closing: 992 },
    { month: '2026-02', receipts: 1, charged: 7, entries: 1, last_seq: 4, opening: 992, closing: 985 },
  ]);
});

test('WA-16 checks and sums skip closed months', async () => {
  const { owner } = ledger.database;
  for (const month of ['2026-01', '2026-02']) await closeMonth(owner, month);
  assert.equal((await checkChanges(ledger.live)).found, 0n);
  await rollUpAll(ledger.live, 1);
  const rows = await sql(owner)`
    select l.from_call = s.from_call as same, l.from_call = ledger.first_call('2026-03-01') as is_march
    from ledger.last_check l, stats.passes s`;
  assert.deepEqual(rows, [{ same: true, is_march: true }]);
  await call('user', at('2026-03', 1), 1);
  await call('idle', at('2026-03', 1), 2);
  const client = await ledger.live.connect();
  const scans = async (): Promise<ReadonlyMap<string, number>> => {
    const tables = await sql<{ name: string; scans: number }>(client)`
      select relname as name, (seq_scan + coalesce(idx_scan, 0))::float8 as scans from pg_stat_xact_user_tables
      where schemaname = 'usage'`;
    return new Map(tables.map((table) => [table.name, table.scans]));
  };
  await client.query('begin'); // Within one transaction, a session sees its own counts.
  const sofar = await scans();
  const [changes] = await selectChanges(client, 0n, 1_000);
  const added = await rollUp(client, 0n, { walletsMax: 1_000, entriesMax: 1_000 });
  assert.deepEqual([changes?.entries, changes?.rule, added?.calls], [2n, null, 2n]);
  const read = [...(await scans())].flatMap(([name, count]) => (count > (sofar.get(name) ?? 0) ? [name] : []));
  await client.query('commit');
  client.release();
  assert.ok(read.includes('calls_2026_03'), read.join());
  assert.ok(!read.includes('calls_2026_01') && !read.includes('calls_2026_02'), read.join());
  await sql(owner)`truncate ledger.checkpoints`; // Then a wallet is read from its beginning.
  const { rows: all } = await owner.query<{ entries: bigint }>('select count(*) as entries from ledger.entries');
  const whole = await checkChanges(ledger.live);
  assert.deepEqual([whole.entries, whole.found], [all[0]?.entries, 0n]);
});

test('WA-16 calls go on while a month is closed', async () => {
  assert.equal(await makeMonth(ledger.live), false);
  await call('user', new Date(), 1);
  assert.deepEqual(await ledger.differences(), []);
});
