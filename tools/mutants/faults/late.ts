import type { Mutant } from '../mutant.ts';
import {
  chargingLate,
  comparingTold,
  inFile,
  landing,
  personData,
  reserve,
  restarting,
  settleLate,
  told,
} from './places.ts';

const SOURCE = 'packages/service/src';
const countedIn = inFile(`${SOURCE}/ledger/settlement/counted_in.sql`);
const lateDifferences = inFile(`${SOURCE}/ledger/check/late_differences.sql`);

const ONCE = 'WA-10 a told charge is booked once after its hold’s release';
const OTHERS = 'WA-10 a late charge takes no other call’s money';
const UNTOLD = 'WA-10 only a told answer is charged late';
const BUDGET = 'CP-08 a late charge never exceeds the key’s budget';

/** Faults in charges that come after their holds were released. */
export const LATE_FAULTS: readonly Mutant[] = [
  {
    id: 'late-charge-locks-nothing',
    clause: 'WA-10',
    edits: [settleLate('order by w.wallet_id for no key update;', 'order by w.wallet_id;')],
    killer: chargingLate('WA-10 a waiting late charge takes what is left'),
  },
  {
    id: 'late-charge-twice',
    clause: 'WA-10',
    edits: [settleLate('    continue when not found;\n', '')],
    killer: chargingLate(ONCE),
  },
  {
    id: 'late-charge-above-the-hold',
    clause: 'WA-07',
    edits: [
      settleLate('owed := least(late.charge_micros, late.held_micros);', 'owed := late.charge_micros;'),
      settleLate('late.reasoning_tokens, late.held_micros, taken,', 'late.reasoning_tokens, owed, taken,'),
    ],
    killer: chargingLate('WA-10 a late charge never exceeds the old hold'),
  },
  {
    id: 'late-charge-asks-for-a-connection',
    clause: 'WA-10',
    edits: [settleLate('db.largest_hold(true, false,', 'db.largest_hold(w.is_connected, w.is_suspended,')],
    killer: chargingLate('WA-10 a suspended or disconnected wallet still pays late'),
  },
  {
    id: 'late-charge-past-the-cap',
    clause: 'WA-03',
    edits: [settleLate('w.held_micros, w.cap_micros, m.spent', 'w.held_micros, null, m.spent')],
    killer: chargingLate('WA-03 a late charge never exceeds the cap’s rest'),
  },
  {
    id: 'late-charge-forgets-the-month-that-ended',
    clause: 'WA-08',
    edits: [countedIn('(select coalesce(sum(c.charged_micros), 0)::bigint', '(select coalesce(sum(0), 0)::bigint')],
    killer: chargingLate('WA-08 a late charge counts for its hold’s month'),
  },
  {
    id: 'late-charge-in-a-month-long-past',
    clause: 'WA-10',
    edits: [settleLate('greatest(late.month, last_month)', 'late.month')],
    killer: chargingLate('WA-10 a charge months late is booked in the last month'),
  },
  {
    id: 'late-charge-past-the-budget',
    clause: 'CP-08',
    edits: [reserve('        budget.limit_micros := asked.budget_micros; -- Real money.\n', '')],
    killer: chargingLate(BUDGET),
  },
  {
    id: 'late-charge-not-in-the-budget',
    clause: 'CP-08',
    edits: [settleLate('set spent_micros = b.spent_micros + taken', 'set spent_micros = b.spent_micros')],
    killer: chargingLate(BUDGET),
  },
  {
    id: 'late-loss-not-booked',
    clause: 'WA-10',
    edits: [settleLate('if taken < owed then', 'if false then')],
    killer: chargingLate(OTHERS),
  },
  {
    id: 'late-charge-for-who-has-left',
    clause: 'WA-10',
    edits: [settleLate(` and q.outcome = 'answered'`, '')],
    killer: chargingLate(UNTOLD),
  },
  {
    id: 'late-charge-for-a-failed-call',
    clause: 'WA-10',
    edits: [settleLate(`k.call_id = q.call_id and k.outcome = 'expired' offset 0`, 'k.call_id = q.call_id offset 0')],
    killer: chargingLate(UNTOLD),
  },
  {
    id: 'told-charge-crossed-off',
    clause: 'WA-10',
    edits: [landing('        if (isTold) spool.leave(callId);\n        else spool.crossOff', '        spool.crossOff')],
    killer: restarting('WA-10 a told charge is booked after its hold was reaped'),
  },
  {
    id: 'late-charges-not-checked',
    clause: 'WA-09',
    edits: [lateDifferences('l.held_micros + greatest(0,', 'l.held_micros + least(0,')],
    killer: chargingLate('WA-09 the full check covers late charges'),
  },
  {
    id: 'told-charge-without-its-loss',
    clause: 'WA-14',
    edits: [told('+ late + lost;', '+ late;')],
    killer: comparingTold('WA-14 a part booked as loss counts as booked'),
  },
  {
    id: 'told-charge-of-nobody',
    clause: 'WA-14',
    edits: [
      told(
        'if (booked === told && !isDoubled) return;',
        'if ((booked === told || booked === 0n) && !isDoubled) return;',
      ),
    ],
    killer: comparingTold('WA-14 missing, different and doubled charges are told apart'),
  },
  {
    id: 'late-charge-paid-by-the-next-owner',
    clause: 'WA-10',
    edits: [settleLate('case when late.released_at < w.owner_deleted_at then 0 end,', '')],
    killer: personData('WA-10 WA-15 a deleted person’s late charge spares the next wallet owner'),
  },
];
