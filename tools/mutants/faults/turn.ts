import type { Mutant } from '../mutant.ts';
import {
  askedHolds,
  ledgerTables,
  locks,
  mixing,
  ordinaryHolds,
  readingCosts,
  refuseHolds,
  turn,
  turning,
  turnQueries,
  waiting,
} from './places.ts';

const RICH_AND_POOR = 'WA-07 a wallet holds all of its calls or none';
const SLOTS = 'LI-02 a wallet’s streams are placed if all find slots';
const NUMBERED = 'WA-09 a turn numbers one wallet’s charges in order';
const FREED = 'WA-07 a turn settles before it holds';
const ABOVE = 'WA-07 a charge above its hold delays only its wallet';
const beside = (name: string) => turning(`${name}, beside another`);
const leftBecause = (what: string) => beside(`WA-07 a call of a wallet that is ${what} is left to be judged`);
const unsettledBecause = (what: string) => beside(`WA-07 ${what} is left to be judged`);
const CAP = beside('WA-03 WA-13 a call gets its share of a cap');
const NEW_MONTH = beside('WA-08 a new month ignores earlier holds');
const SHARE = beside('WA-07 WA-13 a call holds its share and no more');
const SLOT = beside('LI-02 CC-18 a call holds if its kind has a free slot');
const DRAINED = beside('LI-02 a drain without a slot frees no other’s');
const RECEIPT = beside('WA-09 only a charging receipt has an entry number');
const RETRIED = beside('CC-14 a hold keeps its key, and a joined call stays untouched');

/** Constraints stop what these faults would do: without them, the conditions themselves are what is tried. */
const UNCOVERED = ledgerTables('check (is_clawed = (held_micros > balance_micros))', 'check (true)');

/** A hold that has changed is not found by its place any more, which would stop the faults of what is looked at afterwards. */
const FOUND_AGAIN = turn(
  'h.ctid = any (array(select e.ctid from ended e))',
  'h.call_id = any (array(select e.call_id from ended e))',
);

/** Faults in the statement of a turn, in what it does and in what it leaves. */
export const TURN_FAULTS: readonly Mutant[] = [
  {
    id: 'turn-without-what-is-held',
    clause: 'WA-07',
    edits: [turn('w.held_micros - t.freed, w.cap_micros,', '-t.freed, w.cap_micros,'), UNCOVERED],
    killer: SHARE,
  },
  {
    id: 'ordinary-below-the-share',
    clause: 'WA-13',
    edits: [ordinaryHolds('amount <= db.granted_hold', 'amount < db.granted_hold')],
    killer: SHARE,
  },
  {
    id: 'turn-above-the-cap',
    clause: 'WA-03',
    edits: [turn('w.held_micros - t.freed, w.cap_micros,', 'w.held_micros - t.freed, null,')],
    killer: CAP,
  },
  {
    id: 'turn-cap-forgets-what-is-spent',
    clause: 'WA-03',
    edits: [turn('db.in_month(w.cap_spent_micros, w.cap_month, month) + t.charge', '0 + t.charge')],
    killer: CAP,
  },
  {
    id: 'turn-cap-forgets-what-it-holds',
    clause: 'WA-03',
    edits: [turn('else 0 end - t.freed + t.amount', 'else 0 end - t.freed')],
    killer: turning(RICH_AND_POOR),
  },
  {
    id: 'turn-one-stream-too-many',
    clause: 'LI-02',
    edits: [turn('t.streams_freed + t.streams, t.streams_max', 't.streams_freed, t.streams_max')],
    killer: turning(SLOTS),
  },
  {
    id: 'turn-one-plain-call-too-many',
    clause: 'CC-18',
    edits: [turn('t.calls_freed + t.calls, t.calls_max', 't.calls_freed, t.calls_max')],
    killer: mixing('CC-18 a plain call takes the slot of exactly one that ends in its turn'),
  },
  {
    id: 'turn-takes-the-higher-limit',
    clause: 'LI-02',
    edits: [turn('min(d.streams_max) as', 'max(d.streams_max) as')],
    killer: turning(SLOTS),
  },
  {
    id: 'turn-slots-not-counted',
    clause: 'LI-02',
    edits: [turn('t.streams_freed + t.streams,\n      open', 't.streams_freed,\n      open')],
    killer: turning(SLOTS),
  },
  {
    id: 'turn-disconnected',
    clause: 'WA-02',
    edits: [
      turn('(w.is_connected, w.is_suspended,', '(true, w.is_suspended,'),
      askedHolds(' and v.is_connected offset 0', ' offset 0'),
    ],
    killer: leftBecause('disconnected'),
  },
  {
    id: 'turn-disconnected-while-it-waits',
    clause: 'WA-02',
    edits: [turn('(w.is_connected, w.is_suspended,', '(true, w.is_suspended,')],
    killer: waiting('WA-02 a wallet disconnected during the wait holds nothing, beside another'),
  },
  {
    id: 'turn-suspended',
    clause: 'WA-04',
    edits: [turn('(w.is_connected, w.is_suspended,', '(w.is_connected, false,')],
    killer: leftBecause('suspended'),
  },
  {
    id: 'turn-moves-a-month-back',
    clause: 'WA-08',
    edits: [turn('then w.cap_month <= month else', 'then true else')],
    killer: leftBecause('of a later month'),
  },
  {
    id: 'turn-spent-of-last-month',
    clause: 'WA-08',
    edits: [
      turn('case when t.holds = 0 or w.cap_month = month then w.cap_spent_micros else 0 end', 'w.cap_spent_micros'),
    ],
    killer: NEW_MONTH,
  },
  {
    id: 'turn-cap-of-last-month',
    clause: 'WA-08',
    edits: [
      turn('db.in_month(w.cap_spent_micros, w.cap_month, month) + t.charge', 'w.cap_spent_micros + t.charge'),
      turn('db.in_month(w.cap_held_micros, w.cap_month, month) - t.freed)', 'w.cap_held_micros - t.freed)'),
    ],
    killer: NEW_MONTH,
  },
  {
    id: 'turn-for-the-fenced',
    clause: 'WA-10',
    edits: [refuseHolds(`i.instance_id = any (p_instances) and i.state = 'live'`, 'i.instance_id = any (p_instances)')],
    killer: waiting('WA-10 a process fenced while waiting places no hold, beside another'),
  },
  {
    id: 'turn-after-the-end',
    clause: 'WA-07',
    edits: [refuseHolds('exists (select from ledger.ended_calls(p_requests))', 'false')],
    killer: waiting('WA-07 a waiting repeat of an ended call holds nothing, beside another'),
  },
  {
    id: 'turn-answers-a-part-as-all',
    clause: 'WA-07',
    edits: [turn('< cardinality(p_settlements) + cardinality(p_requests)', '< 0')],
    killer: turning(RICH_AND_POOR),
  },
  {
    id: 'turn-answers-a-settled-part-as-all',
    clause: 'WA-07',
    edits: [turn('< cardinality(p_settlements) + cardinality(p_requests)', '< cardinality(p_requests)')],
    killer: mixing(FREED),
  },
  {
    id: 'turn-locks-in-any-order',
    clause: 'WA-07',
    edits: [turn('order by d.wallet_id offset 0', 'order by d.wallet_id desc offset 0')],
    killer: locks('WA-07 a waiting hold batch locks no other wallet'),
  },
  {
    id: 'turn-settles-in-any-order',
    clause: 'WA-07',
    edits: [turn('order by d.wallet_id offset 0', 'order by d.wallet_id desc offset 0')],
    killer: locks('WA-07 a waiting settlement batch locks no other wallet'),
  },
  {
    id: 'turn-compares-all-with-all',
    clause: 'WA-07',
    edits: [
      turn('h.ctid = any (array(select e.ctid from ended e))', 'h.call_id = any (select e.call_id from ended e)'),
    ],
    killer: readingCosts('WA-07 a batch of 64 wallets never compares all row pairs'),
  },
  {
    id: 'turn-above-the-hold',
    clause: 'WA-07',
    edits: [turn('bool_and(d.charge <= d.freed) as are_covered', 'true as are_covered')],
    killer: mixing(ABOVE),
  },
  {
    id: 'turn-though-clawed',
    clause: 'WA-12',
    edits: [turn('(t.are_covered, w.is_clawed,', '(t.are_covered, false,')],
    killer: unsettledBecause('a wallet that was clawed back'),
  },
  {
    id: 'turn-in-another-month',
    clause: 'WA-08',
    edits: [turn('w.cap_month, t.first_month, t.last_month)', 't.last_month, t.last_month, t.last_month)')],
    killer: unsettledBecause('a hold of another month'),
  },
  {
    id: 'turn-keeps-the-rest-of-the-hold',
    clause: 'WA-07',
    edits: [
      turn('held_micros = w.held_micros - t.freed + t.amount', 'held_micros = w.held_micros - t.charge + t.amount'),
    ],
    killer: turning(NUMBERED),
  },
  {
    id: 'turn-charges-the-whole-hold',
    clause: 'WA-07',
    edits: [turn('balance_micros = w.balance_micros - t.charge,', 'balance_micros = w.balance_micros - t.freed,')],
    killer: turning(NUMBERED),
  },
  {
    id: 'turn-not-counted-against-the-cap',
    clause: 'WA-03',
    edits: [turn('else 0 end + t.charge,\n      cap_held', 'else 0 end,\n      cap_held')],
    killer: turning(NUMBERED),
  },
  {
    id: 'turn-same-balance-after-each',
    clause: 'WA-09',
    edits: [turn('t.balance_before - e.charge_so_far', 't.balance_before')],
    killer: turning(NUMBERED),
  },
  {
    id: 'turn-numbers-the-free',
    clause: 'WA-09',
    edits: [turn('count(*) filter (where q.charge_micros > 0) over in_turn', 'count(*) over in_turn')],
    killer: turning(NUMBERED),
  },
  {
    id: 'turn-frees-no-stream',
    clause: 'LI-02',
    edits: [turn('open_streams = w.open_streams - t.streams_freed', 'open_streams = w.open_streams')],
    killer: SLOT,
  },
  {
    id: 'turn-frees-no-plain-call',
    clause: 'CC-18',
    edits: [turn('open_calls = w.open_calls - t.calls_freed', 'open_calls = w.open_calls')],
    killer: SLOT,
  },
  {
    id: 'turn-frees-a-slot-for-a-drain-that-lost-its-own',
    clause: 'CC-18',
    edits: [turn('not h.is_stream and h.drained_since is null as is_plain', 'not h.is_stream as is_plain')],
    killer: DRAINED,
  },
  {
    id: 'turn-ends-though-torn',
    clause: 'WA-07',
    edits: [turn('if is_torn then', 'if false then')],
    killer: waiting('LI-02 a drain losing its slot while waiting frees no other, beside another'),
  },
  {
    id: 'turn-ends-what-was-joined',
    clause: 'CC-14',
    edits: [
      FOUND_AGAIN,
      turn('h.is_joined and h.call_id = any (array(select e.call_id from ended e where e.is_unkept))', 'false'),
    ],
    killer: waiting('CC-14 a call joined during its settlement stays open, beside another'),
  },
  {
    id: 'turn-is-undone-by-a-joined-call',
    clause: 'CC-14',
    edits: [turn(' and not (h.is_joined and q.is_unkept) offset 0', ' offset 0')],
    killer: RETRIED,
  },
  {
    id: 'turn-receipt-loses-the-estimate',
    clause: 'CC-11',
    edits: [turn('e.is_estimated, e.is_usage_clamped,', 'false, e.is_usage_clamped,')],
    killer: RECEIPT,
  },
  {
    id: 'turn-places-for-a-retry',
    clause: 'CC-14',
    edits: [turnQueries('turn.requests.every(mayBeOrdinary) ? turn :', 'true ? turn :')],
    killer: RETRIED,
  },
];
