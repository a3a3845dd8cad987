import { unreachable } from '#kernel/faults/assert.ts';
import { type Micros, MICROS_MAX, micros, microsFromRow, microsSumFromRow } from '#kernel/values/micros.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import type { CaseKind, CaseRow } from '#payments/cases/queries.ts';

/** What a person can do about a case. `close`: no money moves, and nothing is booked. */
export const CASE_ACTS = [
  'pay_back',
  'credit',
  'book',
  'release',
  'mark_paid',
  'recover',
  'write_off',
  'close',
] as const;
export type CaseAct = (typeof CASE_ACTS)[number];

/** The acts that can solve each kind of case, the usual one first. */
export const ACTS_OF: Readonly<Record<CaseKind, readonly CaseAct[]>> = {
  kept: ['pay_back', 'credit', 'close'],
  refund_unknown: ['release', 'mark_paid'],
  refund_not_released: ['release'],
  refund_not_returned: ['book', 'close'],
  refund_not_taken: ['book', 'close'],
  dispute_not_booked: ['book', 'close'],
  other_currency: ['close'],
  wallet_suspended: ['recover', 'write_off'],
};

/** Why an act is not possible now. Nothing of it is done. */
export type CaseObstacle =
  | 'no_wallet'
  | 'currency'
  | 'part_went_back'
  | 'nothing_left'
  | 'too_much'
  | 'too_little'
  | 'nothing_owed';

/** An entry of the ledger that an act will make: money moves from the book `debit` to the book `credit`. */
interface PlannedEntry {
  readonly kind: string;
  readonly debit: 'processor' | 'wallet' | 'outgoing' | 'receivable' | 'loss';
  readonly credit: 'processor' | 'wallet' | 'outgoing' | 'receivable';
  readonly amount: Micros;
}

interface Standing {
  readonly balance: Micros;
  readonly shortfall: Micros;
  readonly isSuspended: boolean;
}

/** What an act does to the books, exactly, if the wallet is still as it is now. */
export interface CaseEffect {
  readonly act: CaseAct;
  /** The money that the act is about. */
  readonly amount: Micros;
  readonly entries: readonly PlannedEntry[];
  /** The amount that the processor is asked to pay back to the payer. */
  readonly paidBack: Micros | undefined;
  /** The wallet before and after. Undefined if there is none. */
  readonly before: Standing | undefined;
  readonly after: Standing | undefined;
  readonly obstacle: CaseObstacle | undefined;
}

/** The money that a case is about. */
export function amountOf(row: CaseRow, wallet: Wallet | undefined): Micros {
  if (row.kind === 'wallet_suspended') return wallet?.shortfall ?? micros(0n);
  if (row.kind === 'kept') return restOf(row);
  return microsFromRow(row.refund_micros ?? row.movement_micros ?? row.payment_micros);
}

function restOf(row: CaseRow): Micros {
  const rest = row.payment_micros - row.refunded_micros - row.disputed_micros;
  return micros(rest > 0n ? rest : 0n);
}

/**
 * What an act would do to the books. The same function decides whether the act is possible when it is done. `payable`: rounds down
 * to whole coins of the currency, because the processor pays nothing smaller.
 */
export function effectOf(
  row: CaseRow,
  act: CaseAct,
  { wallet, payable }: { readonly wallet: Wallet | undefined; readonly payable: (amount: Micros) => Micros },
): CaseEffect {
  const amount = act === 'pay_back' ? payable(restOf(row)) : amountOf(row, wallet);
  const entries = entriesOf(row, act, amount, wallet);
  const before = wallet && standingOf(wallet);
  return {
    act,
    amount,
    entries,
    paidBack: act === 'pay_back' ? amount : undefined,
    before,
    after: before && afterAll(before, entries, act),
    obstacle: obstacleTo(row, act, { amount, entries, wallet }),
  };
}

function standingOf({ balance, shortfall, isSuspended }: Wallet): Standing {
  return { balance, shortfall, isSuspended };
}

function entriesOf(row: CaseRow, act: CaseAct, amount: Micros, wallet: Wallet | undefined): readonly PlannedEntry[] {
  switch (act) {
    case 'credit':
      return [{ kind: 'top_up', debit: 'processor', credit: 'wallet', amount }];
    case 'release':
      return row.refund_booked_as === 'set_aside'
        ? [{ kind: 'refund_released', debit: 'outgoing', credit: 'wallet', amount }]
        : [];
    case 'mark_paid':
      if (row.refund_booked_as === 'set_aside') {
        return [{ kind: 'refund_paid', debit: 'outgoing', credit: 'processor', amount }];
      }
      return row.payment_state === 'credited' ? takenFrom(wallet, 'refund', amount) : [];
    case 'book':
      if (row.kind === 'refund_not_taken') return takenFrom(wallet, 'refund', amount);
      if (row.kind === 'dispute_not_booked' && row.is_reinstated === false)
        return takenFrom(wallet, 'claw_back', amount);
      return [{ kind: 'funds_reinstated', debit: 'processor', credit: 'wallet', amount }];
    case 'recover':
      return amount === 0n ? [] : [{ kind: 'recovery', debit: 'wallet', credit: 'receivable', amount }];
    case 'write_off':
      return amount === 0n ? [] : [{ kind: 'write_off', debit: 'loss', credit: 'receivable', amount }];
    case 'pay_back': // A kept payment is in no wallet.
    case 'close':
      return [];
    default:
      return unreachable(act);
  }
}

/** Returns the entries that `ledger.take_back` makes: it takes what the balance has, and the rest is owed. */
function takenFrom(wallet: Wallet | undefined, kind: 'refund' | 'claw_back', amount: Micros): readonly PlannedEntry[] {
  const balance = wallet?.balance ?? 0n;
  const there = micros(amount < balance ? amount : balance);
  const owed = micros(amount - there);
  return [
    ...(there === 0n ? [] : [{ kind, debit: 'wallet', credit: 'processor', amount: there } as const]),
    ...(owed === 0n
      ? []
      : [{ kind: `${kind}_receivable`, debit: 'receivable', credit: 'processor', amount: owed } as const]),
  ];
}

function afterAll(before: Standing, entries: readonly PlannedEntry[], act: CaseAct): Standing {
  let balance: bigint = before.balance;
  let shortfall: bigint = before.shortfall;
  for (const { debit, credit, amount } of entries) {
    if (debit === 'wallet') balance -= amount;
    if (credit === 'wallet') balance += amount;
    if (debit === 'receivable') shortfall += amount;
    if (credit === 'receivable') shortfall -= amount;
  }
  const isLifted = act === 'recover' || act === 'write_off';
  const isSuspended = !isLifted && (before.isSuspended || shortfall > before.shortfall);
  return {
    balance: microsSumFromRow(balance < 0n ? 0n : balance),
    shortfall: microsSumFromRow(shortfall),
    isSuspended,
  };
}

interface Planned {
  readonly amount: Micros;
  readonly entries: readonly PlannedEntry[];
  readonly wallet: Wallet | undefined;
}

function obstacleTo(row: CaseRow, act: CaseAct, { amount, entries, wallet }: Planned): CaseObstacle | undefined {
  if (act === 'close') return undefined;
  if (act === 'pay_back') return amount === 0n ? 'nothing_left' : undefined;
  if (entries.length === 0 && act !== 'recover' && act !== 'write_off') return undefined;
  if (wallet === undefined) return 'no_wallet';
  if (act === 'credit' && row.currency !== wallet.currency) return 'currency';
  // The ledger credits a payment as it came. A part of one would be a payment that nobody made.
  if (act === 'credit' && restOf(row) !== row.payment_micros) return 'part_went_back';
  if (act === 'recover' && wallet.available < wallet.shortfall) return 'too_little';
  if ((act === 'recover' || act === 'write_off') && !wallet.isSuspended) return 'nothing_owed';
  const comesIn = entries.reduce((sum, one) => sum + (one.credit === 'wallet' ? one.amount : 0n), 0n);
  return wallet.balance + comesIn > MICROS_MAX ? 'too_much' : undefined;
}
