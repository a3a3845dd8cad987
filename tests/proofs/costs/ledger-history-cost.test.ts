import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppId, EndUserId } from '../../../packages/service/src/kernel/values/ids.ts';
import { selectChanges } from '../../../packages/service/src/ledger/check/queries.ts';
import {
  selectDaysOfWallet,
  selectEntriesOfWallet,
  selectMovementsOfWallet,
} from '../../../packages/service/src/ledger/history/queries.ts';
import { selectAppUser, selectAppUsers } from '../../../packages/service/src/ledger/overview/queries.ts';
import { GROWTH } from '../../support/grown-tables.ts';
import { setFreshLane } from './fresh-lane.ts';
import { endOf, holdOf } from '../../support/ledger-database.ts';
import { sql, sqlValue } from '../../support/sql.ts';

interface AppUserName {
  readonly app_id: AppId;
  readonly user_id: EndUserId;
}

/** How many entries the wallet has, half of them in the journal and half of them receipts, in turns. */
const ENTRIES = 5_000;
const PAGE = 50;
/** A page of each table, and dead ends of the index. A scan of the wallet's history reads all of it. */
const ROWS_READ_MAX = 3 * PAGE;

test('CP-05 ON-04 a page of a history reads one page', async (t) => {
  const { fresh, owner, early, rowsReadOf } = await setFreshLane(t, 'live');
  await fresh.open('long', 1);
  const walletId = (await sqlValue<bigint>(owner)`select wallet_id from ledger.wallets`) ?? 0n;
  for (const table of ['ledger.journal', 'usage.calls'] as const) await owner.query(GROWTH[table]);
  await sql(owner)`
    insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    select ${walletId}, n, 'contract_credit', 'long-' || n, 'contract', 'wallet', 1, 1 from generate_series(2, ${ENTRIES}, 2) n`;
  await sql(owner)`
    insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
      completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros)
    select uuidv7(), ${walletId}, '2020-01-01', 'answered', false, 0, 0, 0, 0, 1, 1, n, 1 from generate_series(3, ${ENTRIES}, 2) n`;
  await sql(owner)`analyze ledger.journal, usage.calls`;
  for (const select of [selectEntriesOfWallet, selectMovementsOfWallet]) {
    for (const before of [undefined, 2_000n]) {
      const sofar = await rowsReadOf('ledger.journal', 'usage.calls');
      const page = await select(early, walletId, { before, most: PAGE });
      const newest = before === undefined ? ENTRIES : Number(before) - 1;
      assert.deepEqual(
        page.map(({ seq }) => Number(seq)),
        Array.from({ length: PAGE }, (_, index) => newest - index),
      );
      const read = (await rowsReadOf('ledger.journal', 'usage.calls')) - sofar;
      assert.ok(read <= ROWS_READ_MAX, `${select.name} before ${before}: ${read} rows`);
    }
  }
});

test('ON-04 WA-02 sums by day and user read no calls', async (t) => {
  const { fresh, owner, early, rowsReadOf } = await setFreshLane(t, 'live');
  await fresh.open('days', 1);
  const walletId = (await sqlValue<bigint>(owner)`select wallet_id from ledger.wallets`) ?? 0n;
  const [days, callsADay] = [30, 1_000];
  await sql(owner)`begin; set local session_replication_role = replica;
    update ledger.journal set at = '2020-04-30'; commit`;
  await sql(owner)`
    insert into usage.calls (call_id, wallet_id, month, outcome, is_estimated, prompt_tokens, cached_tokens,
      completion_tokens, reasoning_tokens, held_micros, charged_micros, seq, balance_after_micros, settled_at)
    select uuidv7(), ${walletId}, '2020-05-01', 'answered', false, 0, 0, 0, 0, 2, 2, n + 1, 1000000 - 2 * n,
      '2020-05-01T00:00Z'::timestamptz + (n - 1) / ${callsADay} * interval '1 day'
    from generate_series(1, ${days * callsADay}) n`;
  await sql(owner)`analyze ledger.journal, usage.calls`;
  const sofar = await rowsReadOf('ledger.journal', 'usage.calls');
  const found = await selectDaysOfWallet(early, walletId, { before: undefined, most: days });
  const read = (await rowsReadOf('ledger.journal', 'usage.calls')) - sofar;
  assert.equal(found.length, days);
  for (const { calls, charged } of found.slice(0, -1)) {
    assert.deepEqual([calls, charged], [BigInt(callsADay), BigInt(2 * callsADay)]);
  }
  assert.ok(read < days * 60, `${read} rows of ${days * callsADay}`);

  const before = await rowsReadOf('ledger.journal', 'usage.calls');
  await sql(owner)`
    insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
    values (${walletId}, 1000000, 'contract_credit', 'paid-the-calls', 'contract', 'wallet', ${2 * days * callsADay}, 1)`;
  const [named] = (await owner.query<AppUserName>('select app_id, user_id from ledger.wallets')).rows;
  assert.ok(named !== undefined);
  const one = await selectAppUser(early, named.app_id, named.user_id);
  assert.equal(one?.spent_micros, BigInt(2 * days * callsADay));
  assert.equal(one?.last_charged_at?.toISOString(), '2020-05-30T00:00:00.000Z');
  const page = await selectAppUsers(early, { appId: named.app_id, beginsWith: '', after: '', most: PAGE });
  assert.deepEqual(
    page.map((user) => user.last_charged_at),
    [one.last_charged_at],
  );
  const readOfUser = (await rowsReadOf('ledger.journal', 'usage.calls')) - before;
  assert.ok(readOfUser < 10, `${readOfUser} rows of ${days * callsADay}`);
});

test('WA-09 the incremental check reads no history', async (t) => {
  const { fresh, owner, early, rowsReadOf } = await setFreshLane(t, 'live');
  const users = Array.from({ length: 8 }, (_, index) => `user-${index}`);
  for (const user of users) await fresh.open(user, 1_000);
  const call = async (times: number): Promise<void> => {
    const requests = users.flatMap((user) => Array.from({ length: times }, () => holdOf(user, 2)));
    await fresh.reserve(requests);
    await fresh.settle(requests.map((request) => endOf(request, 1)));
  };
  const check = async (): Promise<unknown> => {
    const rows = await selectChanges(early, 0n, 1_000);
    return rows.map(({ wallets, entries, rule }) => [wallets, Number(entries), rule]);
  };
  const tables = ['usage.calls', 'ledger.journal'] as const;
  await check();
  for (const table of tables) await owner.query(GROWTH[table]);
  await call(30);
  assert.deepEqual(await check(), [[8, 8 * 30, null]]);
  await call(2);
  const before = await rowsReadOf(...tables);
  assert.deepEqual(await check(), [[8, 16, null]]);
  assert.equal((await rowsReadOf(...tables)) - before, 16);
});
