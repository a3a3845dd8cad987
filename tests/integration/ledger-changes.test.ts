import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { selectChanges } from '../../packages/service/src/ledger/check/queries.ts';
import { endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';
import { TAMPERINGS } from '../support/tamperings.ts';
import { afterTampering, createVictim } from '../support/victim.ts';
import { ofFirstCharge } from '../support/entry-tamperings.ts';

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createVictim();
});

after(async () => {
  await ledger.close();
});

for (const { what, by, found, foundAsNew = found } of TAMPERINGS) {
  test(`WA-09 the incremental check, with everything new, reports ${what}`, async () => {
    const rows = await afterTampering(ledger, by, (db) => selectChanges(db, 0n, 1_000));
    const told = rows.filter(({ rule }) => rule !== null);
    assert.deepEqual(
      told.map(({ rule, expected, found: is }) => `${rule}: ${expected}, not ${is}`).toSorted(),
      foundAsNew.toSorted(),
    );
  });
}

/** Runs a pass and returns its counts and the broken rules. */
async function pass(): Promise<{ wallets: number; entries: number; rules: readonly string[] }> {
  const { wallets, entries, differences } = await checkChanges(ledger.live);
  return { wallets: Number(wallets), entries: Number(entries), rules: differences.map(({ rule }) => rule) };
}

const NOTHING = { wallets: 0, entries: 0, rules: [] };

test('WA-09 a pass checks only what is new', async () => {
  await ledger.open('quiet', 100);
  await ledger.open('busy', 100);
  await pass();
  assert.deepEqual(await pass(), NOTHING);
  const [first, second] = [holdOf('busy', 10), holdOf('busy', 20, { streamsMax: 4 })];
  await ledger.reserve([first, second]);
  assert.deepEqual(await pass(), { wallets: 1, entries: 0, rules: [] });
  await ledger.settle([endOf(first, 7)]);
  assert.deepEqual(await pass(), { wallets: 1, entries: 1, rules: [] });
  await ledger.settle([endOf(second, 40)]); // A charge of 20, and an overrun of 20.
  assert.deepEqual(await pass(), { wallets: 1, entries: 2, rules: [] });
  assert.deepEqual(await pass(), NOTHING);
});

test('WA-09 a wrong wallet is reported until corrected', async () => {
  await ledger.open('wrong', 100);
  await pass();
  await ledger.setWallet('wrong', 'balance_micros = 101'); // Without a new version.
  const told = { wallets: 1, entries: 0, rules: ['the balance is the sum of the entries'] };
  assert.deepEqual(await pass(), told);
  assert.deepEqual(await pass(), told);
  const request = holdOf('wrong', 10);
  await ledger.reserve([request]);
  await ledger.settle([endOf(request, 4)]);
  assert.deepEqual((await pass()).rules.toSorted(), [
    'each entry carries the balance after it',
    'the balance is the sum of the entries',
  ]);
  await rewrite(ledger.database, `update usage.calls set balance_after_micros = 96 where call_id = $1`, [
    request.callId,
  ]);
  await ledger.setWallet('wrong', 'balance_micros = 96');
  assert.deepEqual(await pass(), { wallets: 1, entries: 1, rules: [] });
  assert.deepEqual(await pass(), NOTHING);
});

test('WA-08 a new month’s pass counts spending from zero', async () => {
  await ledger.open('month', 100);
  const [old, late, young] = [holdOf('month', 10), holdOf('month', 10), holdOf('month', 10)];
  await ledger.reserve([old, late]);
  await ledger.settle([endOf(old, 3)]);
  // All of this happened in an earlier month.
  const { owner } = ledger.database;
  await rewrite(ledger.database, `update usage.calls set month = '2020-01-01' where call_id = $1`, [old.callId]);
  await owner.query(`update ledger.holds set month = '2020-01-01' where call_id = '${late.callId}'`);
  await ledger.setWallet('month', `cap_month = '2020-01-01'`);
  assert.deepEqual((await pass()).rules, []);
  await ledger.reserve([young]);
  assert.deepEqual((await pass()).rules, []);
  await ledger.settle([endOf(late, 5), endOf(young, 9)]);
  assert.equal((await ledger.wallet('month')).capSpent, 9);
  assert.deepEqual((await pass()).rules, []);
  await ledger.setWallet('month', 'cap_spent_micros = 10');
  assert.deepEqual((await pass()).rules, ['spent this month is the sum of its charges']);
  await ledger.setWallet('month', 'cap_spent_micros = 9');
});

test('WA-09 only the full check looks behind a checkpoint', async () => {
  await pass();
  const seen = await afterTampering(ledger, [ofFirstCharge('charged_micros = charged_micros + 1')], async (db) => ({
    byChanges: (await selectChanges(db, 0n, 1_000)).filter(({ rule }) => rule !== null).length,
    inFull: (await db.query('select from ledger.differences()')).rowCount,
  }));
  assert.deepEqual(seen, { byChanges: 0, inFull: 3 });
});

test('WA-09 a pass in small statements checks every wallet once', async () => {
  await sql(ledger)`truncate ledger.checkpoints`;
  const { rows } = await ledger.database.owner.query<{ wallets: number }>(
    'select count(*)::int as wallets from ledger.wallets',
  );
  let seen = 0;
  for (let next: bigint | null = 0n; next !== null; ) {
    const [page] = await selectChanges(ledger.live, next, 1);
    seen += page?.wallets ?? 0;
    next = page?.last_wallet ?? null;
  }
  assert.equal(seen, rows[0]?.wallets);
  assert.deepEqual(await pass(), NOTHING);
});

test('WA-09 passes and calls never wait for each other', async () => {
  await ledger.open('locked', 100);
  const writer = await ledger.database.owner.connect();
  const checker = await ledger.database.owner.connect();
  try {
    await sql(writer)`begin`;
    await sql(writer)`select from ledger.wallets where user_id = 'locked' for update`;
    assert.deepEqual(await pass(), { wallets: 1, entries: 1, rules: [] });
    await sql(writer)`rollback`;
    await ledger.reserve([holdOf('locked', 10)]);
    await sql(checker)`begin`;
    await selectChanges(checker, 0n, 1_000);
    assert.deepEqual(await ledger.reserve([holdOf('locked', 20)]), [20]);
  } finally {
    await sql(checker)`rollback`;
    writer.release();
    checker.release();
  }
});

test('WA-09 passes alongside calls agree with the full check', async () => {
  const users = ['a', 'b', 'c'];
  for (const user of users) await ledger.open(user, 10_000);
  const over = new AbortController();
  async function work(worker: number): Promise<void> {
    for (let round = 0; round < 60; round += 1) {
      const requests = users.map((user, index) => holdOf(user, 20 + index, { streamsMax: round % 2 === 0 ? 100 : 0 }));
      await ledger.reserve(requests);
      await ledger.settle(requests.map((request, index) => endOf(request, (round * worker + index) % 30)));
    }
  }
  const working = Promise.all([1, 2, 3].map(work)).finally(() => over.abort());
  let passes = 0;
  while (!over.signal.aborted) {
    assert.deepEqual((await pass()).rules, []);
    passes += 1;
  }
  await working;
  assert.ok(passes > 1, `${passes} passes`);
  assert.deepEqual((await pass()).rules, []);
  assert.deepEqual(await pass(), NOTHING);
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-09 the gateway cannot write the incremental check’s results', async () => {
  await assert.rejects(ledger.live.query('update ledger.checkpoints set version = version + 1'), { code: '42501' });
  await assert.rejects(ledger.live.query('update ledger.last_check set differences = 0'), { code: '42501' });
});
