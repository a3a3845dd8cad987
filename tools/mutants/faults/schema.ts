import type { Mutant } from '../mutant.ts';
import {
  checking,
  databaseTables,
  ledgerTables,
  movesBetween,
  pool,
  refuseChange,
  rights,
  settling,
  usageTables,
  migrating,
  upgrading,
} from './places.ts';

const WRONG_WALLET = 'WA-06 impossible balances, holds and counts cannot be written';
const TWO_ENTRIES = 'WA-09 a movement’s second entry cannot be written';
const TWO_RECEIPTS = 'WA-09 a call’s second receipt cannot be written';
const HALF_AN_ENTRY = 'WA-09 receipts with half an entry cannot be written';
const WRONG_ENTRY = 'WA-09 an entry that moves nothing cannot be written';
const ONE_PAIR = 'WA-09 each kind of entry fits one pair of books';
const SANDBOX_READS = 'SB-03 the sandbox role can read no real-money table';

/** Constraints, triggers and rights that are gone: the last line of defence, each tried for itself. */
export const SCHEMA_FAULTS: readonly Mutant[] = [
  {
    id: 'holds-above-the-balance',
    clause: 'WA-07',
    edits: [ledgerTables('check (is_clawed = (held_micros > balance_micros))', 'check (true)')],
    killer: rights(WRONG_WALLET),
  },
  {
    id: 'owing-without-suspension',
    clause: 'WA-05',
    edits: [ledgerTables('check (shortfall_micros = 0 or is_suspended)', 'check (true)')],
    killer: rights(WRONG_WALLET),
  },
  {
    id: 'balance-below-zero',
    clause: 'WA-06',
    edits: [ledgerTables('least(balance_micros, held', 'least(held')],
    killer: rights(WRONG_WALLET),
  },
  {
    id: 'held-below-zero',
    clause: 'WA-07',
    edits: [ledgerTables('balance_micros, held_micros, shortfall', 'balance_micros, shortfall')],
    killer: rights(WRONG_WALLET),
  },
  {
    id: 'spent-below-zero',
    clause: 'WA-03',
    edits: [ledgerTables('cap_micros, cap_spent_micros,', 'cap_micros,')],
    killer: rights(WRONG_WALLET),
  },
  {
    id: 'streams-below-zero',
    clause: 'LI-02',
    edits: [ledgerTables(' open_streams,', '')],
    killer: rights(WRONG_WALLET),
  },
  {
    id: 'two-entries-for-one-cause',
    clause: 'WA-09',
    edits: [ledgerTables(',\n  unique (cause, kind)\n', '\n')],
    killer: rights(TWO_ENTRIES),
  },
  {
    id: 'two-entries-with-one-number',
    clause: 'WA-09',
    edits: [ledgerTables('  primary key (wallet_id, seq),\n', '')],
    killer: rights(TWO_ENTRIES),
  },
  {
    id: 'entry-of-nothing',
    clause: 'WA-09',
    edits: [
      ledgerTables(
        'amount_micros bigint not null check (amount_micros > 0),\n  balance_after',
        'amount_micros bigint not null,\n  balance_after',
      ),
    ],
    killer: rights(WRONG_ENTRY),
  },
  {
    id: 'entry-that-leaves-less-than-nothing',
    clause: 'WA-06',
    edits: [ledgerTables(' check (balance_after_micros >= 0)', '')],
    killer: rights(WRONG_ENTRY),
  },
  {
    id: 'entry-between-any-books',
    clause: 'WA-09',
    edits: [movesBetween('check (ledger.moves_between(kind, debit, credit))', 'check (true)')],
    killer: checking('WA-09 an entry between wrong books cannot be stored'),
  },
  {
    id: 'entry-into-any-book',
    clause: 'WA-09',
    edits: [movesBetween(' and p_credit = ledger.credit_of(p_kind)', '')],
    killer: checking(ONE_PAIR),
  },
  {
    id: 'entry-out-of-any-book',
    clause: 'WA-09',
    edits: [movesBetween('p_debit = ledger.debit_of(p_kind) and ', '')],
    killer: checking(ONE_PAIR),
  },
  {
    id: 'receipt-above-its-hold',
    clause: 'WA-07',
    edits: [usageTables(' held_micros - charged_micros,', '')],
    killer: rights('WA-07 a receipt above its hold cannot be written'),
  },
  {
    id: 'failed-call-with-a-charge',
    clause: 'CC-09',
    edits: [usageTables(`check (outcome in ('answered', 'abandoned') or charged_micros = 0)`, 'check (true)')],
    killer: settling('CC-09 a charged failed call cannot be written'),
  },
  {
    id: 'entries-can-be-changed',
    clause: 'WA-09',
    edits: [refuseChange('before update or delete on ledger.journal', 'before delete on ledger.journal')],
    killer: rights('WA-09 entries cannot be changed, even by the tables’ owner'),
  },
  {
    id: 'entries-can-be-removed',
    clause: 'WA-09',
    edits: [refuseChange('before update or delete on ledger.journal', 'before update on ledger.journal')],
    killer: rights('WA-09 entries cannot be removed, even by the tables’ owner'),
  },
  {
    id: 'entries-can-be-truncated',
    clause: 'WA-09',
    edits: [
      refuseChange(
        `create or replace trigger entries_not_truncated before truncate on ledger.journal
  for each statement execute function ledger.refuse_change();`,
        '',
      ),
    ],
    killer: rights('WA-09 entries cannot be truncated, even by the tables’ owner'),
  },
  {
    id: 'receipts-can-be-changed',
    clause: 'WA-09',
    edits: [refuseChange('before update or delete on usage.calls', 'before delete on usage.calls')],
    killer: rights('WA-09 receipts cannot be changed, even by the tables’ owner'),
  },
  {
    id: 'receipts-can-be-removed',
    clause: 'WA-09',
    edits: [refuseChange('before update or delete on usage.calls', 'before update on usage.calls')],
    killer: rights('WA-09 receipts cannot be removed, even by the tables’ owner'),
  },
  {
    id: 'receipts-can-be-truncated',
    clause: 'WA-09',
    edits: [
      refuseChange(
        `where i.inhparent = 'usage.calls'::regclass loop`,
        `where i.inhparent = 'ledger.journal'::regclass loop`,
      ),
    ],
    killer: rights('WA-09 receipts cannot be truncated, even by the tables’ owner'),
  },
  {
    id: 'two-receipts-of-one-call',
    clause: 'WA-09',
    edits: [usageTables('call_id uuid primary key,\n  wallet_id', 'call_id uuid not null,\n  wallet_id')],
    killer: rights(TWO_RECEIPTS),
  },
  {
    id: 'two-receipts-with-one-number',
    clause: 'WA-09',
    edits: [ledgerTables('create unique index %I', 'create index %I')],
    killer: rights(TWO_RECEIPTS),
  },
  {
    id: 'receipt-that-is-an-entry-of-nothing',
    clause: 'WA-09',
    edits: [usageTables('seq > 0 and charged_micros > 0 and', 'seq > 0 and')],
    killer: rights(HALF_AN_ENTRY),
  },
  {
    id: 'receipt-that-is-an-entry-without-a-balance',
    clause: 'WA-09',
    edits: [usageTables('coalesce(balance_after_micros, -1) >= 0', 'balance_after_micros >= 0')],
    killer: rights(HALF_AN_ENTRY),
  },
  {
    id: 'gateway-writes-tables',
    clause: 'WA-09',
    edits: [
      ledgerTables(
        'grant select on all tables in schema ledger',
        'grant select, update on all tables in schema ledger',
      ),
    ],
    killer: rights('WA-09 the gateway may not write ledger or usage tables'),
  },
  {
    id: 'sandbox-reads-real-money',
    clause: 'SB-03',
    edits: [
      ledgerTables('grant usage on schema ledger to purser_live', 'grant usage on schema ledger to public'),
      ledgerTables(
        'grant select on all tables in schema ledger to purser_live',
        'grant select on all tables in schema ledger to public',
      ),
    ],
    killer: rights(SANDBOX_READS),
  },
  {
    id: 'sandbox-in-the-live-role',
    clause: 'SB-03',
    edits: [pool('role: `purser_${options.role}`', "role: 'purser_live'")],
    killer: rights(SANDBOX_READS),
  },
  {
    id: 'database-from-before-the-release-is-used',
    clause: 'OP-10',
    edits: [migrating('(applied.get(versionOf(name)) ?? name) !== name', "name === ''")],
    killer: upgrading('OP-10 a database from before the release is refused and stays as it is'),
  },
  {
    id: 'live-role-is-a-member-of-the-sandbox',
    clause: 'SB-03',
    edits: [
      databaseTables(
        'create schema if not exists db;',
        'grant purser_sandbox to purser_live;\ncreate schema if not exists db;',
      ),
    ],
    killer: rights('SB-03 no role may act as the other'),
  },
];
