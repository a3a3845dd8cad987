import { ofVictim, STRAY, type Tampering, VICTIM } from './victim.ts';

export const ofFirstCharge = (assignment: string): string =>
  `update usage.calls set ${assignment} where wallet_id = ${VICTIM} and seq = 2`;
const ofEarlyCharge = (assignment: string): string =>
  `update ledger.journal set ${assignment} where kind = 'charge' and amount_micros = 25`;
/** The receipt of the second charge. It stays, but is no entry any more. */
const NO_ENTRY = 'update usage.calls set seq = null, balance_after_micros = null where charged_micros = 20';

/** What can be wrong with entries and receipts. */
export const ENTRY_TAMPERINGS: readonly Tampering[] = [
  {
    what: 'a last entry under another number',
    by: [`update usage.calls set seq = 9 where wallet_id = ${VICTIM} and seq = 3`],
    found: ['the last entry has the last number: 9, not 3'],
  },
  {
    what: 'an entry taken out of the middle',
    by: [`delete from usage.calls where wallet_id = ${VICTIM} and seq = 2`],
    found: [
      'each entry carries the balance after it: 980, not 950',
      'entries are numbered without a gap: 2, not 3',
      'spent this month is the sum of its charges: 20, not 50',
      'the balance is the sum of the entries: 980, not 950',
    ],
  },
  {
    what: 'a credit that is gone',
    by: [`delete from ledger.journal where wallet_id = ${VICTIM} and seq = 1`],
    found: [
      'each entry carries the balance after it: -30, not 970',
      'entries are numbered without a gap: 2, not 3',
      'the balance is the sum of the entries: -50, not 950',
    ],
  },
  {
    what: 'a charge from before that is gone',
    by: [`delete from ledger.journal where kind = 'charge' and amount_micros = 25`],
    found: [
      'a call is charged what its receipt says: 25, not 0',
      'entries are numbered without a gap: 1, not 2',
      'the balance is the sum of the entries: 100, not 75',
      'the last entry has the last number: 1, not 2',
    ],
    foundAsNew: [
      'entries are numbered without a gap: 1, not 2',
      'spent this month is the sum of its charges: 0, not 25',
      'the balance is the sum of the entries: 100, not 75',
      'the last entry has the last number: 1, not 2',
    ],
  },
  {
    what: 'a number that two entries have',
    by: [
      'alter table ledger.journal drop constraint journal_pkey',
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select ${VICTIM}, seq, 'charge_overrun', cause, 'loss', 'earned', 7, 950
       from (values (4, 'one'), (4, 'two'), (6, 'three')) overruns (seq, cause)`,
      ofVictim('entry_seq = 6'),
    ],
    found: ['each entry has a number of its own: 5, not 4'],
  },
  {
    what: 'a charge that is in the journal and in its receipt',
    by: [
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, 4, kind, cause, debit, credit, amount_micros, 930
       from ledger.entries where wallet_id = ${VICTIM} and seq = 3`,
      ofVictim('entry_seq = 4, balance_micros = 930'),
    ],
    found: ['a call is charged what its receipt says: 0, not 20'], // Nothing beside what the receipt books.
  },
  {
    what: 'a receipt of a charge that is no entry',
    by: [NO_ENTRY, ofVictim('entry_seq = 2, balance_micros = 970')],
    found: ['a call is charged what its receipt says: 20, not 0'],
    foundAsNew: ['spent this month is the sum of its charges: 30, not 50'],
  },
  {
    what: 'an amount changed by a micro',
    by: [ofFirstCharge('charged_micros = charged_micros + 1')],
    found: [
      'each entry carries the balance after it: 969, not 970',
      'spent this month is the sum of its charges: 51, not 50',
      'the balance is the sum of the entries: 949, not 950',
    ],
  },
  {
    what: 'the amount of a charge from before changed by a micro',
    by: [ofEarlyCharge('amount_micros = amount_micros + 1')],
    found: [
      'a call is charged what its receipt says: 25, not 26',
      'each entry carries the balance after it: 74, not 75',
      'the balance is the sum of the entries: 74, not 75',
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
    what: 'a receipt that says a micro less than what was charged in part',
    by: [`update usage.calls set charged_micros = charged_micros - 1 where charged_micros = 70`],
    found: [
      'a call is charged what its receipt says: 69, not 70',
      'spent this month is the sum of its charges: 69, not 70',
    ],
  },
  {
    what: 'a receipt of a charge from before that is gone',
    by: [`delete from usage.calls where charged_micros = 25`],
    found: [
      'a call is charged what its receipt says: 0, not 25',
      'spent this month is the sum of its charges: 0, not 25',
    ],
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
      'alter table ledger.journal drop constraint kind_moves_between_its_books',
      ofEarlyCharge(`credit = 'processor'`),
    ],
    found: ['an entry moves money between the books of its kind: 0, not 25'],
  },
  {
    what: 'a receipt that is an entry of nothing',
    by: [
      'alter table usage.calls drop constraint calls_are_whole_entries',
      `update usage.calls set charged_micros = 0, balance_after_micros = 970 where wallet_id = ${VICTIM} and seq = 3`,
      ofVictim('balance_micros = 970, cap_spent_micros = 30'),
    ],
    found: ['an entry moves more than nothing: 1, not 0'],
  },
  {
    what: 'an entry of nothing',
    by: [
      'alter table ledger.journal drop constraint journal_amount_micros_check',
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       values (${VICTIM}, 4, 'top_up', 'nothing', 'processor', 'wallet', 0, 950)`,
      ofVictim('entry_seq = 4'),
    ],
    found: ['an entry moves more than nothing: 1, not 0'],
  },
  {
    what: 'a payment that was booked twice',
    by: [
      'alter table ledger.journal drop constraint journal_cause_kind_key',
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       select wallet_id, 4, kind, cause, debit, credit, amount_micros, 950 + amount_micros
       from ledger.journal where wallet_id = ${VICTIM} and seq = 1`,
      ofVictim('entry_seq = 4, balance_micros = 1950'),
    ],
    found: ['a cause counts once for each kind: 1, not 2'],
    foundAsNew: [],
  },
  {
    what: 'a charge above its hold',
    by: [
      'alter table usage.calls drop constraint parts_are_within_their_wholes',
      `update usage.calls set held_micros = 29 where charged_micros = 30`,
    ],
    found: ['a charge is at most its hold: 29, not 30'],
    foundAsNew: [],
  },
  {
    what: 'a call that failed and was charged',
    by: [
      'alter table usage.calls drop constraint a_call_without_an_answer_is_free',
      `update usage.calls set outcome = 'failed' where charged_micros = 30`,
    ],
    found: ['a call that was not served costs nothing: 0, not 30'],
    foundAsNew: [],
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
  {
    what: 'a late charge of a call whose hold was not released',
    by: [
      `insert into usage.late_receipts select a.call_id, b.call_id from usage.calls a, usage.calls b
       where a.charged_micros = 30 and b.charged_micros = 20`,
    ],
    found: ['a late charge is of a released hold of its wallet: 1, not 0'],
    foundAsNew: [],
  },
  {
    what: 'a late charge above the hold that was released',
    by: [
      `update usage.calls set outcome = 'expired', held_micros = 19 where charged_micros = 0`,
      `insert into usage.late_receipts select a.call_id, b.call_id from usage.calls a, usage.calls b
       where a.charged_micros = 0 and b.charged_micros = 20`,
    ],
    found: ['a late charge and its loss are at most the hold: 19, not 20'],
    foundAsNew: [],
  },
  {
    what: 'a loss by a late charge that nobody made',
    by: [
      `insert into ledger.journal (wallet_id, seq, kind, cause, debit, credit, amount_micros, balance_after_micros)
       values (${VICTIM}, 4, 'charge_lost', 'one', 'loss', 'earned', 7, 950)`,
      ofVictim('entry_seq = 4'),
    ],
    found: ['a loss is of a call that was charged late: 0, not 7'],
    foundAsNew: [],
  },
];
