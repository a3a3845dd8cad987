import type { Mutant } from '../mutant.ts';
import {
  archivedMonths,
  archivingMonths,
  barMonth,
  detachMonth,
  entryDifferences,
  checkChanges,
  closedMonths,
  closeMonth,
  makeMonth,
  receiptMonths,
} from './places.ts';

const MADE = 'WA-16 a late month takes in its earlier receipts';
const PLACES = 'WA-16 a receipt lies in its call’s starting month';

const CLOSING = 'WA-16 a month closes only once it is complete';
const LATE = 'WA-16 a closed month takes no receipt';
const CHAIN = 'WA-16 a month’s hash chains its CSV to the previous month';
const NOTHING_LOST = 'WA-16 only a month with whole archive is detached';
const DETACHED = 'WA-16 balances stay right after a month is detached';
const TAMPERED = 'WA-16 the check works after a month is detached';
const BOUND = 'WA-16 checks and sums skip closed months';

/** Faults in the months of receipts. */
export const MONTH_FAULTS: readonly Mutant[] = [
  {
    id: 'month-that-can-be-truncated',
    clause: 'WA-16',
    edits: [makeMonth('for each statement execute', 'for each statement when (false) execute')],
    killer: receiptMonths(MADE),
  },
  {
    id: 'month-with-a-number-twice',
    clause: 'WA-16',
    edits: [makeMonth('create unique index', 'create index')],
    killer: receiptMonths(PLACES),
  },
  {
    id: 'month-closed-under-a-running-call',
    clause: 'WA-16',
    edits: [barMonth('check (call_id >= %L)', 'check (true or call_id >= %L)')],
    killer: closedMonths(CLOSING),
  },
  {
    id: 'closed-month-that-takes-a-receipt',
    clause: 'WA-16',
    edits: [barMonth('calls_closed before insert on', 'calls_closed before update on')],
    killer: closedMonths(LATE),
  },
  {
    id: 'chain-of-one-month-only',
    clause: 'WA-16',
    edits: [closeMonth('where m.month < p_month order', 'where false order')],
    killer: closedMonths(CHAIN),
  },
  {
    id: 'wallet-checked-from-the-last-closed-month',
    clause: 'WA-16',
    edits: [checkChanges('case when p.wallet_id is null then', 'case when false then')],
    killer: closedMonths(BOUND),
  },
  {
    id: 'detached-without-reading-the-archive',
    clause: 'WA-16',
    edits: [archivingMonths('  await verify(archiveIn(folder, month.month), month);\n', '')],
    killer: archivedMonths(NOTHING_LOST),
  },
  {
    id: 'detached-before-the-sums-are-made',
    clause: 'WA-16',
    edits: [archivingMonths('!month.is_checked || summedFrom < month.before_call', '!month.is_checked')],
    killer: archivedMonths(NOTHING_LOST),
  },
  {
    id: 'detached-and-still-there',
    clause: 'WA-16',
    edits: [detachMonth("execute format('drop table %s', ledger.receipts_of(p_month));", '')],
    killer: archivedMonths(DETACHED),
  },
  {
    id: 'check-without-the-closing-balance',
    clause: 'WA-16',
    edits: [
      entryDifferences('0, true from detached d where d.last_seq is not null', '0, true from detached d where false'),
    ],
    killer: archivedMonths(TAMPERED),
  },
];
