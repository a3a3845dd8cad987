import type { Mutant } from '../mutant.ts';
import {
  askedHolds,
  disconnecting,
  draining,
  grantedHold,
  holdOutcome,
  inFile,
  instances,
  largestHold,
  ledgerTables,
  locks,
  months,
  placeOne,
  readingCosts,
  reserve,
  reserving,
} from './places.ts';

const SOURCE = 'packages/service/src';
const lockAsked = inFile(`${SOURCE}/db/holds/lock_asked.sql`);
const bookHolds = inFile(`${SOURCE}/db/holds/book_holds.sql`);
const lockWallets = inFile(`${SOURCE}/ledger/hold/lock_wallets.sql`);
const endedCalls = inFile(`${SOURCE}/ledger/hold/ended_calls.sql`);
const drainsOf = inFile(`${SOURCE}/ledger/hold/drains_of.sql`);
const takeSlots = inFile(`${SOURCE}/ledger/hold/take_slots.sql`);

const FIRST_REASON = 'CC-10 a refusal gives the first documented reason';
const CAP_EDGES = 'WA-03 a cap used up by holds is a lost race';
const WHOLE_BALANCE = 'WA-07 a hold can take exactly the whole balance';
const SHARE = 'WA-13 no call exceeds three quarters of the rest';
const STREAMS = 'LI-02 only running streams count against the stream limit';
const TAKE_OVER = 'LI-02 a stream without a slot takes a drain’s';
const NEW_MONTH = 'WA-08 a new month has the full cap again';
/** The constraint would stop an overspent wallet: without it, the judgement itself is what is tried. */
const UNCOVERED = ledgerTables('check (is_clawed = (held_micros > balance_micros))', 'check (true)');

/** A disconnected wallet is not even found: without that, the rule itself is what is tried. */
const DISCONNECTED_SEEN = [
  lockWallets(' and v.is_connected offset 0', ' offset 0'),
  lockWallets('where w.wallet_id = any (wallets) and w.is_connected', 'where w.wallet_id = any (wallets)'),
  askedHolds(' and v.is_connected offset 0', ' offset 0'),
  placeOne(' and w.is_connected\n', '\n'),
];
const AS_A_STRANGER = 'WA-02 a disconnected user costs what a stranger does';

/** Faults in who may hold, and how much. */
export const RESERVE_FAULTS: readonly Mutant[] = [
  {
    id: 'reserve-locks-nothing',
    clause: 'WA-07',
    edits: [lockWallets('order by w.wallet_id for no key update of w', 'order by w.wallet_id')],
    killer: locks('WA-03 waiting holds never overspend a wallet’s cap'),
  },
  {
    id: 'reserve-locks-nothing-balance',
    clause: 'WA-07',
    edits: [lockWallets('order by w.wallet_id for no key update of w', 'order by w.wallet_id')],
    killer: locks('WA-07 waiting holds never overspend a wallet’s balance'),
  },
  {
    id: 'reserve-locks-in-any-order',
    clause: 'WA-07',
    edits: [
      lockWallets('order by w.wallet_id for no key update of w', 'order by w.wallet_id desc for no key update of w'),
    ],
    killer: locks('WA-07 a waiting hold batch locks no other wallet'),
  },
  {
    id: 'available-without-held',
    clause: 'WA-07',
    edits: [largestHold('least(balance - held, ', 'least(balance, '), UNCOVERED],
    killer: reserving(WHOLE_BALANCE),
  },
  {
    id: 'batch-judged-by-one-balance',
    clause: 'WA-07',
    edits: [reserve('wallet.held_micros := wallet.held_micros + granted;', ''), UNCOVERED],
    killer: reserving('WA-07 a refused large call spares the small ones behind'),
  },
  {
    id: 'batch-judged-by-one-cap',
    clause: 'WA-03',
    edits: [reserve('wallet.cap_held_micros := wallet.cap_held_micros + granted;', '')],
    killer: months(NEW_MONTH),
  },
  {
    id: 'batch-judged-by-one-count-of-streams',
    clause: 'LI-02',
    edits: [reserve(' - cardinality(drains) + (asked.streams_max > 0)::int;', ' - cardinality(drains);')],
    killer: reserving(STREAMS),
  },
  {
    id: 'balance-less-a-micro',
    clause: 'WA-07',
    edits: [holdOutcome('least_amount <= largest', 'least_amount < largest')],
    killer: reserving(WHOLE_BALANCE),
  },
  {
    id: 'race-told-as-a-cap-that-is-reached',
    clause: 'WA-03',
    edits: [holdOutcome('when cap_spent + least_amount > cap', 'when cap_spent + cap_held + least_amount > cap')],
    killer: reserving(CAP_EDGES),
  },
  {
    id: 'cap-less-a-micro',
    clause: 'WA-03',
    edits: [largestHold('cap - cap_spent - cap_held', 'cap - cap_spent - cap_held - 1')],
    killer: reserving('WA-07 a hold gets what balance and cap afford'),
  },
  {
    id: 'held-not-counted-against-the-cap',
    clause: 'WA-03',
    edits: [largestHold('cap - cap_spent - cap_held', 'cap - cap_spent')],
    killer: reserving(CAP_EDGES),
  },
  {
    id: 'grant-above-the-cap',
    clause: 'WA-03',
    edits: [largestHold(', cap - cap_spent - cap_held', '')],
    killer: reserving('WA-07 a hold gets what balance and cap afford'),
  },
  {
    id: 'one-call-holds-all-that-is-left',
    clause: 'WA-13',
    edits: [grantedHold('(3 * largest + 3) / 4', 'largest')],
    killer: reserving(SHARE),
  },
  {
    id: 'share-below-the-smallest-hold',
    clause: 'WA-13',
    edits: [grantedHold('greatest(least_amount, (3 * largest + 3) / 4)', '(3 * largest + 3) / 4')],
    killer: reserving(SHARE),
  },
  {
    id: 'hold-told-as-empty',
    clause: 'WA-13',
    edits: [holdOutcome(`when least_amount > balance then 'payment_required'`, `when true then 'payment_required'`)],
    killer: reserving('WA-13 only calls blocked by holds are told so'),
  },
  {
    id: 'one-stream-too-many',
    clause: 'LI-02',
    edits: [holdOutcome('open_streams >= streams_max', 'open_streams > streams_max')],
    killer: reserving(STREAMS),
  },
  {
    id: 'plain-calls-take-slots',
    clause: 'LI-02',
    edits: [
      bookHolds('filter (where a.amount > 0 and a.streams_max > 0)', 'filter (where a.amount > 0)'),
      bookHolds('w.cap_month, q.streams_max > 0,', 'w.cap_month, true,'),
    ],
    killer: reserving(STREAMS),
  },
  {
    id: 'taken-drain-keeps-its-slot',
    clause: 'LI-02',
    edits: [takeSlots('update ledger.holds h set is_stream = false where h.call_id = any (p_drains);', '')],
    killer: draining(TAKE_OVER),
  },
  {
    id: 'taken-slot-counts-twice',
    clause: 'LI-02',
    edits: [takeSlots('w.open_streams - cardinality(p_drains)', 'w.open_streams')],
    killer: draining(TAKE_OVER),
  },
  {
    id: 'streams-that-run-are-taken',
    clause: 'LI-02',
    edits: [drainsOf(' and h.drained_since is not null\n', '\n')],
    killer: draining(TAKE_OVER),
  },
  {
    id: 'drain-that-a-retry-waits-for-is-taken',
    clause: 'LI-02',
    edits: [drainsOf('      and not h.is_joined and h.call_id <> all (p_joined)\n', '')],
    killer: draining('LI-02 CC-14 a drain that a retry waits for keeps its slot'),
  },
  {
    id: 'drain-joined-in-the-same-batch-is-taken',
    clause: 'LI-02',
    edits: [drainsOf(' and h.call_id <> all (p_joined)\n', '\n')],
    killer: draining('LI-02 CC-14 a drain that a retry waits for keeps its slot'),
  },
  {
    id: 'newest-drain-is-taken',
    clause: 'LI-02',
    edits: [drainsOf('order by h.drained_since, h.call_id limit', 'order by h.drained_since desc, h.call_id limit')],
    killer: draining('LI-02 each stream of a batch ends the oldest drain'),
  },
  {
    id: 'suspended-wallet-spends',
    clause: 'WA-04',
    edits: [largestHold('is_connected and not is_suspended\n', 'is_connected\n')],
    killer: draining('CC-10 a stream the wallet refuses ends no drain'),
  },
  {
    id: 'suspension-not-told',
    clause: 'CC-10',
    edits: [holdOutcome(`    when is_suspended then 'wallet_suspended'\n`, '')],
    killer: reserving(FIRST_REASON),
  },
  {
    id: 'disconnected-wallet-spends',
    clause: 'WA-02',
    edits: [largestHold('is_connected and not is_suspended\n', 'not is_suspended\n'), ...DISCONNECTED_SEEN],
    killer: reserving('WA-02 disconnected, empty and missing wallets are refused alike'),
  },
  {
    id: 'disconnected-wallet-is-locked',
    clause: 'WA-02',
    edits: DISCONNECTED_SEEN,
    killer: readingCosts(AS_A_STRANGER),
  },
  {
    id: 'disconnected-wallet-is-read',
    clause: 'WA-02',
    edits: [
      placeOne(
        `w.app_id || ' ' || w.user_id = p_app || ' ' || p_user and w.is_connected`,
        'w.app_id = p_app and w.user_id = p_user and w.is_connected',
      ),
      ledgerTables(`((app_id || ' ' || user_id)) where is_connected`, `((app_id || ' ' || user_id))`),
    ],
    killer: readingCosts(AS_A_STRANGER),
  },
  {
    id: 'month-moves-back',
    clause: 'WA-08',
    edits: [reserve('if wallet.cap_month < this_month then', 'if wallet.cap_month <> this_month then')],
    killer: months('WA-08 the month of a wallet never goes back'),
  },
  {
    id: 'cap-of-last-month',
    clause: 'WA-08',
    edits: [reserve('        wallet.cap_spent_micros := 0;\n', '')],
    killer: months(NEW_MONTH),
  },
  {
    id: 'repeated-reserve-holds-anew',
    clause: 'WA-07',
    edits: [reserve('if asked.placed is not null then', 'if false then')],
    killer: reserving('WA-07 a repeated reserve holds once, answering the same'),
  },
  {
    id: 'ended-call-holds-again',
    clause: 'WA-07',
    edits: [reserve('elsif asked.ended is not null then', 'elsif false then')],
    killer: reserving('WA-07 a reserve after its call ended holds nothing'),
  },
  {
    id: 'ended-call-not-looked-for',
    clause: 'WA-07',
    edits: [endedCalls('where c.call_id = any (array(select q.call_id from unnest(p_requests) q))', 'where false')],
    killer: reserving('WA-07 a reserve after its call ended holds nothing'),
  },
  {
    id: 'repeated-reserve-not-looked-for',
    clause: 'WA-07',
    edits: [
      lockAsked('from money.holds h where h.call_id = any', 'from money.holds h where false and h.call_id = any'),
    ],
    killer: reserving('WA-07 a repeated reserve holds once, answering the same'),
  },
  {
    id: 'repeated-reserve-stays-with-the-dead',
    clause: 'WA-10',
    edits: [
      reserve(
        'update money.holds h set instance_id = p_instance where',
        'update money.holds h set instance_id = 0 where false and',
      ),
    ],
    killer: reserving('WA-10 a repeated reserve takes the hold over'),
  },
  {
    id: 'streams-of-the-disconnected-counted',
    clause: 'CC-10',
    edits: DISCONNECTED_SEEN,
    killer: disconnecting('CC-10 a disconnected user’s running streams are not counted'),
  },
  {
    id: 'plain-calls-of-a-batch-not-counted',
    clause: 'CC-18',
    edits: [reserve('wallet.open_calls := wallet.open_calls + (asked.streams_max = 0)::int;', '')],
    killer: reserving('CC-18 only running plain calls count against their limit'),
  },
  {
    id: 'fenced-process-holds',
    clause: 'WA-10',
    edits: [lockAsked(`i.instance_id = p_instance and i.state = 'live'`, 'i.instance_id = p_instance')],
    killer: instances('WA-10 a fenced process places no hold under its old id'),
  },
];
