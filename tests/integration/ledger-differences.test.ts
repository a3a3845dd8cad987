import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { selectDifferences } from '../../packages/service/src/ledger/queries.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from '../support/ledger-database.ts';

let ledger: LedgerDatabase;

/** One wallet with each kind of row: two credits' worth of money, two charges, a failed call, a hold and a stream. */
before(async () => {
  ledger = await createLedgerDatabase();
  await ledger.open('victim', 1_000);
  await ledger.open('other', 500);
  const calls = [100, 100, 100].map((amount) => holdOf('victim', amount));
  await ledger.reserve([...calls, holdOf('victim', 60, { streamsMax: 4 }), holdOf('victim', 40)]);
  await ledger.settle(calls.map((call, index) => endOf(call, [30, 20, 0][index] ?? 0)));
  assert.deepEqual(await ledger.differences(), []);
});

after(async () => {
  await ledger.close();
});

const VICTIM = `(select wallet_id from ledger.wallets where user_id = 'victim')`;

/** What the check says after a change that no right, trigger or constraint would let pass; undone again. */
async function rulesAfter(...tampering: readonly string[]): Promise<readonly string[]> {
  const client = await ledger.database.owner.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica'); // No triggers.
    for (const text of tampering) {
      const { rowCount } = await client.query(text);
      if (!text.startsWith('alter')) assert.ok((rowCount ?? 0) > 0, `changed nothing: ${text}`);
    }
    const differences = await selectDifferences(client);
    return differences.map(({ rule, expected, found }) => `${rule}: ${expected}, not ${found}`);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const ofVictim = (assignment: string): string => `update ledger.wallets set ${assignment} where user_id = 'victim'`;
const ofFirstCharge = (assignment: string): string =>
  `update ledger.entries set ${assignment} where wallet_id = ${VICTIM} and seq = 2`;

const TAMPERINGS: readonly {
  readonly what: string;
  readonly by: readonly string[];
  readonly found: readonly string[];
}[] = [
  {
    what: 'a micro added to a balance',
    by: [ofVictim('balance_micros = balance_micros + 1')],
    found: ['the balance is the sum of the entries: 950, not 951'],
  },
  {
    what: 'a micro taken from a balance',
    by: [ofVictim('balance_micros = balance_micros - 1')],
    found: ['the balance is the sum of the entries: 950, not 949'],
  },
  {
    what: 'a shortfall of a micro that no receivable tells of',
    by: [ofVictim('shortfall_micros = shortfall_micros + 1, is_suspended = true')],
    found: ['the shortfall is the sum of the receivables: 0, not 1'],
  },
  {
    what: 'a wallet that counts an entry too many',
    by: [ofVictim('entry_seq = entry_seq + 1')],
    found: ['entries are numbered without a gap: 3, not 4', 'the last entry has the last number: 3, not 4'],
  },
  {
    what: 'a last entry under another number',
    by: [`update ledger.entries set seq = 9 where wallet_id = ${VICTIM} and seq = 3`],
    found: ['the last entry has the last number: 9, not 3'],
  },
  {
    what: 'an entry taken out of the middle',
    by: [`delete from ledger.entries where wallet_id = ${VICTIM} and seq = 2`],
    found: [
      'a call is charged what its receipt says: 30, not 0',
      'each entry carries the balance after it: 980, not 950',
      'entries are numbered without a gap: 2, not 3',
      'the balance is the sum of the entries: 980, not 950',
    ],
  },
  {
    what: 'an amount changed by a micro',
    by: [ofFirstCharge('amount_micros = amount_micros + 1')],
    found: [
      'a call is charged what its receipt says: 30, not 31',
      'each entry carries the balance after it: 969, not 970',
      'the balance is the sum of the entries: 949, not 950',
    ],
  },
  {
    what: 'the balance after an entry changed by a micro',
    by: [ofFirstCharge('balance_after_micros = balance_after_micros + 1')],
    found: [
      'each entry carries the balance after it: 970, not 971',
      'each entry carries the balance after it: 951, not 950',
    ],
  },
  {
    what: 'a micro more held than the holds say',
    by: [ofVictim('held_micros = held_micros + 1')],
    found: ['held is the sum of the holds: 100, not 101'],
  },
  {
    what: 'a hold that is gone without its settlement',
    by: [`delete from ledger.holds where amount_micros = 60`],
    found: [
      'held is the sum of the holds: 40, not 100',
      'held this month is the sum of its holds: 40, not 100',
      'open streams are the holds of streams: 0, not 1',
    ],
  },
  {
    what: 'a stream slot that was never freed',
    by: [ofVictim('open_streams = open_streams + 1')],
    found: ['open streams are the holds of streams: 1, not 2'],
  },
  {
    what: 'a cap counter that lost a micro',
    by: [ofVictim('cap_spent_micros = cap_spent_micros - 1')],
    found: ['spent this month is the sum of its charges: 50, not 49'],
  },
  {
    what: 'a cap that counts a micro more as held',
    by: [ofVictim('cap_held_micros = cap_held_micros + 1')],
    found: ['held this month is the sum of its holds: 100, not 101'],
  },
  {
    what: 'a hold moved into another month',
    by: [`update ledger.holds set month = '2020-01-01' where amount_micros = 40`],
    found: ['held this month is the sum of its holds: 60, not 100'],
  },
  {
    what: 'more held than there is',
    by: [
      'alter table ledger.wallets drop constraint holds_are_covered',
      ofVictim('held_micros = 960'),
      `update ledger.holds set amount_micros = amount_micros + 860 where amount_micros = 40`,
      ofVictim('cap_held_micros = 960'),
    ],
    found: ['held is at most the balance: 950, not 960'],
  },
  {
    what: 'a receipt that says a micro less',
    by: [`update usage.calls set charged_micros = charged_micros - 1 where charged_micros = 30`],
    found: [
      'a call is charged what its receipt says: 29, not 30',
      'spent this month is the sum of its charges: 49, not 50',
    ],
  },
  {
    what: 'a receipt that is gone',
    by: [`delete from usage.calls where charged_micros = 30`],
    found: [
      'a call is charged what its receipt says: 0, not 30',
      'spent this month is the sum of its charges: 20, not 50',
    ],
  },
  {
    what: 'a hold of a wallet that is none',
    by: [
      `insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
       values (gen_random_uuid(), 4711, 5, '2020-01-01', false, 1)`,
    ],
    found: ['every row belongs to a wallet: 0, not 1'],
  },
  {
    what: 'a wallet that is gone with its rows left behind',
    by: [`delete from ledger.wallets where user_id = 'other'`],
    found: ['every row belongs to a wallet: 0, not 1'],
  },
  {
    what: 'a call that has ended and still holds',
    by: [
      `insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
       select call_id, wallet_id, 5, month, false, 1 from usage.calls where charged_micros = 20`,
      ofVictim('held_micros = held_micros + 5, cap_held_micros = cap_held_micros + 5'),
    ],
    found: ['a call that has ended holds nothing: 0, not 5'],
  },
];

for (const { what, by, found } of TAMPERINGS) {
  test(`WA-09 the check reports ${what}`, async () => {
    assert.deepEqual((await rulesAfter(...by)).toSorted(), found.toSorted());
  });
}

test('WA-09 every rule of the check is made to fail by one of these tests', async () => {
  const { rows } = await ledger.database.owner.query<{ source: string }>(
    `select prosrc as source from pg_proc where oid = 'ledger.differences'::regproc`,
  );
  const named = [...(rows[0]?.source ?? '').matchAll(/(?:\(|select )'([a-z][a-z ]{15,})'/g)].map(([, rule]) => rule);
  const fired = new Set(TAMPERINGS.flatMap(({ found }) => found.map((text) => text.split(':')[0])));
  assert.equal(named.length, 13);
  assert.deepEqual(
    named.filter((rule) => !fired.has(rule)),
    [],
  );
});

test('WA-09 the check finds nothing once everything is as it was', async () => {
  assert.deepEqual(await ledger.differences(), []);
});

test('WA-09 the check reports a charge that another wallet paid', async () => {
  const rules = await rulesAfter(
    `delete from ledger.entries where wallet_id = ${VICTIM} and seq = 3`,
    ofVictim('balance_micros = balance_micros + 20, entry_seq = 2'),
    `insert into ledger.entries (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
     select w.wallet_id, 2, 'charge', (select call_id::text from usage.calls where charged_micros = 20), 'wallet', 'earned',
       20, 480 from ledger.wallets w where w.user_id = 'other'`,
    `update ledger.wallets set balance_micros = 480, entry_seq = 2 where user_id = 'other'`,
  );
  assert.notDeepEqual(rules, []);
});

test('WA-09 an entry between books that its kind does not move money between cannot be stored', async () => {
  await assert.rejects(rulesAfter(ofFirstCharge(`credit = 'processor'`)), /kind_moves_between_its_books/);
});
