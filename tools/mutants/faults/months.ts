import type { Mutant } from '../mutant.ts';
import {
  archivedMonths,
  archivingMonths,
  barMonth,
  detachMonth,
  walletDifferences,
  checkChanges,
  closedMonths,
  closeMonth,
  makeMonth,
  receiptMonths,
} from './places.ts';

const MADE = 'WA-16 months are made as time goes on, and take in the receipts that came before them';
const PLACES = 'WA-16 a receipt lies in the month in which its call began, to the millisecond, also by a wrong clock';

const CLOSING =
  'WA-16 a month is closed only after it has ended, in its order, without running calls, and with right books';
const LATE = 'WA-16 a closed month takes no receipt: a call with such an id holds nothing';
const CHAIN = 'WA-16 the hash of a month is of its CSV, and the chain is of that and the month before';
const NOTHING_LOST =
  'WA-16 nothing is detached without a whole archive, too early, or before the check has been over it';
const DETACHED =
  'WA-16 after a month is detached, balances, the checks, days and statistics are right without its receipts';
const TAMPERED =
  'WA-16 with a month detached, the check still finds what is wrong, in what is here and in what was kept';
const BOUND = 'WA-16 the check and the sums look into no month that is closed and that they have been over';

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
      walletDifferences('0, true from detached d where d.last_seq is not null', '0, true from detached d where false'),
    ],
    killer: archivedMonths(TAMPERED),
  },
];
