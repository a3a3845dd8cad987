import type { Mutant } from '../mutant.ts';
import { doubting, ledgerTables, mixing, turn, turning, turns } from './places.ts';

const RICH_AND_POOR = 'WA-07 a wallet holds all of its calls or none';
const FREED = 'WA-07 a turn settles before it holds';
const CAP_OF_BOTH = 'WA-03 a turn counts its charges against the cap';

/** The constraint would stop the fault: without it, the condition itself is what is tried. */
const BELOW_ZERO_OF_CAP = ledgerTables(' cap_held_micros,', '');

/** Faults that only a turn can have, because it settles and holds at once. */
export const TURN_OF_BOTH_FAULTS: readonly Mutant[] = [
  {
    id: 'turn-forgets-what-it-frees',
    clause: 'WA-07',
    edits: [turn('w.held_micros - t.freed, w.cap_micros', 'w.held_micros, w.cap_micros')],
    killer: mixing(FREED),
  },
  {
    id: 'turn-holds-before-it-charges',
    clause: 'WA-07',
    edits: [
      turn(
        'db.largest_hold(w.is_connected, w.is_suspended, w.balance_micros - t.charge,',
        'db.largest_hold(w.is_connected, w.is_suspended, w.balance_micros,',
      ),
    ],
    killer: mixing(FREED),
  },
  {
    id: 'turn-cap-before-it-charges',
    clause: 'WA-03',
    edits: [
      turn(
        'db.in_month(w.cap_spent_micros, w.cap_month, month) + t.charge',
        'db.in_month(w.cap_spent_micros, w.cap_month, month)',
      ),
    ],
    killer: mixing(CAP_OF_BOTH),
  },
  {
    id: 'turn-cap-forgets-what-it-frees',
    clause: 'WA-03',
    edits: [
      turn(
        'db.in_month(w.cap_held_micros, w.cap_month, month) - t.freed)',
        'db.in_month(w.cap_held_micros, w.cap_month, month))',
      ),
    ],
    killer: mixing(CAP_OF_BOTH),
  },
  {
    id: 'turn-counts-streams-before-it-frees',
    clause: 'LI-02',
    edits: [turn('w.open_streams - t.streams_freed + t.streams, t', 'w.open_streams + t.streams, t')],
    killer: mixing('LI-02 a stream takes the slot of exactly one that ends in its turn'),
  },
  {
    id: 'turn-counts-plain-calls-before-it-frees',
    clause: 'CC-18',
    edits: [turn('w.open_calls - t.calls_freed + t.calls, t', 'w.open_calls + t.calls, t')],
    killer: mixing('CC-18 a plain call takes the slot of exactly one that ends in its turn'),
  },
  {
    id: 'turn-begins-a-month-that-also-ends-one',
    clause: 'WA-08',
    edits: [
      turn('case when t.ends = 0 then w.cap_month <= month else w.cap_month = month end', 'w.cap_month <= month'),
      BELOW_ZERO_OF_CAP,
    ],
    killer: mixing('WA-08 a wallet whose month begins in mid-turn is left whole'),
  },
  {
    id: 'turn-holds-what-does-not-fit',
    clause: 'WA-07',
    edits: [
      turn('and db.are_ordinary_holds(', 'and (t.ends > 0 or db.are_ordinary_holds('),
      turn('t.calls, t.calls_max)', 't.calls, t.calls_max))'),
    ],
    killer: mixing(FREED),
  },
  {
    id: 'turn-settles-a-wallet-that-is-left',
    clause: 'WA-07',
    edits: [turn('where coalesce(t.wallet_id, 0) > 0 and e.call_id is not null', 'where e.call_id is not null')],
    killer: mixing(FREED),
  },
  {
    id: 'turn-holds-for-a-wallet-that-is-left',
    clause: 'WA-07',
    edits: [
      turn('select a.call_id, t.wallet_id, a.amount', 'select a.call_id, a.wallet_id, a.amount'),
      turn('where coalesce(t.wallet_id, 0) > 0 and a.call_id is not null', 'where a.call_id is not null'),
    ],
    killer: turning(RICH_AND_POOR),
  },
  {
    id: 'turn-ends-calls-of-wallets-that-only-hold',
    clause: 'WA-09',
    edits: [turn('where coalesce(t.wallet_id, 0) > 0 and e.call_id is not null', 'where coalesce(t.wallet_id, 0) > 0')],
    killer: turning(RICH_AND_POOR),
  },
  {
    id: 'turn-waits-for-a-wallet-once-for-each-call',
    clause: 'WA-07',
    edits: [turns('    resourceOf: ({ callId }) => walletOf(callId),\n', '')],
    killer: doubting('WA-07 a locked wallet delays other holds only once'),
  },
];
