import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { observeClock, trustClock } from '../../packages/service/src/db/clock/queries.ts';
import { beginDatabaseClock, setDatabaseClock, stepDatabaseClock } from '../support/database-clock.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

const PAST = '2020-02-01';
const FUTURE = '2999-12-01';

let ledger: LedgerDatabase;
let current: string;

before(async () => {
  ledger = await createLedgerDatabase();
  current = await selectText(`select to_char(now() at time zone 'UTC', 'YYYY-MM-01') as value`);
});

after(async () => {
  await ledger.close();
});

async function selectText(text: string): Promise<string> {
  const { rows } = await ledger.database.owner.query<{ value: string }>(text);
  return rows[0]?.value ?? '';
}

/** Moves everything that a wallet has held and spent so far into another month. */
async function moveTo(user: string, month: string): Promise<void> {
  const { owner } = ledger.database;
  const ofUser = 'wallet_id = (select wallet_id from ledger.wallets where user_id = $1)';
  await owner.query(`update ledger.wallets set cap_month = '${month}' where user_id = $1`, [user]);
  await owner.query(`update ledger.holds set month = '${month}' where ${ofUser}`, [user]);
  await rewrite(ledger.database, `update usage.calls set month = '${month}' where ${ofUser}`, [user]);
  assert.deepEqual(await ledger.differences(), []);
}

async function expectMonth(user: string, month: string, spent: number, held: number): Promise<void> {
  const { capMonth, capSpent, capHeld } = await ledger.wallet(user);
  assert.deepEqual({ capMonth, capSpent, capHeld }, { capMonth: month, capSpent: spent, capHeld: held });
  assert.deepEqual(await ledger.differences(), []);
}

test('WA-08 a hold counts in the current UTC month', async () => {
  await ledger.open('now', 100, 50);
  const request = holdOf('now', 30);
  await ledger.reserve([request]);
  await expectMonth('now', current, 0, 30);
  await ledger.settle([endOf(request, 20)]);
  await expectMonth('now', current, 20, 0);
});

test('WA-08 a new month has the full cap again', async () => {
  await ledger.open('new', 1_000, 100);
  const first = holdOf('new', 90);
  await ledger.reserve([first]);
  await ledger.settle([endOf(first, 90)]);
  assert.deepEqual(await ledger.reserve([holdOf('new', 20)]), ['cap_reached']);
  await moveTo('new', PAST);
  const second = holdOf('new', 100);
  assert.deepEqual(await ledger.reserve([second, holdOf('new', 1)]), [100, 'cap_race_lost']);
  await expectMonth('new', current, 0, 100);
  await ledger.settle([endOf(second, 60)]);
  await expectMonth('new', current, 60, 0);
});

test('WA-08 an earlier hold leaves the new month alone', async () => {
  await ledger.open('over', 1_000, 100);
  const old = holdOf('over', 70);
  const older = holdOf('over', 20);
  await ledger.reserve([old, older]);
  await moveTo('over', PAST);
  const fresh = holdOf('over', 100);
  assert.deepEqual(await ledger.reserve([fresh]), [100]);
  await ledger.settle([endOf(old, 65)]);
  await expectMonth('over', current, 0, 100);
  await ledger.settle([endOf(older, 0), endOf(fresh, 30)]); // Holds of both months in one batch.
  await expectMonth('over', current, 30, 0);
  assert.equal((await ledger.wallet('over')).balance, 1_000 - 65 - 30);
});

test('WA-08 a hold settled before any new one keeps its month', async () => {
  await ledger.open('quiet', 1_000, 100);
  const old = holdOf('quiet', 70);
  await ledger.reserve([old]);
  await moveTo('quiet', PAST);
  await ledger.settle([endOf(old, 65)]);
  await expectMonth('quiet', PAST, 65, 0);
  assert.deepEqual(await ledger.reserve([holdOf('quiet', 100)]), [100]);
  await expectMonth('quiet', current, 0, 100);
});

test('WA-08 a refusal does not start a new month', async () => {
  await ledger.open('refused', 100, 50);
  const first = holdOf('refused', 40);
  await ledger.reserve([first]);
  await moveTo('refused', PAST);
  assert.deepEqual(await ledger.reserve([holdOf('refused', 51)]), ['cap_reached']);
  await expectMonth('refused', PAST, 0, 40);
});

test('WA-08 the month of a wallet never goes back', async () => {
  await ledger.open('ahead', 1_000, 100);
  const first = holdOf('ahead', 60);
  await ledger.reserve([first]);
  await moveTo('ahead', FUTURE); // As if a clock had run ahead.
  assert.deepEqual(await ledger.reserve([holdOf('ahead', 41)]), ['cap_race_lost']);
  const second = holdOf('ahead', 40);
  assert.deepEqual(await ledger.reserve([second]), [40]);
  await ledger.settle([endOf(first, 60), endOf(second, 40)]);
  await expectMonth('ahead', FUTURE, 100, 0);
});

/** The database's clock, which every gateway looks at every few seconds. The tests look every 50. */
function databaseClock(beginning: string) {
  let atMs = Date.parse(beginning);
  const look = async (): Promise<void> => {
    await setDatabaseClock(ledger.database, new Date(atMs));
    await observeClock(ledger.live);
  };
  return {
    begin: () => beginDatabaseClock(ledger.database, new Date(atMs)),
    stepBy: async (minutes: number): Promise<void> => {
      atMs += minutes * 60_000;
      await look();
    },
    runFor: async (minutes: number): Promise<void> => {
      const untilMs = atMs + minutes * 60_000;
      while (atMs < untilMs) {
        atMs = Math.min(untilMs, atMs + 50_000);
        await look();
      }
    },
  };
}

test('WA-08 a clock step that is taken back begins no month', async (t) => {
  t.after(() => stepDatabaseClock(ledger.database, '0'));
  await ledger.open('stepped', 1_000, 50);
  const clock = databaseClock('2031-01-31T22:30:00Z');
  await clock.begin();
  const refused = ['cap_race_lost'];
  assert.deepEqual(await ledger.reserve([holdOf('stepped', 50)]), [50]);
  await clock.stepBy(60); // 23:30 by a clock that is wrong.
  assert.deepEqual(await ledger.reserve([holdOf('stepped', 1)]), refused);
  await clock.runFor(50); // 00:20 in February by the wrong clock, 23:20 in January.
  assert.deepEqual(await ledger.reserve([holdOf('stepped', 1)]), refused);
  await clock.stepBy(60 * 24 * 40); // Straight over a month.
  assert.deepEqual(await ledger.reserve([holdOf('stepped', 1)]), refused);
  await clock.stepBy(-60 * 24 * 40 - 60);
  await clock.runFor(39);
  assert.deepEqual(await ledger.reserve([holdOf('stepped', 1)]), refused, '23:59');
  await clock.runFor(2);
  assert.deepEqual(await ledger.reserve([holdOf('stepped', 50)]), [50], '00:01');
  await expectMonth('stepped', '2031-02-01', 0, 50);
});

test('WA-08 a corrected clock is believed after an hour', async (t) => {
  t.after(() => stepDatabaseClock(ledger.database, '0'));
  await ledger.open('righted', 1_000, 50);
  const clock = databaseClock('2032-05-31T22:00:00Z');
  await clock.begin();
  assert.deepEqual(await ledger.reserve([holdOf('righted', 50)]), [50]);
  await clock.stepBy(180);
  await clock.runFor(58);
  assert.deepEqual(await ledger.reserve([holdOf('righted', 1)]), ['cap_race_lost']);
  await clock.runFor(4);
  assert.deepEqual(await ledger.reserve([holdOf('righted', 50)]), [50]);
  await expectMonth('righted', '2032-06-01', 0, 50);
});

test('WA-08 two gateways reading one clock see no step', async (t) => {
  t.after(() => stepDatabaseClock(ledger.database, '0'));
  const { owner } = ledger.database;
  await stepDatabaseClock(ledger.database, '0');
  await sql(owner)`update db.clock
    set seen_at = clock_timestamp() - interval '30 seconds', steady_since = '2020-01-01'`;
  await Promise.all(Array.from({ length: 8 }, () => observeClock(owner)));
  const { rows } = await owner.query(`select steady_since = '2020-01-01' as is_steady from db.clock`);
  assert.deepEqual(rows, [{ is_steady: true }]);
});

test('WA-08 only the first gateway believes the clock at once', async (t) => {
  t.after(() => stepDatabaseClock(ledger.database, '0'));
  const { owner } = ledger.database;
  await ledger.open('paused', 1_000, 50);
  await databaseClock('2033-05-31T22:00:00Z').begin();
  assert.deepEqual(await ledger.reserve([holdOf('paused', 50)]), [50]);
  await setDatabaseClock(ledger.database, new Date('2033-06-01T01:00:00Z'));
  await sql(owner)`update db.instances set lease_until = '2033-06-01T01:00:05Z' where state = 'live'`;
  await trustClock(ledger.live);
  assert.deepEqual(await ledger.reserve([holdOf('paused', 1)]), ['cap_race_lost']);
  await sql(owner)`update db.instances set lease_until = '2033-05-31T22:00:05Z' where state = 'live'`;
  await trustClock(ledger.live);
  assert.deepEqual(await ledger.reserve([holdOf('paused', 50)]), [50]);
  await expectMonth('paused', '2033-06-01', 0, 50);
});
