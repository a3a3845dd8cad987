import type { Movement, Subject } from '#payments/processor/movement.ts';
import { dayOf } from '#reconciliation/files/period.ts';

/** Something that our books have with a processor. */
export interface Booked {
  readonly kind: 'payment' | 'refund' | 'movement';
  readonly processorId: string;
  readonly paymentId: string;
  readonly amount: bigint;
  readonly currency: string;
  readonly atMs: number;
  readonly state: string;
}

/** The kind `day` alone leaves a report clean, because a payment of midnight is booked here a moment later. */
export type DifferenceKind =
  | 'not_in_books'
  | 'not_in_report'
  | 'amount'
  | 'currency'
  | 'day'
  | 'state'
  | 'filed_before';

/** One movement that is not the same on both sides. Amounts are micros, negative for money that left. */
export interface Difference {
  readonly kind: DifferenceKind;
  readonly subject: Subject;
  readonly line: number | undefined;
  readonly transaction: string | undefined;
  /** The processor's id of the payment, refund or movement. */
  readonly processorId: string | undefined;
  readonly paymentId: string | undefined;
  readonly there: Side | undefined;
  readonly here: Side | undefined;
  /** What the processor has more than we have. Undefined in two currencies. */
  readonly difference: bigint | undefined;
}

interface Side {
  readonly amount: bigint;
  readonly currency: string;
  readonly day: string;
}

/** The kind of row that our books have for a movement, and the id by which it is found there. */
export function nameOf(
  movement: Movement,
): { readonly kind: Booked['kind']; readonly id: string | undefined } | undefined {
  switch (movement.subject) {
    case undefined:
      return undefined;
    case 'payment':
      return { kind: 'payment', id: movement.payment };
    case 'refund':
    case 'failed refund':
      return { kind: 'refund', id: movement.source };
    case 'dispute':
    case 'dispute returned':
      return { kind: 'movement', id: movement.transaction };
  }
}

export function keyOf(kind: Booked['kind'], id: string): string {
  return `${kind} ${id}`;
}

const LEAVES: ReadonlySet<Subject> = new Set<Subject>(['refund', 'dispute']);
/** The state that our row must have. A refund may be under way here when the processor has moved it already. */
const STATES: Readonly<Record<Subject, readonly string[]>> = {
  payment: ['credited', 'kept'],
  refund: ['asked', 'paid', 'declined'],
  'failed refund': ['declined'],
  dispute: ['taken'],
  'dispute returned': ['returned'],
};

/** What was found. `matched`: movements that both sides have, by transaction. */
interface Compared {
  readonly differences: readonly Difference[];
  readonly matched: ReadonlyMap<string, string>;
  /** Movements of other software with the same account. */
  readonly foreign: number;
}

interface Sides {
  readonly movements: readonly Movement[];
  /** What the books have, by `keyOf`: those that the report names, and all of the period. */
  readonly booked: ReadonlyMap<string, Booked>;
  /** What was booked in the period. */
  readonly ofPeriod: readonly Booked[];
  /** Transactions that an earlier report had, and what each was about. */
  readonly filed: ReadonlyMap<string, string>;
}

/** Compares the movements of a period with our books. Every movement of a wallet's money is on both sides, or in the result. */
export function compare({ movements, booked, ofPeriod, filed }: Sides): Compared {
  const differences: Difference[] = [];
  const matched = new Map<string, string>();
  const seen = new Set<string>(filed.values());
  const filedKeys = new Set<string>(filed.values());
  const counted = new Set<string>();
  let foreign = 0;
  for (const movement of movements) {
    const name = nameOf(movement);
    if (name === undefined) continue;
    const key = name.id === undefined ? undefined : keyOf(name.kind, name.id);
    const here = key === undefined ? undefined : booked.get(key);
    if (here === undefined && movement.isOurs === false) {
      foreign += 1;
      continue;
    }
    const isFiled = filed.has(movement.transaction);
    // A payment or refund that moved a second time, in this report or in an earlier one, is in our books once. A refund that
    // fails has the id of the refund.
    const step = `${movement.subject} ${key}`;
    const isSecond =
      counted.has(step) || (!isFiled && movement.subject !== 'failed refund' && filedKeys.has(key ?? ''));
    counted.add(step);
    if (key !== undefined) seen.add(key);
    const kind = isFiled ? 'filed_before' : isSecond ? 'not_in_books' : differs(movement, here);
    if (key !== undefined && here !== undefined && !isSecond) matched.set(movement.transaction, key);
    if (kind !== undefined) differences.push(differenceOf(kind, movement, here));
  }
  for (const here of ofPeriod) {
    if (!seen.has(keyOf(here.kind, here.processorId))) differences.push(missing(here));
  }
  return { differences, matched, foreign };
}

/** The first thing in which a movement is not as we booked it. */
function differs(movement: Movement, here: Booked | undefined): DifferenceKind | undefined {
  if (here === undefined || movement.subject === undefined) return 'not_in_books';
  if (!STATES[movement.subject].includes(here.state)) return 'state';
  if (movement.paid.currency !== here.currency) return 'currency';
  if (movement.paid.amount !== here.amount) return 'amount';
  // A failed refund keeps the day on which it was first paid.
  const isDated = movement.subject !== 'failed refund' && !(movement.subject === 'refund' && here.state !== 'paid');
  return isDated && dayOf(movement.createdMs) !== dayOf(here.atMs) ? 'day' : undefined;
}

function differenceOf(kind: DifferenceKind, movement: Movement, here: Booked | undefined): Difference {
  const subject = movement.subject ?? 'payment';
  const there = { ...movement.paid, amount: signed(subject, movement.paid.amount), day: dayOf(movement.createdMs) };
  const ours =
    here === undefined || kind === 'state' || kind === 'not_in_books'
      ? undefined
      : { amount: signed(subject, here.amount), currency: here.currency, day: dayOf(here.atMs) };
  const isSame = ours === undefined || ours.currency === there.currency;
  return {
    kind,
    subject,
    line: movement.line,
    transaction: movement.transaction,
    processorId: nameOf(movement)?.id,
    paymentId: here?.paymentId,
    there,
    here: ours,
    difference: kind === 'filed_before' ? there.amount : isSame ? there.amount - (ours?.amount ?? 0n) : undefined,
  };
}

function missing(here: Booked): Difference {
  const subject =
    here.kind === 'payment'
      ? 'payment'
      : here.kind === 'refund'
        ? 'refund'
        : here.state === 'taken'
          ? 'dispute'
          : 'dispute returned';
  const amount = signed(subject, here.amount);
  return {
    kind: 'not_in_report',
    subject,
    line: undefined,
    transaction: undefined,
    processorId: here.processorId,
    paymentId: here.paymentId,
    there: undefined,
    here: { amount, currency: here.currency, day: dayOf(here.atMs) },
    difference: -amount,
  };
}

function signed(subject: Subject, amount: bigint): bigint {
  return LEAVES.has(subject) ? -amount : amount;
}
