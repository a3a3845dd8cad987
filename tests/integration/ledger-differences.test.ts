import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { checkLedger } from '../../packages/service/src/ledger/check/check.ts';
import { selectCheck } from '../../packages/service/src/ledger/check/queries.ts';
import type { LedgerDatabase } from '../support/ledger-database.ts';
import { sql } from '../support/sql.ts';
import { TAMPERINGS } from '../support/tamperings.ts';
import { afterTampering, createVictim, ofVictim, VICTIM } from '../support/victim.ts';

/** The books that each kind of entry moves money between: the debited one, then the credited one. */
const MOVEMENTS: readonly string[] = [
  'charge: wallet to earned',
  'charge_receivable: receivable to earned',
  'charge_lost: loss to earned',
  'charge_overrun: loss to earned',
  'top_up: processor to wallet',
  'contract_credit: contract to wallet',
  'funds_reinstated: processor to wallet',
  'given_up: wallet to earned',
  'moved_in: cells to wallet',
  'moved_out: wallet to cells',
  'owed_in: receivable to cells',
  'owed_out: cells to receivable',
  'refund: wallet to processor',
  'refund_receivable: receivable to processor',
  'refund_set_aside: wallet to outgoing',
  'refund_paid: outgoing to processor',
  'refund_released: outgoing to wallet',
  'claw_back: wallet to processor',
  'claw_back_receivable: receivable to processor',
  'recovery: wallet to receivable',
  'write_off: loss to receivable',
];

let ledger: LedgerDatabase;

before(async () => {
  ledger = await createVictim();
});

after(async () => {
  await ledger.close();
});

function rulesAfter(...tampering: readonly string[]): Promise<readonly string[]> {
  return afterTampering(ledger, tampering, async (db) => {
    const rows = await selectCheck(db, 1_000);
    return rows.map(({ rule, expected, found }) => `${rule}: ${expected}, not ${found}`);
  });
}

for (const { what, by, found } of TAMPERINGS) {
  test(`WA-09 the check reports ${what}`, async () => {
    assert.deepEqual((await rulesAfter(...by)).toSorted(), found.toSorted());
  });
}

test('WA-09 these tests make every rule of both checks fail', async () => {
  const rows = await sql<{ source: string }>(ledger)`select prosrc as source from pg_proc
    where pronamespace = 'ledger'::regnamespace
    and proname in ('wallet_differences', 'entry_differences', 'late_differences', 'broken_rules', 'check_changes')`;
  const named = rows.flatMap(({ source }) =>
    [...source.matchAll(/(?:\(|select )'([a-z][a-z ]{15,})'/g)].map(([, rule]) => rule),
  );
  const fired = new Set(TAMPERINGS.flatMap(({ found }) => found.map((text) => text.split(':')[0])));
  assert.equal(new Set(named).size, 27);
  assert.deepEqual(
    named.filter((rule) => !fired.has(rule)),
    [],
  );
});

test('WA-09 the check finds nothing once everything is restored', async () => {
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-09 the check reports charges to wrong wallets', async () => {
  const rules = await rulesAfter(
    'update usage.calls set seq = null, balance_after_micros = null where charged_micros = 20',
    ofVictim('balance_micros = balance_micros + 20, entry_seq = 2'),
    `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
     select w.wallet_id, 2, 'charge', (select call_id::text from usage.calls where charged_micros = 20), 'wallet', 'earned',
       20, 480 from ledger.wallets w where w.user_id = 'other'`,
    `update ledger.wallets set balance_micros = 480, entry_seq = 2 where user_id = 'other'`,
  );
  assert.deepEqual(rules.toSorted(), [
    'a call is charged what its receipt says: 0, not 20',
    'a call is charged what its receipt says: 20, not 0',
  ]);
});

test('WA-09 the check reports a number used twice', async () => {
  const rules = await rulesAfter(
    `update usage.calls set seq = 4 where wallet_id = ${VICTIM} and seq = 3`,
    `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
     values (${VICTIM}, 2, 'charge_overrun', 'one', 'loss', 'earned', 7, 970)`,
    ofVictim('entry_seq = 4'),
  );
  assert.ok(rules.includes('each entry has a number of its own: 3, not 2'), rules.join());
});

test('WA-09 an entry between wrong books cannot be stored', async () => {
  const moved = `update ledger.journal set credit = 'earned' where wallet_id = ${VICTIM}`;
  await assert.rejects(rulesAfter(moved), /kind_moves_between_its_books/);
});

test('WA-09 each kind of entry fits one pair of books', async () => {
  const rows = await sql<{ movement: string }>(ledger)`select kind || ': ' || debit || ' to ' || credit as movement
    from unnest(enum_range(null::ledger.entry_kind)) kind, unnest(enum_range(null::ledger.book)) debit,
      unnest(enum_range(null::ledger.book)) credit
    where ledger.moves_between(kind, debit, credit) is distinct from false`;
  assert.deepEqual(rows.map(({ movement }) => movement).toSorted(), MOVEMENTS.toSorted());
});

test('WA-09 the check lists the first differences and counts all', async () => {
  const [first, ...others] = await afterTampering(
    ledger,
    [`update ledger.wallets set currency = 'e', balance_micros = balance_micros + 1`],
    (db) => selectCheck(db, 2),
  );
  assert.equal(others.length, 1);
  assert.equal(first?.all, 10n);
});

test('WA-09 the check counts what it has checked', async () => {
  const { wallets, entries } = await checkLedger(ledger.live);
  assert.deepEqual({ wallets, entries }, { wallets: 5n, entries: 13n });
});
