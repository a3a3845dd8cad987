import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readConfig } from '../../packages/service/src/app/settings/config.ts';
import { examine } from '../../packages/service/src/doctor/doctor.ts';
import { editCatalogue } from '../../packages/service/src/catalogue/catalogue-file.ts';
import { readPriceHistory } from '../../packages/service/src/catalogue/price-history.ts';
import { MigrationError, migrate } from '../../packages/service/src/db/schema/migrate.ts';
import {
  createPool,
  inTransaction,
  isItemFault,
  type Pool,
  sqlStateOf,
} from '../../packages/service/src/db/pool/pool.ts';
import {
  type AppId,
  type CallId,
  type EndUserId,
  type KeyId,
  newCallId,
} from '../../packages/service/src/kernel/values/ids.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { micros } from '../../packages/service/src/kernel/values/micros.ts';
import { checkChanges, checkLedger } from '../../packages/service/src/ledger/check/check.ts';
import { selectChanges } from '../../packages/service/src/ledger/check/queries.ts';
import { reserveHolds } from '../../packages/service/src/ledger/hold/queries.ts';
import { createWalletMovements } from '../../packages/service/src/ledger/history/movements.ts';
import { createWallets } from '../../packages/service/src/ledger/wallet/wallet.ts';
import { describeSchema } from '../../tools/schema/describe.ts';
import { describeRows } from '../../tools/schema/rows.ts';
import { ROOT } from '../../tools/toolchain.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { endOf, holdOf } from '../support/ledger-database.ts';
import { lockWallet, waitLongForLocks } from '../support/lock-wait.ts';
import { FROM_BEFORE, makeNextBuild } from '../support/other-builds.ts';
import { endHolds } from '../support/turns.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const fresh = await createTestDatabase();
after(() => fresh.close());
const FIXTURE_APP = 'app_fixture' as AppId;
const FIXTURE_INSTANCE = 1n;
const UNDEFINED_FUNCTION = '42883';

test('OP-10 schema.sql shows what a new database has', async () => {
  const text = read('packages/service/schema.sql');
  const real = await describeSchema(fresh.owner, { bodies: false });
  assert.deepEqual(text.slice(text.indexOf('\n\n') + 2).split('\n'), real.split('\n'));
});

/** A database of version 0.1 with money, in the middle of its work. */
async function openFixture() {
  const old = await createTestDatabase({ isEmpty: true });
  await old.owner.query(read('tests/fixtures/schema-0.1/database.sql'));
  const [checked] = await selectChanges(old.owner, 0n, 1_000); // By the check of that version.
  assert.equal(checked?.rule, null);
  const live = createPool({
    url: old.url,
    role: 'live',
    connectionsMax: 1,
    log: createLog('silent'),
    statementMsMax: 60_000,
  });
  return {
    ...old,
    live,
    close: async () => {
      await live.end();
      await old.close();
    },
  };
}

/** The schema, function bodies included, line by line. Its first month of receipts is that in which the database was made. */
async function schemaOf({ owner }: Pick<TestDatabase, 'owner'>): Promise<readonly string[]> {
  const text = await describeSchema(owner, { bodies: true });
  const undated = text.replaceAll(/\bcalls_\d{4}_\d{2}/g, 'calls_first').replaceAll(/ TO \('[-\da-f]{36}'\)/g, '');
  return undated.split('\n');
}

/** Asserts that old prices are there for old receipts, and that an edit of something else makes no new price. */
async function assertPricesKept(owner: Pool): Promise<void> {
  const history = async () => {
    const rows = await readPriceHistory(owner, 'acme.large-1', Date.now());
    return rows.map(({ price, state }) => [price.provider, Number(price.input_micros_per_million), state]);
  };
  const before = await history();
  assert.deepEqual(before, [
    ['one', 2, 'current'],
    ['one', 1, 'past'],
  ]);
  await inTransaction(owner, (tx) =>
    editCatalogue(tx, {
      change: (file) => ({ ...file, models: file.models.map((model) => ({ ...model, maxOutputTokens: 99 })) }),
    }),
  );
  assert.deepEqual(await history(), before);
}

/** Ends the calls that were open when the fixture was made. All money is where it was, and the charges beside it. */
async function assertMoneyKept({ owner, live }: { readonly owner: Pool; readonly live: Pool }): Promise<void> {
  const before = await checkLedger(live);
  assert.deepEqual({ ...before, found: Number(before.found) }, { ...before, differences: [], found: 0 });
  assert.ok(before.wallets >= 4n && before.entries >= 5n, 'the fixture has money');

  const { rows } = await owner.query<{ call_id: CallId }>('select call_id from ledger.holds order by call_id');
  assert.ok(rows.length >= 3, 'the fixture has open holds');
  assert.equal((await checkChanges(live)).wallets, 0n);
  const ends = await endHolds(
    live,
    rows.map(({ call_id: callId }) => endOf({ callId }, 700)),
  );
  assert.deepEqual(
    ends.map(({ is_settled: isSettled, charged }) => [isSettled, charged]),
    rows.map(() => [true, 700n]),
  );
  assert.equal((await checkLedger(live)).found, 0n);
  const { entries, found } = await checkChanges(live);
  assert.deepEqual({ entries, found }, { entries: BigInt(rows.length), found: 0n });
  const name = { appId: FIXTURE_APP, userId: 'calls' as EndUserId };
  const { walletId = 0n } = (await createWallets(live).find(name.appId, name.userId)) ?? {};
  const newest = { before: undefined, most: 10 };
  const movements = await createWalletMovements(live).page({ ...name, walletId }, newest);
  assert.deepEqual(
    movements.map(({ seq, kind, balanceAfter }) => [seq, kind, balanceAfter]),
    [
      [3n, 'charge', 7_800n],
      [2n, 'charge', 8_500n],
      [1n, 'top_up', 10_000n],
    ],
  );
  const left = await owner.query('select from ledger.holds');
  assert.equal(left.rowCount, 0);
}

test('OP-10 MO-05 a database of 0.1 is upgraded with its money and open calls', async (t) => {
  const old = await openFixture();
  t.after(old.close);
  await migrate(old.owner);
  // Columns that a migration has added stand last in both.
  assert.deepEqual(await schemaOf(old), await schemaOf(fresh));
  await assertPricesKept(old.owner);
  await assertMoneyKept(old);
});

/** What each function gives that another one calls, by its name and what it takes. */
async function answersOf({ owner }: Pick<TestDatabase, 'owner'>): Promise<ReadonlyMap<string, string>> {
  const { rows } = await owner.query<Record<'signature' | 'answer' | 'name' | 'body', string>>(
    `select p.oid::regprocedure::text as signature, pg_get_function_result(p.oid) as answer,
       n.nspname || '.' || p.proname as name, p.prosrc as body
     from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname !~ '^(pg_|information_)'`,
  );
  const called = rows.filter((row) => rows.some((other) => other !== row && other.body.includes(`${row.name}(`)));
  return new Map(called.map(({ signature, answer }) => [signature, answer]));
}

// The body of a function that has begun stays the old one, and the next statement in it finds the new functions.
test('OP-10 CP-08 a call under way during an upgrade is tried again', async (t) => {
  const old = await openFixture();
  t.after(old.close);
  waitLongForLocks(old.live);
  const request = {
    ...holdOf('calls', 600, { budget: { key: 'key_fixture' as KeyId, micros: micros(1_000n) } }),
    appId: FIXTURE_APP,
  };
  const before = await answersOf(old);
  const lock = await lockWallet(old, 'calls');
  t.after(lock.release);
  const underWay = reserveHolds(old.live, FIXTURE_INSTANCE, [request]).catch((fault: unknown) => fault);
  await lock.waiting(1);
  await migrate(old.owner);
  await lock.release();
  const others = [...(await answersOf(old))].filter(([name, answer]) => (before.get(name) ?? answer) !== answer);
  assert.deepEqual(others, [], 'a function whose answer has changed has another name');
  const fault = await underWay;
  assert.deepEqual([sqlStateOf(fault), isItemFault(fault)], [UNDEFINED_FUNCTION, false]);
  const outcomes: string[] = [];
  for (const asked of [request, { ...request, callId: newCallId() }]) {
    outcomes.push(...(await reserveHolds(old.live, FIXTURE_INSTANCE, [asked])).map(({ outcome }) => outcome));
  }
  assert.deepEqual(outcomes, ['granted', 'budget_race_lost']);
  assert.equal((await checkLedger(old.live)).found, 0n);
});

test('OP-10 this build goes on beside a later one', async (t) => {
  const next = await makeNextBuild(`
    alter table ledger.wallets add column next_note text;
    update ledger.wallets set next_note = user_id;
    create table ledger.next_notes (wallet_id bigint primary key);`);
  const [old, made] = [await openFixture(), await createTestDatabase({ isEmpty: true })];
  t.after(async () => {
    await Promise.all([old.close(), made.close()]);
    next.remove();
  });
  await migrate(old.owner);
  assert.deepEqual((await next.migrate(old.owner)).migrations, [next.added]);
  await next.migrate(made.owner);
  const upgraded = await schemaOf(old);
  assert.deepEqual(upgraded, await schemaOf(made));
  assert.ok(upgraded.includes('create table ledger.next_notes ('));
  const { rows } = await old.owner.query('select from ledger.wallets where next_note <> user_id or next_note is null');
  assert.deepEqual(rows, []);

  assert.deepEqual(await migrate(old.owner), { migrations: [], functions: [], isNewer: true });
  await assertMoneyKept(old);
});

test('OP-10 a database from before the release is refused and stays as it is', async (t) => {
  const before = await createTestDatabase({ isEmpty: true });
  t.after(before.close);
  await before.owner.query(FROM_BEFORE);
  const contents = async () =>
    (await describeSchema(before.owner, { bodies: true })) + (await describeRows(before.owner));
  const asFound = await contents();
  const refused = /^The database was made by a build from before version 0\.1\.0 was released and cannot be upgraded/;
  await assert.rejects(
    migrate(before.owner),
    (fault) => fault instanceof MigrationError && refused.test(fault.message),
  );
  const findings = await examine(readConfig({ PURSER_SECRET: 'x'.repeat(32) }), before.owner, createLog('silent'));
  const { level, what = '' } = findings.find(({ check }) => check === 'schema') ?? {};
  assert.equal(level, 'bad');
  assert.match(what, refused);
  assert.equal(await contents(), asFound);
});
