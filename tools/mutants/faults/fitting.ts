import type { Mutant } from '../mutant.ts';
import {
  fitting,
  ledgerTables,
  locks,
  modelled,
  readingCosts,
  reserveFitting,
  settleCovered,
  walking,
} from './places.ts';

const RICH_AND_POOR = 'WA-07 a wallet that affords all of its calls holds them all; any other wallet is left unchanged';
const CAP = 'WA-03 WA-13 of what a cap leaves, calls get their share up to the last micro and not beyond';
const NEW_MONTH = 'WA-08 in a new month the full cap is available, and earlier holds no longer count';
const SLOTS = 'LI-02 streams are placed if the whole batch has slots';
const NUMBERED =
  'WA-09 the charges of one wallet in a batch are numbered in batch order and carry the balance after each';
const leftBecause = (what: string) => fitting(`WA-07 calls of a wallet that is ${what} are left to be judged`);
const unsettledBecause = (what: string) =>
  fitting(`WA-07 ${what} is left to be judged, and the other wallets of the batch are settled`);

/** The constraint would stop an overspent wallet: without it, the condition itself is what is tried. */
const UNCOVERED = ledgerTables('check (is_clawed = (held_micros > balance_micros))', 'check (true)');

/** Faults in what is done in one statement for a whole batch, and in what that statement leaves. */
export const FITTING_FAULTS: readonly Mutant[] = [
  {
    id: 'fitting-without-what-is-held',
    clause: 'WA-07',
    edits: [reserveFitting('w.balance_micros, w.held_micros,', 'w.balance_micros, 0,'), UNCOVERED],
    killer: fitting(RICH_AND_POOR),
  },
  {
    id: 'fitting-below-the-balance',
    clause: 'WA-07',
    edits: [reserveFitting('and t.amount <= db.granted_hold', 'and t.amount < db.granted_hold')],
    killer: fitting(RICH_AND_POOR),
  },
  {
    id: 'fitting-above-the-cap',
    clause: 'WA-03',
    edits: [reserveFitting('w.held_micros, w.cap_micros,', 'w.held_micros, null,')],
    killer: fitting(CAP),
  },
  {
    id: 'fitting-cap-forgets-what-is-spent',
    clause: 'WA-03',
    edits: [
      reserveFitting(
        'case when w.cap_month = month then w.cap_spent_micros else 0 end,\n            case',
        '0,\n            case',
      ),
    ],
    killer: fitting(CAP),
  },
  {
    id: 'fitting-cap-forgets-what-it-holds',
    clause: 'WA-03',
    edits: [reserveFitting('w.cap_held_micros else 0 end + t.amount,', 'w.cap_held_micros else 0 end,')],
    killer: fitting(RICH_AND_POOR),
  },
  {
    id: 'fitting-one-stream-too-many',
    clause: 'LI-02',
    edits: [reserveFitting('w.open_streams + t.streams <= t.streams_max', 'w.open_streams < t.streams_max')],
    killer: fitting(SLOTS),
  },
  {
    id: 'fitting-takes-the-higher-limit',
    clause: 'LI-02',
    edits: [reserveFitting('min(a.streams_max) filter (where a.streams_max > 0) as', 'max(a.streams_max) as')],
    killer: fitting(SLOTS),
  },
  {
    id: 'fitting-slots-not-counted',
    clause: 'LI-02',
    edits: [reserveFitting('      open_streams = w.open_streams + t.streams,\n', '')],
    killer: fitting(SLOTS),
  },
  {
    id: 'fitting-disconnected',
    clause: 'WA-02',
    edits: [
      reserveFitting('(w.is_connected, w.is_suspended,', '(true, w.is_suspended,'),
      reserveFitting(' and v.is_connected offset 0', ' offset 0'),
    ],
    killer: leftBecause('disconnected'),
  },
  {
    id: 'fitting-suspended',
    clause: 'WA-04',
    edits: [reserveFitting('(w.is_connected, w.is_suspended,', '(w.is_connected, false,')],
    killer: leftBecause('suspended'),
  },
  {
    id: 'fitting-moves-a-month-back',
    clause: 'WA-08',
    edits: [reserveFitting('w.cap_month <= month -- Never back.\n        and ', '')],
    killer: leftBecause('of a later month'),
  },
  {
    id: 'fitting-spent-of-last-month',
    clause: 'WA-08',
    edits: [
      reserveFitting(
        'cap_spent_micros = case when w.cap_month = month then w.cap_spent_micros else 0 end',
        'cap_spent_micros = w.cap_spent_micros',
      ),
    ],
    killer: fitting(NEW_MONTH),
  },
  {
    id: 'fitting-cap-of-last-month',
    clause: 'WA-08',
    edits: [
      reserveFitting(
        'case when w.cap_month = month then w.cap_spent_micros else 0 end,\n            case when w.cap_month = month then w.cap_held_micros else 0 end)',
        'w.cap_spent_micros, w.cap_held_micros)',
      ),
    ],
    killer: fitting(NEW_MONTH),
  },
  {
    id: 'fitting-for-the-fenced',
    clause: 'WA-10',
    edits: [reserveFitting(`i.instance_id = p_instance and i.state = 'live'`, 'i.instance_id = p_instance')],
    killer: fitting('WA-10 a process that is fenced while it waits for a wallet places no hold'),
  },
  {
    id: 'fitting-after-the-end',
    clause: 'WA-07',
    edits: [reserveFitting('select from usage.calls c where', 'select from usage.calls c where false and')],
    killer: fitting('WA-07 a repeated call that waits for the wallet holds nothing if the first has ended meanwhile'),
  },
  {
    id: 'fitting-answers-none-as-all',
    clause: 'WA-07',
    edits: [reserveFitting(`coalesce(array_agg(p.call_id), '{}')`, 'array_agg(p.call_id)')],
    killer: leftBecause('suspended'),
  },
  {
    id: 'fitting-locks-in-any-order',
    clause: 'WA-07',
    edits: [reserveFitting('order by a.wallet_id offset 0', 'order by a.wallet_id desc offset 0')],
    killer: locks('WA-07 a batch of holds that waits for its first wallet has locked no other'),
  },
  {
    id: 'covered-compares-all-with-all',
    clause: 'WA-07',
    edits: [settleCovered('any (array(select e.call_id from ending e))', 'any (select e.call_id from ending e)')],
    killer: readingCosts(
      'WA-07 a batch of 64 wallets never compares every row with every other, whenever it was planned',
    ),
  },
  {
    id: 'covered-locks-in-any-order',
    clause: 'WA-07',
    edits: [settleCovered('order by a.wallet_id offset 0', 'order by a.wallet_id desc offset 0')],
    killer: locks('WA-07 a batch of settlements that waits for its first wallet has locked no other'),
  },
  {
    id: 'covered-above-the-hold',
    clause: 'WA-07',
    edits: [settleCovered('bool_and(a.charge_micros <= a.held) as is_covered', 'true as is_covered')],
    killer: unsettledBecause('a charge above its hold'),
  },
  {
    id: 'covered-though-clawed',
    clause: 'WA-12',
    edits: [settleCovered('t.is_covered and not w.is_clawed', 't.is_covered')],
    killer: unsettledBecause('a wallet that was clawed back'),
  },
  {
    id: 'covered-in-another-month',
    clause: 'WA-08',
    edits: [settleCovered(' and w.cap_month = t.first_month and w.cap_month = t.last_month', '')],
    killer: unsettledBecause('a hold of another month'),
  },
  {
    id: 'covered-keeps-the-rest-of-the-hold',
    clause: 'WA-07',
    edits: [
      settleCovered(
        'held_micros = w.held_micros - t.held,\n      open',
        'held_micros = w.held_micros - t.charge,\n      open',
      ),
    ],
    killer: fitting(NUMBERED),
  },
  {
    id: 'covered-charges-the-whole-hold',
    clause: 'WA-07',
    edits: [
      settleCovered('balance_micros = w.balance_micros - t.charge,', 'balance_micros = w.balance_micros - t.held,'),
    ],
    killer: fitting(NUMBERED),
  },
  {
    id: 'covered-not-counted-against-the-cap',
    clause: 'WA-03',
    edits: [settleCovered('      cap_spent_micros = w.cap_spent_micros + t.charge,\n', '')],
    killer: fitting(NUMBERED),
  },
  {
    id: 'covered-frees-no-slot',
    clause: 'LI-02',
    edits: [settleCovered('      open_streams = w.open_streams - t.streams,\n', '')],
    killer: modelled('fittingFirst'),
  },
  {
    id: 'covered-ends-though-torn',
    clause: 'WA-07',
    edits: [settleCovered('if is_torn then', 'if false then')],
    killer: fitting(
      'LI-02 a drain whose slot is taken while its settlement waits for the wallet frees no other stream’s slot',
    ),
  },
  {
    id: 'covered-ends-what-was-joined',
    clause: 'CC-14',
    edits: [
      settleCovered(
        'h.is_joined and h.call_id = any (array(select e.call_id from ending e where e.is_unkept))',
        'false',
      ),
    ],
    killer: fitting('CC-14 a call stays open if a retry joins it while its settlement waits for the wallet'),
  },
  {
    id: 'covered-receipt-loses-the-estimate',
    clause: 'CC-11',
    edits: [settleCovered('e.is_estimated, e.is_usage_clamped,', 'false, e.is_usage_clamped,')],
    killer: walking('CC-11 a streamed call: the provider leaves out the usage'),
  },
];
