import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { checkChanges } from '../../../packages/service/src/ledger/check/check.ts';
import { hashArchive } from '../../../packages/service/src/ledger/archives/file.ts';
import { archiveMonth, detachMonth } from '../../../packages/service/src/ledger/archives/archive.ts';
import { closeMonth } from '../../../packages/service/src/ledger/closing/close.ts';
import { findMonth } from '../../../packages/service/src/ledger/months/months.ts';
import { beginRestore, endRestore, insertReceipts } from '../../../packages/service/src/ledger/archives/queries.ts';
import { restoreMonth } from '../../../packages/service/src/ledger/archives/restore.ts';
import { selectSummedFrom } from '../../../packages/service/src/calls/roll-up/queries.ts';
import { rollUpAll } from '../../../packages/service/src/calls/roll-up/roll-up.ts';
import { callIdAt } from '../../support/call-ids.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../../support/ledger-database.ts';
import { untilWaiting } from '../../support/lock-wait.ts';
import { beginMonths } from '../../support/past-months.ts';
import { sqlValue } from '../../support/sql.ts';

/** Commands on months that die at each statement, before and after it, and are run again; and two restores at once (WA-09). */

const MONTH = '2025-01';
const KILLED = 'killed';

let ledger: LedgerDatabase;
let folder: string;
let file: string;
let receipts: readonly unknown[];

before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'purser-killed-'));
  file = path.join(folder, `purser-receipts-${MONTH}.csv.gz`);
  ledger = await createLedgerDatabase();
  await beginMonths(ledger, MONTH);
  await ledger.open('user', 1_000);
  for (const [day, charge] of [3, 0, 5].entries()) {
    const request = { ...holdOf('user', 10), callId: callIdAt(new Date(Date.UTC(2025, 0, day + 1))) };
    await ledger.reserve([request]);
    await ledger.settle([endOf(request, charge)]);
  }
  receipts = await receiptsNow();
  assert.equal(receipts.length, 3);
});

after(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

const receiptsNow = async (): Promise<readonly unknown[]> =>
  (await ledger.database.owner.query('select * from usage.calls order by call_id')).rows;

const isDetached = async (): Promise<boolean> => (await findMonth(ledger.database.owner, MONTH)).detached_at !== null;

/**
 * A pool of a process that dies after so many statements: nothing more is sent, not even a rollback. With `isAnswerLost`, the
 * last of them is carried out, and its answer is lost.
 */
function mortal(pool: Pool, statements: number, isAnswerLost: boolean): Pool {
  let left = statements;
  const dying = <Db extends object>(db: Db): Db =>
    new Proxy(db, {
      get: (target, member): unknown => {
        const value: unknown = Reflect.get(target, member, target);
        if (typeof value !== 'function') return value;
        if (member === 'connect') return async () => dying((await Reflect.apply(value, target, [])) as object);
        if (member !== 'query') return value.bind(target) as unknown;
        return async (...given: readonly unknown[]): Promise<unknown> => {
          left -= 1;
          if (left < 0 || (left === 0 && !isAnswerLost)) throw new Error(KILLED);
          const answer: unknown = await Reflect.apply(value, target, given);
          if (left === 0) throw new Error(KILLED);
          return answer;
        };
      },
    });
  return dying(pool);
}

/**
 * Runs a command that dies at its first statement, then at its second, and so on, until one gets through. After each, the books must be
 * right and `look` must find nothing wrong. Gives how often it died.
 */
async function killEverywhere(run: (owner: Pool) => Promise<unknown>, look: () => Promise<void>): Promise<number> {
  for (let deaths = 0; ; deaths += 1) {
    const owner = mortal(ledger.database.owner, 1 + Math.floor(deaths / 2), deaths % 2 === 1);
    const isDead = await run(owner).then(
      () => false,
      (fault: unknown) => {
        if (fault instanceof Error && fault.message === KILLED) return true;
        throw fault;
      },
    );
    assert.deepEqual(await ledger.differences(), []);
    await look();
    if (!isDead) return deaths;
  }
}

/** All receipts are here, once. */
const allHere = async (): Promise<void> => assert.deepEqual(await receiptsNow(), receipts);

/** The same, and a month that says that it is archived has a whole archive. */
async function archivedOnlyIfWhole(): Promise<void> {
  await allHere();
  const { archived_at: archivedAt, rows_hash: sealed } = await findMonth(ledger.database.owner, MONTH);
  if (archivedAt !== null) assert.deepEqual(await hashArchive(file), sealed);
}

/** All receipts are here, once, or none while they are in the archive. */
async function allHereOrDetached(): Promise<void> {
  assert.deepEqual(await receiptsNow(), (await isDetached()) ? [] : receipts);
}

/** The check and the statistics have been over the month. */
async function lookOver(): Promise<void> {
  await checkChanges(ledger.live);
  await rollUpAll(ledger.live, 1);
}

async function detach(owner: Pool): Promise<void> {
  await detachMonth(owner, MONTH, { folder, isEarly: false, summedFrom: await selectSummedFrom(ledger.live) });
}

test('WA-16 closing or restoring a month survives a kill', async () => {
  const deaths = [await killEverywhere((owner) => closeMonth(owner, MONTH), allHere)];
  const { closed_at: closedAt, receipts: closed } = await findMonth(ledger.database.owner, MONTH);
  assert.ok(closedAt !== null && closed === 3n);
  const another = { ...holdOf('user', 10), callId: callIdAt(new Date('2025-01-20')) };
  await assert.rejects(ledger.reserve([another]), { code: '23514' }, 'the month is barred');
  writeFileSync(`${file}.part`, 'torn'); // As an archive that was killed while it wrote leaves it.
  deaths.push(await killEverywhere((owner) => archiveMonth(owner, MONTH, folder), archivedOnlyIfWhole));
  await lookOver();
  deaths.push(await killEverywhere(detach, allHereOrDetached));
  assert.ok(await isDetached());
  // If only the answer to its last statement was lost, the month is back, and a second restore would find nothing to do.
  const restore = async (owner: Pool) => ((await isDetached()) ? restoreMonth(owner, file) : undefined);
  deaths.push(await killEverywhere(restore, allHereOrDetached));
  assert.ok(!(await isDetached()));
  await allHere();
  assert.ok(Math.min(...deaths) >= 8, deaths.join());
});

test('WA-16 simultaneous restores take no receipt away', async () => {
  const { owner } = ledger.database;
  await closeMonth(owner, MONTH);
  await archiveMonth(owner, MONTH, folder);
  await lookOver();
  const receipts = await sqlValue<[]>(owner)`select json_agg(c) as receipts from usage.calls c`;
  await detach(owner);
  await beginRestore(owner, `${MONTH}-01`);
  await insertReceipts(owner, `${MONTH}-01`, receipts ?? []);
  const client = await owner.connect();
  await client.query('begin');
  await endRestore(client, `${MONTH}-01`);
  const second = assert.rejects(beginRestore(owner, `${MONTH}-01`), /the month is not detached/);
  await untilWaiting(ledger.database, 1);
  await client.query('commit');
  client.release();
  await second;
  await allHere();
  assert.deepEqual(await ledger.differences(), []);
});
