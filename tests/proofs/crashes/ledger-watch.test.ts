import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createPool } from '../../../packages/service/src/db/pool/pool.ts';
import { systemClock } from '../../../packages/service/src/kernel/time/clock.ts';
import { createLog, type Log } from '../../../packages/service/src/kernel/log.ts';
import { readMetrics } from '../../../packages/service/src/kernel/metrics/metrics.ts';
import { startLedgerWatch } from '../../../packages/service/src/ledger/watch/watch.ts';
import { catalogueAt } from '../../support/catalogue.ts';
import { afterwards, makeOpenDirectory } from '../../support/embedded-harness.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../../support/ledger-database.ts';
import { checkByCommand } from '../../support/service-process.ts';
import { sql } from '../../support/sql.ts';
import { waitUntil } from '../../support/wait-until.ts';

const PERIOD_MS = 100;

async function arrange(t: TestContext): Promise<LedgerDatabase> {
  const ledger = await createLedgerDatabase();
  afterwards(t, ledger.close);
  await ledger.open('user', 100);
  return ledger;
}

/** A watch as a service process runs it, with what it logged. */
function watch(t: TestContext, ledger: LedgerDatabase, periodMs = PERIOD_MS): { readonly logged: readonly string[] } {
  const logged: string[] = [];
  const keep = (...fields: unknown[]): void => void logged.push(JSON.stringify(fields));
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep };
  const pool = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  const watching = startLedgerWatch({ pool, clock: systemClock, log, periodMs });
  afterwards(t, async () => {
    await watching.stop();
    await pool.end();
  });
  return { logged };
}

function metric(name: string): number {
  const samples = readMetrics().flatMap((reading) =>
    reading.samples.map(([labels, value]) => [reading.name + labels, value]),
  );
  return Number(new Map(samples as [string, number][]).get(name));
}

const passes = (result: string): number => metric(`purser_ledger_check_passes_total{result="${result}"}`);

test('WA-09 the service checks new data and reports a difference', async (t) => {
  const ledger = await arrange(t);
  const earlier = {
    clean: passes('clean'),
    wrong: passes('differences'),
    wallets: metric('purser_ledger_check_wallets_total'),
  };
  const { logged } = watch(t, ledger);
  await waitUntil('a pass', () => passes('clean') > earlier.clean + 1);
  assert.equal(metric('purser_ledger_check_wallets_total'), earlier.wallets + 1); // Once, in spite of two passes.
  assert.equal(metric('purser_ledger_differences'), 0);
  assert.ok(Math.abs(metric('purser_ledger_check_last_success_timestamp_seconds') - Date.now() / 1_000) < 60);
  assert.deepEqual(logged, []);

  await ledger.setWallet('user', 'balance_micros = 101');
  await waitUntil('a pass that finds it', () => metric('purser_ledger_differences') === 1);
  assert.ok(passes('differences') > earlier.wrong);
  const [line = ''] = logged;
  assert.match(line, /THE LEDGER IS WRONG/);
  assert.match(line, /wallet \d+: the balance is the sum of the entries: expected 100, found 101/);
  assert.ok(!line.includes('user'));

  await ledger.setWallet('user', 'balance_micros = 100');
  await waitUntil('a pass that finds it right', () => metric('purser_ledger_differences') === 0);
  // The passes of an hour are one row, or two at its turn.
  const rows = await sql<{ kind: string; passes: number; most: string }>(ledger)`
    select kind, sum(passes)::int as passes, max(differences)::text as most from ledger.checks group by kind`;
  assert.deepEqual([rows.length, rows[0]?.kind, rows[0]?.most], [1, 'changes', '1']);
  assert.ok((rows[0]?.passes ?? 0) >= 4);
});

test('WA-09 a stop does not wait for a pass that rests', async (t) => {
  const ledger = await arrange(t);
  await sql(ledger)`insert into ledger.wallets (app_id, user_id, currency) select 'app_many', 'user-' || n, 'EUR'
    from generate_series(1, 600) n`;
  const pool = createPool({ url: ledger.database.url, role: 'live', connectionsMax: 1, log: createLog('silent') });
  t.after(() => pool.end());
  const rests: number[] = [];
  let nowMs = 0;
  const clock = { nowMs: () => (nowMs += 0.1) }; // Each page takes a tenth of a millisecond.
  const earlier = metric('purser_ledger_check_wallets_total');
  const atThird = async (ms: number, signal: AbortSignal): Promise<void> => {
    rests.push(ms);
    if (rests.length >= 3) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  };
  const watching = startLedgerWatch({ pool, clock, log: createLog('silent'), periodMs: PERIOD_MS, pause: atThird });
  await waitUntil('a pass of 601 wallets', () => metric('purser_ledger_check_wallets_total') >= earlier + 601);
  assert.deepEqual(
    rests.map((ms) => Math.round(ms * 10)),
    [19, 19],
  );
  await sql(ledger)`update ledger.wallets set version = version + 1`;
  await waitUntil('a pass that rests', () => rests.length === 3);
  await watching.stop();
  assert.equal(metric('purser_ledger_check_wallets_total'), earlier + 601, 'the pass is incomplete');
});

test('WA-09 one process checks at a time, and all know the result', async (t) => {
  const ledger = await arrange(t);
  const long = 1_000;
  const [earlier, begun] = [passes('clean'), Date.now()];
  for (let count = 0; count < 4; count += 1) watch(t, ledger, long);
  await waitUntil('three turns', () => passes('clean') >= earlier + 3);
  const turns = (Date.now() - begun) / long;
  assert.ok(passes('clean') - earlier <= turns + 2, `${passes('clean') - earlier} passes in ${turns} periods`);
  const { rows } = await ledger.live.query<{ begun: boolean }>('select ledger.begin_check(60000) as begun');
  assert.equal(rows[0]?.begun, false);
  await waitUntil(
    'the last watch shows the gauges',
    () => metric('purser_ledger_check_last_success_timestamp_seconds') > 0,
  );
});

test('WA-09 a pass that could not run is counted and logged', async (t) => {
  const ledger = await arrange(t);
  await sql(ledger)`alter function ledger.check_changes rename to check_changes_away`;
  const earlier = { failed: passes('failed'), clean: passes('clean') };
  const { logged } = watch(t, ledger);
  await waitUntil('a pass that fails', () => passes('failed') > earlier.failed);
  assert.match(logged[0] ?? '', /the ledger could not be checked/);
  assert.equal(passes('clean'), earlier.clean);
  await sql(ledger)`alter function ledger.check_changes_away rename to check_changes`;
  await waitUntil('a pass that runs', () => passes('clean') > earlier.clean);
});

test('WA-09 the exit status says whether the books are right', async (t) => {
  const ledger = await arrange(t);
  const request = holdOf('user', 10);
  await ledger.reserve([request]);
  await ledger.settle([endOf(request, 7)]);
  const command = {
    dataDirectory: makeOpenDirectory(t),
    catalogue: catalogueAt('http://127.0.0.1:9/v1'),
    databaseUrl: ledger.database.url,
  };
  const full = /^1 wallets, 2 entries, 0 differences\n\d+\.\d s\n$/;
  const check = async (...options: string[]) => checkByCommand(command, ...options);
  assert.deepEqual(await check('--fast').then(({ status }) => status), 2);
  const right = await check();
  assert.match(right.said, full);
  assert.equal(right.status, 0);
  assert.match((await check('--incremental')).said, /^1 wallets, 2 entries that are new, 0 differences\n/);
  assert.match((await check('--incremental')).said, /^0 wallets, 0 entries that are new, 0 differences\n/);

  await ledger.setWallet('user', 'balance_micros = 94');
  const line = /^wallet \d+: the balance is the sum of the entries: expected 93, found 94\n1 wallets/;
  for (const options of [[], ['--incremental']]) {
    const wrong = await check(...options);
    assert.match(wrong.said, line);
    assert.equal(wrong.status, 1);
  }
  assert.match((await check()).said, /1 wallets, 2 entries, 1 differences\n/);
});
