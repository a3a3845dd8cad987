import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isItemFault } from '../../packages/service/src/db/pool/pool.ts';
import { newCallId } from '../../packages/service/src/kernel/values/ids.ts';
import { compareTold, type ToldDifference } from '../../packages/service/src/ledger/told/told.ts';
import { closeMonth } from '../../packages/service/src/ledger/closing/close.ts';
import { detachReceipts, noteArchived } from '../../packages/service/src/ledger/archives/queries.ts';
import { reapHolds } from '../../packages/service/src/ledger/recovery/queries.ts';
import { settleLate } from '../../packages/service/src/ledger/settlement/queries.ts';
import { lineOf } from '../../packages/service/src/ledger/settlement/spool-record.ts';
import { callIdAt } from '../support/call-ids.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';
import { beginMonths } from '../support/past-months.ts';
import { rewrite } from '../support/rewrite.ts';
import { sql } from '../support/sql.ts';

/** The charges that callers were told, compared with the books (WA-14). */

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createLedgerDatabase();
  await beginMonths(ledger, '2025-01');
  await ledger.open('anna', 100_000);
});

after(async () => {
  await ledger.close();
});

/** The line that a gateway logs for a call. */
function logged(callId: string, chargedMicros: number, change: object = {}): string {
  const line = { level: 'info', msg: 'call', callId, mode: 'live', outcome: 'answered', chargedMicros };
  return `${JSON.stringify({ ...line, ...change })}\n`;
}

async function compare(...texts: readonly string[]) {
  const found: ToldDifference[] = [];
  async function* pieces() {
    yield* texts;
  }
  const sums = await compareTold(ledger.live, pieces(), (difference) => found.push(difference));
  return { sums, found };
}

async function charged(amount: number, at = new Date()) {
  const request = { ...holdOf('anna', amount), callId: callIdAt(at) };
  await ledger.reserve([request]);
  await ledger.settle([endOf(request, amount)]);
  return request;
}

/** A call whose hold was released. */
async function released(amount: number, at = new Date(), user = 'anna') {
  const instance = await ledger.addInstance();
  const request = { ...holdOf(user, amount), callId: callIdAt(at) };
  await ledger.reserve([request], instance);
  await sql(ledger)`update db.instances set state = 'dead' where instance_id = ${instance}`;
  await reapHolds(ledger.live, 100);
  return request;
}

/** Closes a month and takes its receipts out of the database, if that has not been done. */
async function detach(month: string): Promise<void> {
  const { owner } = ledger.database;
  await closeMonth(owner, month);
  await noteArchived(owner, `${month}-01`);
  await detachReceipts(owner, `${month}-01`);
}

test('WA-14 calls of archived months are neither compared nor settled', async () => {
  const at = new Date('2025-01-15');
  const [settled, late, unbooked] = [await charged(20, at), await released(30, at), await released(40, at)];
  await settleLate(ledger.live, [endOf(late, 25)]);
  await detach('2025-01');
  const { sums, found } = await compare(
    logged(settled.callId, 20) + logged(late.callId, 25) + logged(unbooked.callId, 40),
  );
  assert.deepEqual(found, []);
  assert.deepEqual([sums.told, sums.archived, sums.bookedMicros], [3, 3, 0n]);
  assert.deepEqual(await settleLate(ledger.live, [endOf(late, 25)]), [
    { call_id: late.callId, charged: 25n, lost: 0n, is_new: false },
  ]);
  await assert.rejects(settleLate(ledger.live, [endOf(unbooked, 40)]), (fault) => {
    return isItemFault(fault) && /is in an archive: restore its month/.test(String(fault));
  });
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-08 a late charge counts archived spending', async () => {
  const at = new Date('2025-02-15');
  await ledger.open('capped', 1_000, 100);
  const late = await released(60, new Date(), 'capped');
  const spent = { ...holdOf('capped', 70), callId: callIdAt(at) };
  await ledger.reserve([spent]);
  await ledger.settle([endOf(spent, 70)]);
  await rewrite(
    ledger.database,
    `update usage.calls set month = (db.current_month() - interval '1 month')::date
     where wallet_id = (select wallet_id from ledger.wallets where user_id = 'capped')`,
  );
  await ledger.setWallet('capped', 'cap_spent_micros = 0');
  await detach('2025-01');
  await detach('2025-02');
  const [booked] = await settleLate(ledger.live, [endOf(late, 60)]);
  assert.deepEqual([booked?.charged, booked?.lost], [30n, 30n]);
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-14 charges booked as told are no difference', async () => {
  const [one, two, late] = [await charged(20), await charged(30), await released(40)];
  await settleLate(ledger.live, [endOf(late, 40)]);
  const { sums, found } = await compare(
    logged(one.callId, 20),
    lineOf(endOf(two, 30)),
    lineOf(endOf(late, 90)), // Above the hold: its caller was told the hold.
  );
  assert.deepEqual(found, []);
  assert.deepEqual([sums.told, sums.toldMicros, sums.bookedMicros, sums.late], [3, 90n, 90n, 1]);
});

test('WA-14 a part booked as loss counts as booked', async () => {
  const late = await released(40);
  await ledger.open('bert', 40);
  await rewrite(
    ledger.database,
    `update usage.calls set wallet_id = (select wallet_id from ledger.wallets where user_id = 'bert') where call_id = $1`,
    [late.callId],
  );
  await ledger.reserve([holdOf('bert', 30)]);
  await settleLate(ledger.live, [endOf(late, 25)]);
  const { sums, found } = await compare(logged(late.callId, 25));
  assert.deepEqual([found, sums.bookedMicros, sums.lostMicros], [[], 25n, 15n]);
});

test('WA-14 missing, different and doubled charges are told apart', async () => {
  const [missing, different, doubled, unknown] = [
    await released(40),
    await charged(20),
    await released(10),
    newCallId(),
  ];
  await settleLate(ledger.live, [endOf(doubled, 10)]);
  await rewrite(
    ledger.database,
    `update usage.calls set outcome = 'answered', charged_micros = 10, model = 'm' where call_id = $1`,
    [doubled.callId],
  );
  const { sums, found } = await compare(
    logged(missing.callId, 40) + logged(different.callId, 21),
    logged(doubled.callId, 10) + logged(unknown, 7),
    logged(missing.callId, 0), // An answer for nothing.
  );
  assert.deepEqual(found, [
    { callId: missing.callId, kind: 'missing', told: 40n, booked: 0n },
    { callId: different.callId, kind: 'different', told: 21n, booked: 20n },
    { callId: doubled.callId, kind: 'doubled', told: 10n, booked: 20n },
    { callId: unknown, kind: 'missing', told: 7n, booked: 0n },
  ]);
  assert.deepEqual([sums.missing, sums.missingMicros, sums.different, sums.doubled], [2, 47n, 1, 1]);
});

test('WA-14 a call under settlement is not missing', async () => {
  const request = holdOf('anna', 50);
  await ledger.reserve([request]);
  const { sums, found } = await compare(lineOf(endOf(request, 80)));
  assert.deepEqual([found, sums.waiting], [[], 1]);
});

test('WA-14 foreign lines are skipped and malformed ones counted', async () => {
  const id = newCallId();
  const { sums, found } = await compare(
    logged(id, 5, { mode: 'sandbox' }) + logged(id, 5, { outcome: 'abandoned' }) + logged(id, 5, { msg: 'other' }),
    lineOf({ ...endOf({ callId: id }, 5), outcome: 'abandoned' }),
    `Purser is ready\n{"callId":\n[1]\n\n${logged('no id', 5)}${logged(id, -1)}{"charge":"5","usage":{}}\n`,
    `{"long":"${'x'.repeat(70_000)}"}\n`,
  );
  assert.deepEqual(found, []);
  assert.deepEqual([sums.lines, sums.told, sums.malformed], [11, 0, 7]);
});

test('WA-14 a long file is compared in batches', async () => {
  const call = await charged(3);
  const text = logged(call.callId, 3).repeat(2_500) + logged(newCallId(), 1).trimEnd();
  const pieces = Array.from({ length: Math.ceil(text.length / 997) }, (_, index) =>
    text.slice(index * 997, index * 997 + 997),
  );
  const { sums, found } = await compare(...pieces);
  assert.deepEqual([sums.lines, sums.told, sums.bookedMicros, found.length], [2_501, 2_501, 7_500n, 1]);
});
