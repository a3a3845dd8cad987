import assert from 'node:assert/strict';
import type { Queryable } from '../../packages/service/src/db/pool.ts';
import { createLedgerDatabase, endOf, holdOf, type LedgerDatabase } from './ledger-database.ts';

/**
 * A wallet with each kind of row: a credit, two charges, a failed call, a hold and a stream. Also another wallet, and one
 * whose provider billed more than was held.
 */
export async function createVictim(): Promise<LedgerDatabase> {
  const ledger = await createLedgerDatabase();
  await ledger.open('victim', 1_000);
  await ledger.open('other', 500);
  await ledger.open('overrun', 500);
  const calls = [100, 100, 100].map((amount) => holdOf('victim', amount));
  const overrun = holdOf('overrun', 50);
  await ledger.reserve([...calls, holdOf('victim', 60, { streamsMax: 4 }), holdOf('victim', 40), overrun]);
  await ledger.settle(calls.map((call, index) => endOf(call, [30, 20, 0][index] ?? 0)));
  await ledger.settle([endOf(overrun, 61)]);
  assert.deepEqual(await ledger.differences(), []);
  return ledger;
}

export const VICTIM = `(select wallet_id from ledger.wallets where user_id = 'victim')`;

/** Changes rows past all rights, triggers and constraints, runs the check, and undoes the change. */
export async function afterTampering<Seen>(
  { database }: LedgerDatabase,
  tampering: readonly string[],
  look: (db: Queryable) => Promise<Seen>,
): Promise<Seen> {
  const client = await database.owner.connect();
  try {
    await client.query('begin');
    await client.query('set local session_replication_role = replica'); // No triggers.
    for (const text of tampering) {
      const { rowCount } = await client.query(text);
      if (!text.startsWith('alter')) assert.ok((rowCount ?? 0) > 0, `changed nothing: ${text}`);
    }
    return await look(client);
  } finally {
    await client.query('rollback');
    client.release();
  }
}

const STRAY = 'every row belongs to a wallet: 0, not 1';

export const ofVictim = (assignment: string): string =>
  `update ledger.wallets set ${assignment} where user_id = 'victim'`;
export const ofFirstCharge = (assignment: string): string =>
  `update ledger.entries set ${assignment} where wallet_id = ${VICTIM} and seq = 2`;

export interface Tampering {
  readonly what: string;
  readonly by: readonly string[];
  /** The findings of the full check. */
  readonly found: readonly string[];
  /** The findings of the incremental check if they differ. It starts from wallets and their entries. */
  readonly foundAsNew?: readonly string[];
}

export const TAMPERINGS: readonly Tampering[] = [
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
    foundAsNew: [
      'each entry carries the balance after it: 980, not 950',
      'entries are numbered without a gap: 2, not 3',
      'spent this month is the sum of its charges: 20, not 50',
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
    what: 'a plain call that is still counted after its end',
    by: [ofVictim('open_calls = open_calls + 1')],
    found: ['open calls are the holds of plain calls: 1, not 2'],
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
    found: [STRAY],
    foundAsNew: [],
  },
  {
    what: 'a wallet that is gone with its rows left behind',
    by: [`delete from ledger.wallets where user_id = 'other'`],
    found: [STRAY],
    foundAsNew: [],
  },
  {
    what: 'a call that has ended and still holds',
    by: [
      `insert into ledger.holds (call_id, wallet_id, amount_micros, month, is_stream, instance_id)
       select call_id, wallet_id, 5, month, false, 1 from usage.calls where charged_micros = 20`,
      ofVictim('held_micros = held_micros + 5, cap_held_micros = cap_held_micros + 5, open_calls = open_calls + 1'),
    ],
    found: ['a call that has ended holds nothing: 0, not 5'],
  },
  {
    what: 'an entry between other books than those of its kind',
    by: [
      'alter table ledger.entries drop constraint kind_moves_between_its_books',
      ofFirstCharge(`credit = 'processor'`),
    ],
    found: ['an entry moves money between the books of its kind: 0, not 30'],
  },
  {
    what: 'an entry of nothing',
    by: [
      'alter table ledger.entries drop constraint entries_amount_micros_check',
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       values (${VICTIM}, 4, 'top_up', 'nothing', 'processor', 'wallet', 0, 950)`,
      ofVictim('entry_seq = 4'),
    ],
    found: ['an entry moves more than nothing: 1, not 0'],
  },
  {
    what: 'a payment that was booked twice',
    by: [
      'alter table ledger.entries drop constraint entries_cause_kind_key',
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, 4, kind, cause, debit, credit, amount_micros, 950 + amount_micros
       from ledger.entries where wallet_id = ${VICTIM} and seq = 1`,
      ofVictim('entry_seq = 4, balance_micros = 1950'),
    ],
    found: ['a cause counts once for each kind: 1, not 2'],
    foundAsNew: [],
  },
  {
    what: 'a shortfall that suspends nobody',
    by: [
      'alter table ledger.wallets drop constraint a_shortfall_suspends',
      ofVictim('shortfall_micros = 7'),
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       values (${VICTIM}, 4, 'refund_receivable', 'owed', 'receivable', 'processor', 7, 950)`,
      ofVictim('entry_seq = 4'),
    ],
    found: ['a wallet with a shortfall is suspended: 0, not 7'],
  },
  {
    what: 'a wallet that counts as clawed while its holds are covered',
    by: ['alter table ledger.wallets drop constraint holds_are_covered', ofVictim('is_clawed = true')],
    found: ['a wallet is clawed only while holds exceed its balance: 0, not 1'],
  },
  {
    what: 'a currency that is none',
    by: [ofVictim(`currency = 'e'`)],
    found: ['the currency of a wallet is a code: 1, not 0'],
  },
  {
    what: 'a charge above its hold',
    by: [
      'alter table usage.calls drop constraint calls_check2',
      `update usage.calls set held_micros = 29 where charged_micros = 30`,
    ],
    found: ['a charge is at most its hold: 29, not 30'],
    foundAsNew: [],
  },
  {
    what: 'a call that failed and was charged',
    by: [
      'alter table usage.calls drop constraint calls_check3',
      `update usage.calls set outcome = 'failed' where charged_micros = 30`,
    ],
    found: ['a call that was not served costs nothing: 0, not 30'],
    foundAsNew: [],
  },
  {
    what: 'a hold of a process that never was, which no reaper would find',
    by: ['update ledger.holds set instance_id = 4711 where amount_micros = 40'],
    found: ['a hold belongs to a process: 0, not 40'],
  },
  {
    what: 'a receipt of a wallet that is none',
    by: [`update usage.calls set wallet_id = 4711 where charged_micros = 0`],
    found: [STRAY],
    foundAsNew: [],
  },
  {
    what: 'an entry of a wallet that is none',
    by: [
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       values (4711, 1, 'top_up', 'orphan', 'processor', 'wallet', 5, 5)`,
    ],
    found: [STRAY],
    foundAsNew: [],
  },
];
