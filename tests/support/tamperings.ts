import { ENTRY_TAMPERINGS } from './entry-tamperings.ts';
import { ofVictim, STRAY, type Tampering, VICTIM } from './victim.ts';

/** Everything that the checks must find, one wrong thing at a time. */
export const TAMPERINGS: readonly Tampering[] = [
  ...ENTRY_TAMPERINGS,
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
    what: 'a hold of a process that never was, which no reaper would find',
    by: ['update ledger.holds set instance_id = 4711 where amount_micros = 40'],
    found: ['a hold belongs to a process: 0, not 40'],
  },
];
