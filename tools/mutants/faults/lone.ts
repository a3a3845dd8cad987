import type { Mutant } from '../mutant.ts';
import { ledgerTables, limiting, placeOne, settleOne, turn, turning, usageTables, waiting } from './places.ts';

const alone = (name: string) => turning(`${name}, alone`);
const leftBecause = (what: string) => alone(`WA-07 a call of a wallet that is ${what} is left to be judged`);
const unsettledBecause = (what: string) => alone(`WA-07 ${what} is left to be judged`);
const CAP = alone('WA-03 WA-13 a call gets its share of a cap');
const NEW_MONTH = alone('WA-08 a new month ignores earlier holds');
const SHARE = alone('WA-07 WA-13 a call holds its share and no more');
const SLOT = alone('LI-02 CC-18 a call holds if its kind has a free slot');
const DRAINED = alone('LI-02 a drain without a slot frees no other’s');
const RECEIPT = alone('WA-09 only a charging receipt has an entry number');
const RETRIED = alone('CC-14 a hold keeps its key, and a joined call stays untouched');

/** Constraints stop what these faults would do: without them, the conditions themselves are what is tried. */
const UNCOVERED = ledgerTables('check (is_clawed = (held_micros > balance_micros))', 'check (true)');
const BELOW_ZERO_OF_CAP = ledgerTables(' cap_held_micros,', '');
const ANY_CHARGE = usageTables(' held_micros - charged_micros,', '');

/** Faults in the statements for a call that has its turn for itself. */
export const LONE_FAULTS: readonly Mutant[] = [
  {
    id: 'place-one-without-what-is-held',
    clause: 'WA-07',
    edits: [placeOne('w.balance_micros, w.held_micros, w.cap_micros', 'w.balance_micros, 0, w.cap_micros'), UNCOVERED],
    killer: SHARE,
  },
  {
    id: 'place-one-above-the-cap',
    clause: 'WA-03',
    edits: [placeOne('w.held_micros, w.cap_micros', 'w.held_micros, null')],
    killer: CAP,
  },
  {
    id: 'place-one-cap-forgets-what-is-spent',
    clause: 'WA-03',
    edits: [placeOne('db.in_month(w.cap_spent_micros, w.cap_month, month), db.in_month(', '0, db.in_month(')],
    killer: CAP,
  },
  {
    id: 'place-one-cap-forgets-what-is-held',
    clause: 'WA-03',
    edits: [placeOne('db.in_month(w.cap_held_micros, w.cap_month, month)), p_amount', '0), p_amount')],
    killer: CAP,
  },
  {
    id: 'place-one-cap-forgets-what-it-holds',
    clause: 'WA-03',
    edits: [placeOne('w.cap_month, month) + p_amount', 'w.cap_month, month)')],
    killer: SHARE,
  },
  {
    id: 'place-one-spent-of-last-month',
    clause: 'WA-08',
    edits: [
      placeOne(
        'cap_spent_micros = db.in_month(w.cap_spent_micros, w.cap_month, month)',
        'cap_spent_micros = w.cap_spent_micros',
      ),
    ],
    killer: NEW_MONTH,
  },
  {
    id: 'place-one-cap-of-last-month',
    clause: 'WA-08',
    edits: [
      placeOne(
        'db.in_month(w.cap_spent_micros, w.cap_month, month), db.in_month(w.cap_held_micros, w.cap_month, month))',
        'w.cap_spent_micros, w.cap_held_micros)',
      ),
    ],
    killer: NEW_MONTH,
  },
  {
    id: 'place-one-moves-a-month-back',
    clause: 'WA-08',
    edits: [placeOne('and w.cap_month <= month -- Never back.\n    ', '')],
    killer: leftBecause('of a later month'),
  },
  {
    id: 'place-one-disconnected',
    clause: 'WA-02',
    edits: [
      placeOne('(w.is_connected, w.is_suspended,', '(true, w.is_suspended,'),
      placeOne(' and w.is_connected\n', '\n'),
    ],
    killer: leftBecause('disconnected'),
  },
  {
    id: 'place-one-suspended',
    clause: 'WA-04',
    edits: [placeOne('(w.is_connected, w.is_suspended,', '(w.is_connected, false,')],
    killer: leftBecause('suspended'),
  },
  {
    id: 'place-one-stream-too-many',
    clause: 'LI-02',
    edits: [placeOne('w.open_streams + 1, nullif', 'w.open_streams, nullif')],
    killer: SLOT,
  },
  {
    id: 'place-one-plain-call-too-many',
    clause: 'CC-18',
    edits: [placeOne('w.open_calls + 1, nullif', 'w.open_calls, nullif')],
    killer: SLOT,
  },
  {
    id: 'place-one-stream-not-counted',
    clause: 'LI-02',
    edits: [placeOne('open_streams = w.open_streams + (p_streams_max > 0)::int,', '')],
    killer: SLOT,
  },
  {
    id: 'place-one-plain-call-not-counted',
    clause: 'CC-18',
    edits: [placeOne('open_calls = w.open_calls + (p_streams_max = 0)::int,', '')],
    killer: SLOT,
  },
  {
    id: 'place-one-for-the-fenced',
    clause: 'WA-10',
    edits: [placeOne(`i.instance_id = p_instance and i.state = 'live'`, 'i.instance_id = p_instance')],
    killer: alone('WA-10 a fenced process places no hold'),
  },
  {
    id: 'place-one-after-the-end',
    clause: 'WA-07',
    edits: [placeOne(' and not exists (select from usage.calls c where c.call_id = p_call);', ';')],
    killer: alone('WA-07 a repeated call is left to be recognised'),
  },
  {
    id: 'place-one-loses-the-key',
    clause: 'CC-14',
    edits: [placeOne('p_key_digest, p_body_digest, i.instance_id', 'null, null, i.instance_id')],
    killer: RETRIED,
  },
  {
    id: 'settle-one-above-the-hold',
    clause: 'WA-07',
    edits: [settleOne('(p.charge_micros <= h.amount_micros, ', '(true, '), ANY_CHARGE],
    killer: unsettledBecause('a charge above its hold'),
  },
  {
    id: 'settle-one-though-clawed',
    clause: 'WA-12',
    edits: [settleOne(' w.is_clawed,', ' false,'), UNCOVERED],
    killer: unsettledBecause('a wallet that was clawed back'),
  },
  {
    id: 'settle-one-in-another-month',
    clause: 'WA-08',
    edits: [settleOne(' w.cap_month, h.month, h.month)', ' h.month, h.month, h.month)'), BELOW_ZERO_OF_CAP],
    killer: unsettledBecause('a hold of another month'),
  },
  {
    id: 'settle-one-ends-what-is-joined',
    clause: 'CC-14',
    edits: [
      settleOne(
        'where h.call_id = p.call_id and h.budget_key is null and not (h.is_joined and p.is_unkept)\n',
        'where h.call_id = p.call_id and h.budget_key is null\n',
      ),
      settleOne('h.is_stream = hold.is_stream and not (h.is_joined and p.is_unkept);', 'h.is_stream = hold.is_stream;'),
    ],
    killer: RETRIED,
  },
  {
    id: 'settle-one-ends-what-was-joined',
    clause: 'CC-14',
    edits: [
      settleOne('h.is_stream = hold.is_stream and not (h.is_joined and p.is_unkept);', 'h.is_stream = hold.is_stream;'),
    ],
    killer: waiting('CC-14 a call joined during its settlement stays open, alone'),
  },
  {
    id: 'settle-one-ends-though-torn',
    clause: 'LI-02',
    edits: [settleOne(' and h.is_stream = hold.is_stream', '')],
    killer: waiting('LI-02 a drain losing its slot while waiting frees no other, alone'),
  },
  {
    id: 'settle-one-frees-a-slot-for-a-drain-that-lost-its-own',
    clause: 'CC-18',
    edits: [settleOne('(not h.is_stream and h.drained_since is null)', '(not h.is_stream)')],
    killer: DRAINED,
  },
  {
    id: 'settle-one-frees-no-stream',
    clause: 'LI-02',
    edits: [settleOne('open_streams = w.open_streams - h.is_stream::int,', '')],
    killer: SLOT,
  },
  {
    id: 'settle-one-frees-no-plain-call',
    clause: 'CC-18',
    edits: [settleOne('open_calls = w.open_calls - (not h.is_stream and h.drained_since is null)::int,', '')],
    killer: SLOT,
  },
  {
    id: 'settle-one-keeps-the-rest-of-the-hold',
    clause: 'WA-07',
    edits: [
      settleOne(
        'held_micros = w.held_micros - h.amount_micros,\n    open',
        'held_micros = w.held_micros - p.charge_micros,\n    open',
      ),
    ],
    killer: RECEIPT,
  },
  {
    id: 'settle-one-charges-the-whole-hold',
    clause: 'WA-07',
    edits: [
      settleOne(
        'balance_micros = w.balance_micros - p.charge_micros',
        'balance_micros = w.balance_micros - h.amount_micros',
      ),
    ],
    killer: RECEIPT,
  },
  {
    id: 'settle-one-not-counted-against-the-cap',
    clause: 'WA-03',
    edits: [settleOne('    cap_spent_micros = w.cap_spent_micros + p.charge_micros,\n', '')],
    killer: RECEIPT,
  },
  {
    id: 'settle-one-numbers-the-free',
    clause: 'WA-09',
    edits: [settleOne('entry_seq = w.entry_seq + is_entry::int', 'entry_seq = w.entry_seq + 1')],
    killer: RECEIPT,
  },
  {
    id: 'settle-one-books-the-free',
    clause: 'WA-09',
    edits: [settleOne('case when is_entry then hold.entry_seq end', 'hold.entry_seq')],
    killer: RECEIPT,
  },
  {
    id: 'settle-one-receipt-loses-the-estimate',
    clause: 'CC-11',
    edits: [settleOne('p.outcome, p.is_estimated,', 'p.outcome, false,')],
    killer: RECEIPT,
  },
  {
    id: 'ended-plain-call-counts-on',
    clause: 'CC-18',
    edits: [
      turn('open_calls = w.open_calls - t.calls_freed', 'open_calls = w.open_calls'),
      settleOne('open_calls = w.open_calls - (not h.is_stream and h.drained_since is null)::int,', ''),
    ],
    killer: limiting('CC-18 a user’s plain calls are limited across gateways and wires by a 429'),
  },
];
