import type { Mutant } from '../mutant.ts';
import { callSums, callCounting, rebuildReceipts, replaceDay, rollUp, sums } from './places.ts';

const HISTORY = 'WA-09 sums equal their receipts to the micro';
const LATE = 'WA-09 the next pass includes a charge committed behind it';
const DYING = 'WA-09 a process dying within a pass changes no sums';
const REBUILD = 'WA-09 a rebuild makes damaged sums exact again';
const GROUPS = 'CP-04 calls of one group leave as one sum';

/** Faults in how receipts come into the sums that charts read: the watermark, the sum, the lock, the rebuild. */
export const STATS_FAULTS: readonly Mutant[] = [
  {
    id: 'watermark-past-the-page',
    clause: 'WA-09',
    edits: [rollUp('select c.wallet_id, c.last_seq from changed c', 'select c.wallet_id, c.entry_seq from changed c')],
    killer: sums(HISTORY),
  },
  {
    id: 'watermark-ahead-of-the-wallet',
    clause: 'WA-09',
    edits: [
      rollUp('select c.wallet_id, c.last_seq from changed c', 'select c.wallet_id, c.last_seq + 1 from changed c'),
    ],
    killer: sums(LATE),
  },
  {
    id: 'entry-at-the-watermark-again',
    clause: 'WA-09',
    edits: [rollUp('k.seq > c.seen', 'k.seq >= c.seen')],
    killer: sums(HISTORY),
  },
  {
    id: 'sum-of-the-last-page-only',
    clause: 'WA-09',
    edits: [
      rollUp('charged_micros = h.charged_micros + excluded.charged_micros', 'charged_micros = excluded.charged_micros'),
    ],
    killer: sums(HISTORY),
  },
  {
    id: 'part-payment-counts-twice',
    clause: 'WA-09',
    edits: [rollUp(`where e.kind = 'charge'`, 'where true')],
    killer: sums(HISTORY),
  },
  {
    id: 'two-processes-roll-up',
    clause: 'WA-09',
    edits: [rollUp(`if not pg_try_advisory_xact_lock(hashtextextended('stats.roll_up', 0)) then`, 'if false then')],
    killer: sums(DYING),
  },
  {
    id: 'rebuild-past-the-watermark',
    clause: 'WA-09',
    edits: [rebuildReceipts(')) <= m.entry_seq', ')) <= m.entry_seq + 1000000')],
    killer: sums(REBUILD),
  },
  {
    id: 'rebuild-keeps-what-has-no-receipt',
    clause: 'WA-09',
    edits: [
      replaceDay(`and h.mode = 'live' and h.outcome = 'charged'\n    and not exists`, `and false and not exists`),
    ],
    killer: sums(REBUILD),
  },
  {
    id: 'live-charge-counted-in-memory-too',
    clause: 'WA-09',
    edits: [callSums(`const hasReceipt = mode === 'live' && outcome === 'charged';`, 'const hasReceipt = false;')],
    killer: callCounting(GROUPS),
  },
];
