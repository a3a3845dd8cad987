import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { makeMonth } from '../../packages/service/src/ledger/months/queries.ts';
import { selectEntriesOfWallet } from '../../packages/service/src/ledger/history/queries.ts';
import { rollUpAll } from '../../packages/service/src/calls/roll-up/roll-up.ts';
import { callIdAt } from '../support/call-ids.ts';
import { beginDatabaseClock } from '../support/database-clock.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { sql, sqlValue } from '../support/sql.ts';

let ledger: LedgerDatabase;
let thisMonth: Date;

before(async () => {
  ledger = await createLedgerDatabase();
  while (await makeMonth(ledger.live));
  const month = await sqlValue<string>(ledger)`select min(month)::text as month from ledger.months`;
  thisMonth = new Date(`${month ?? ''}T00:00:00Z`);
});

after(() => ledger.close());

/** The first moment of a month, so many months from now, and a while into it. */
const monthsOn = (months: number, ms = 0): Date =>
  new Date(Date.UTC(thisMonth.getUTCFullYear(), thisMonth.getUTCMonth() + months) + ms);

const tableOf = (months: number): string =>
  `usage.calls_${monthsOn(months).toISOString().slice(0, 7).replace('-', '_')}`;

/** Where the receipt of a call lies. */
async function placeOf(callId: string): Promise<string | undefined> {
  return sqlValue<string>(ledger)`select tableoid::regclass::text as place from usage.calls where call_id = ${callId}`;
}

async function callAt(user: string, at: Date): Promise<string> {
  const request = { ...holdOf(user, 10), callId: callIdAt(at) };
  assert.deepEqual(await ledger.reserve([request]), [10]);
  assert.deepEqual(await ledger.settle([endOf(request, 3)]), [{ isSettled: true, charged: 3 }]);
  return request.callId;
}

test('WA-16 this month and the next two exist once', async () => {
  const rows = await sql<{ month: string }>(ledger)`select month::text as month from ledger.months order by month`;
  const expected = [0, 1, 2].map((months) => monthsOn(months).toISOString().slice(0, 10));
  assert.deepEqual(
    rows.map(({ month }) => month),
    expected,
  );
  assert.deepEqual(await Promise.all([makeMonth(ledger.live), makeMonth(ledger.live)]), [false, false]);
});

test('WA-16 a receipt lies in its call’s starting month', async () => {
  await ledger.open('user', 1_000);
  for (const [at, place] of [
    [new Date(0), tableOf(0)], // A gateway without a clock: the first month has all that came before.
    [monthsOn(1, -1), tableOf(0)],
    [monthsOn(1), tableOf(1)],
    [monthsOn(3, -1), tableOf(2)],
    [monthsOn(3), 'usage.calls_other'],
    [new Date('9999-12-31T23:59:59Z'), 'usage.calls_other'],
  ] as const) {
    assert.equal(await placeOf(await callAt('user', at)), place, at.toISOString());
  }
  for (const part of [tableOf(0), tableOf(1), 'usage.calls_other']) {
    const again = ledger.database.owner.query(
      `insert into ${part} select (jsonb_populate_record(c, jsonb_build_object('call_id',
         overlay(c.call_id::text placing 'ffff' from 33)))).* from ${part} c`,
    );
    await assert.rejects(again, { code: '23505', constraint: /_entries$/ }, part);
  }
  assert.deepEqual(await ledger.differences(), []);
  const { entries, found } = await checkChanges(ledger.live);
  assert.deepEqual([entries, found], [7n, 0n]);
  assert.equal(await rollUpAll(ledger.live, 1), 6);
  const walletId = await sqlValue<bigint>(ledger)`select wallet_id from ledger.wallets`;
  const page = await selectEntriesOfWallet(ledger.live, walletId ?? 0n, { before: undefined, most: 5 });
  assert.deepEqual(
    page.map(({ seq }) => seq),
    [7n, 6n, 5n, 4n, 3n],
  );
});

test('WA-16 a call settled again months later is charged once', async () => {
  const request = { ...holdOf('user', 10), callId: callIdAt(monthsOn(1, -1)) };
  await ledger.reserve([request]);
  await ledger.settle([endOf(request, 4)]);
  assert.deepEqual(await ledger.settle([endOf(request, 4)]), [{ isSettled: false, charged: 4 }]);
  assert.deepEqual(await ledger.reserve([request]), ['call_ended']);
});

test('WA-16 the check finds a receipt number in two months', async () => {
  const { owner } = ledger.database;
  const twice = callIdAt(monthsOn(2));
  await sql(owner)`
    insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
      completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
    select ${twice}, wallet_id, month, outcome, is_estimated, 0, 0, 0, 0, held_micros, charged_micros, seq, balance_after_micros
    from usage.calls where seq = 2`;
  const rules = (await ledger.differences()).map(({ rule }) => rule);
  assert.ok(rules.includes('each entry has a number of its own'), rules.join());
  await owner.query(
    `alter table ${tableOf(2)} disable trigger user; delete from ${tableOf(2)} where call_id = '${twice}';
     alter table ${tableOf(2)} enable trigger user`,
  );
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-16 a late month takes in its earlier receipts', async () => {
  const early = await callAt('user', monthsOn(4, 5));
  assert.equal(await placeOf(early), 'usage.calls_other');
  await beginDatabaseClock(ledger.database, monthsOn(2, 1));
  assert.deepEqual(
    [await makeMonth(ledger.live), await makeMonth(ledger.live), await makeMonth(ledger.live)],
    [true, true, false],
  );
  assert.equal(await placeOf(early), tableOf(4));
  assert.deepEqual(await ledger.differences(), []);
  for (const part of [tableOf(0), tableOf(4), 'usage.calls_other']) {
    for (const text of [`update ${part} set seq = seq`, `delete from ${part}`, `truncate ${part}`]) {
      await assert.rejects(ledger.database.owner.query(text), /never changed or removed/, text);
    }
  }
});
