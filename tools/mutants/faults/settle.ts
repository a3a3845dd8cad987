import type { Mutant } from '../mutant.ts';
import {
  asserting,
  assertingCalls,
  brokenRules,
  checkChanges,
  checking,
  checkingChanges,
  clawingBack,
  entryDifferences,
  expired,
  holdAnswers,
  instances,
  landing,
  ledgerCheck,
  ledgerTables,
  lockHeld,
  locks,
  lowering,
  months,
  reap,
  reaper,
  reaping,
  reserving,
  settle,
  settling,
  takingBack,
  walletDifferences,
  watching,
} from './places.ts';

const SETTLED = 'WA-07 a settlement stores a receipt, releasing the rest';
const AFTER_CLAW_BACK = 'WA-12 a settlement beyond the balance suspends the wallet';
const OLD_MONTH = 'WA-08 an earlier hold leaves the new month alone';
const CAP_EDGES = 'WA-03 a cap used up by holds is a lost race';
const ORPHANS = 'WA-10 a process without a lease loses its holds';
const NO_AGE = 'WA-10 a hold never expires by age alone';

/** Faults in how a call ends: by its settlement, or by the reaper. */
export const SETTLE_FAULTS: readonly Mutant[] = [
  {
    id: 'settle-locks-nothing',
    clause: 'WA-07',
    edits: [lockHeld('order by w.wallet_id for no key update;', 'order by w.wallet_id;')],
    killer: settling('WA-07 two waiting settlements of one call take effect once'),
  },
  {
    id: 'settle-locks-in-any-order',
    clause: 'WA-07',
    edits: [lockHeld('order by w.wallet_id for no key update;', 'order by w.wallet_id desc for no key update;')],
    killer: locks('WA-07 a waiting settlement batch locks no other wallet'),
  },
  {
    id: 'settle-twice',
    clause: 'WA-07',
    edits: [
      settle(
        `delete from ledger.holds h
    where h.call_id = any (calls) and not (h.is_joined and h.call_id = any (unkept)) returning h.*`,
        'select h.* from ledger.holds h where h.call_id = any (calls)',
      ),
    ],
    killer: settling(SETTLED),
  },
  {
    id: 'settle-forgets-what-it-charged',
    clause: 'WA-07',
    edits: [settle('coalesce(t.owed, c.charged_micros, 0)', 'coalesce(t.owed, 0)')],
    killer: settling('WA-07 settling again returns the earlier charge'),
  },
  {
    id: 'charge-above-the-hold',
    clause: 'WA-07',
    edits: [
      settle('least(a.charge_micros, e.amount_micros) as owed,', 'a.charge_micros as owed,'),
      settle('sum(least(a.charge_micros, e.amount_micros)) over', 'sum(a.charge_micros) over'),
    ],
    killer: lowering('WA-07 a charge never exceeds its hold'),
  },
  {
    id: 'rest-of-the-hold-kept',
    clause: 'WA-07',
    edits: [settle('held_micros = w.held_micros - t.held,', 'held_micros = w.held_micros - t.taken,')],
    killer: settling(SETTLED),
  },
  {
    id: 'whole-hold-charged',
    clause: 'WA-07',
    edits: [settle('balance_micros = w.balance_micros - t.taken,', 'balance_micros = w.balance_micros - t.held,')],
    killer: settling(SETTLED),
  },
  {
    id: 'stream-slot-not-freed',
    clause: 'LI-02',
    edits: [settle('      open_streams = w.open_streams - t.streams,\n', '')],
    killer: reserving('LI-02 only running streams count against the stream limit'),
  },
  {
    id: 'charge-not-counted-against-the-cap',
    clause: 'WA-03',
    edits: [settle('      cap_spent_micros = w.cap_spent_micros + t.month_owed,\n', '')],
    killer: reserving(CAP_EDGES),
  },
  {
    id: 'room-in-the-cap-not-freed',
    clause: 'WA-03',
    edits: [settle('      cap_held_micros = w.cap_held_micros - t.month_held,\n', '')],
    killer: months('WA-08 a hold counts in the current UTC month'),
  },
  {
    id: 'month-of-the-settlement',
    clause: 'WA-08',
    edits: [settle('coalesce(sum(t.owed) filter (where t.month = t.cap_month), 0)', 'coalesce(sum(t.owed), 0)')],
    killer: months(OLD_MONTH),
  },
  {
    id: 'uncollected-charge-not-owed',
    clause: 'WA-12',
    edits: [settle('      shortfall_micros = w.shortfall_micros + t.missing,\n', '')],
    killer: clawingBack(AFTER_CLAW_BACK),
  },
  {
    id: 'uncollected-charge-does-not-suspend',
    clause: 'WA-12',
    edits: [
      settle('      is_suspended = w.is_suspended or t.missing > 0,\n', ''),
      ledgerTables('check (shortfall_micros = 0 or is_suspended)', 'check (true)'),
    ],
    killer: clawingBack(AFTER_CLAW_BACK),
  },
  {
    id: 'clawed-for-ever',
    clause: 'WA-06',
    edits: [
      settle('      is_clawed = w.is_clawed and w.held_micros - t.held > w.balance_micros - t.taken,\n', ''),
      ledgerTables('check (is_clawed = (held_micros > balance_micros))', 'check (true)'),
    ],
    killer: clawingBack('WA-06 a wallet stays clawed only while holds exceed its balance'),
  },
  {
    id: 'overrun-not-booked',
    clause: 'WA-07',
    edits: [settle('greatest(0, a.charge_micros - e.amount_micros) end as overrun', '0 end as overrun')],
    killer: takingBack('WA-07 reported usage above the hold is our loss'),
  },
  {
    id: 'estimate-booked-as-overrun',
    clause: 'WA-07',
    edits: [settle('case when a.is_estimated then 0 else', 'case when false then 0 else')],
    killer: takingBack('WA-07 our count above the hold books no loss'),
  },
  {
    id: 'receipt-loses-the-estimate',
    clause: 'CC-23',
    edits: [settle('t.is_estimated, t.is_usage_clamped,', 'false, t.is_usage_clamped,')],
    killer: settling('CC-23 a receipt says if its usage was estimated'),
  },
  {
    id: 'receipt-loses-the-contradiction',
    clause: 'WA-09',
    edits: [settle('t.is_estimated, t.is_usage_clamped,', 't.is_estimated, false,')],
    killer: takingBack('WA-09 a receipt says if its usage contradicted itself'),
  },
  {
    id: 'fenced-before-the-lease-is-over',
    clause: 'WA-10',
    edits: [reap('i.lease_until < clock_timestamp();', `i.lease_until < clock_timestamp() + interval '1 day';`)],
    killer: instances(ORPHANS),
  },
  {
    id: 'reaper-takes-holds-of-the-living',
    clause: 'WA-10',
    edits: [
      reap(` and not exists (select from db.instances i where i.instance_id = h.instance_id and i.state = 'live')`, ''),
    ],
    killer: instances(NO_AGE),
  },
  {
    id: 'reaper-fences-when-it-only-asks',
    clause: 'WA-10',
    edits: [reap(`where p_most > 0 and i.state = 'live'`, `where i.state = 'live'`)],
    killer: instances('WA-10 a reaper with limit zero releases nothing'),
  },
  {
    id: 'reaper-charges',
    clause: 'WA-10',
    edits: [expired('0, -- charge_micros', '1, -- charge_micros'), expired(`'expired',`, `'abandoned',`)],
    killer: instances(ORPHANS),
  },
  {
    id: 'reaper-acts-right-after-an-outage',
    clause: 'WA-10',
    edits: [reaper('>= passesBeforeRelease', '>= 0')],
    killer: reaping('WA-10 a reaper releases nothing before a whole lease in touch'),
  },
  {
    id: 'reaper-forgets-what-lies-on-disk',
    clause: 'WA-10',
    edits: [reaper('>= passesBeforeRelease && isPrepared', '>= passesBeforeRelease')],
    killer: reaping('WA-10 a reaper releases nothing before spooled settlements land'),
  },
  {
    id: 'check-forgets-balances',
    clause: 'WA-09',
    edits: [brokenRules(`    ('the balance is the sum of the entries', balance, w.balance_micros),\n`, '')],
    killer: checking('WA-09 the check reports a micro added to a balance'),
  },
  {
    id: 'check-forgets-holds',
    clause: 'WA-09',
    edits: [brokenRules(`    ('held is the sum of the holds', held, w.held_micros),\n`, '')],
    killer: checking('WA-09 the check reports a micro more held than the holds say'),
  },
  {
    id: 'check-forgets-receipts',
    clause: 'WA-09',
    edits: [walletDifferences('where coalesce(c.charged_micros, 0) <> coalesce(e.charged, 0)', 'where false')],
    killer: checking('WA-09 the check reports a receipt of a charge that is no entry'),
  },
  {
    id: 'check-trusts-running-balances',
    clause: 'WA-09',
    edits: [entryDifferences('else c.before + c.change end, c.after)', 'else c.after end, c.after)')],
    killer: checking('WA-09 the check reports the balance after an entry changed by a micro'),
  },
  {
    id: 'check-forgets-shared-numbers',
    clause: 'WA-09',
    edits: [entryDifferences('case when c.seq = c.previous then c.seq + 1 else c.seq end, c.seq)', 'c.seq, c.seq)')],
    killer: checking('WA-09 the check reports a number used twice'),
  },
  {
    id: 'check-of-changes-forgets-receipts',
    clause: 'WA-09',
    edits: [checkChanges('where h.charged is distinct from h.receipt', 'where false')],
    killer: checkingChanges(
      'WA-09 the incremental check, with everything new, reports a charge that is in the journal and in its receipt',
    ),
  },
  {
    id: 'check-never-rests',
    clause: 'WA-09',
    edits: [ledgerCheck('(after === 0n || (await rest()))', 'true')],
    killer: watching('WA-09 a stop does not wait for a pass that rests'),
  },
  {
    id: 'settlement-that-cannot-be-true',
    clause: 'WA-07',
    edits: [landing('assertBookable(settlement); // Before', '// Before')],
    killer: asserting('WA-07 a settlement that cannot be true ends the call without a charge'),
  },
  {
    id: 'late-charge-is-believed',
    clause: 'WA-10',
    edits: [landing('charged + lost <= (told.get(callId) ?? 0n)', 'told.size > 0')],
    killer: asserting('WA-10 a late charge above what was told sets its file aside'),
  },
  {
    id: 'hold-is-believed',
    clause: 'WA-07',
    edits: [holdAnswers('granted >= asked.least && granted <= asked.most', 'granted > 0n')],
    killer: assertingCalls('WA-07 a call that was granted too much reaches nobody and holds nothing'),
  },
];
