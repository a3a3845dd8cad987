import type { Queryable } from '#db/pool/pool.ts';
import type { CaseId, PaymentId, RefundId } from '#kernel/values/ids.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { Repeated } from '#operator/acts/act.ts';
import type { NoteMoney } from '#operator/acts/moving-money.ts';
import type { CaseAct, CaseEffect } from '#payments/cases/effects.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { type NotSolved, type Solved, solveCase } from '#payments/solve-case.ts';

/** What a person has decided about a case of a payment. */
export interface CaseSolution {
  readonly caseId: CaseId;
  readonly act: CaseAct;
  readonly paymentId: PaymentId;
}

export interface CaseGround {
  /** The payment processor. It is undefined if none is configured. */
  readonly processor: Processor | undefined;
  readonly tellOfPayment: TellOfPayment | undefined;
}

type CaseRefusal = Refusal<'NOT_FOUND' | 'CONFLICT' | 'BAD_REQUEST'>;

/** Solves a case in the transaction of the act. Returns the refunds to ask for after the commit. */
export async function runSolution(
  tx: Queryable,
  ground: CaseGround = { processor: undefined, tellOfPayment: undefined },
  solution: CaseSolution,
  note: NoteMoney,
): Promise<readonly RefundId[] | Repeated<readonly RefundId[]> | CaseRefusal> {
  const solved = await solveCase(tx, ground, solution);
  if (solved === 'repeated') return new Repeated([]);
  if (typeof solved === 'string') return caseRefusal(solved);
  note(changedBy(solved));
  return solved.refundIds;
}

/**
 * Returns what the audit trail and the limits need: the case, and the wallet before and after. What is recovered was
 * the service's already.
 */
function changedBy({ row, effect }: Solved) {
  const { act, amount, before, after, entries } = effect;
  return {
    amount: act === 'recover' ? undefined : amount,
    before: { case: row.kind, subject: row.subject, ...factsOf(before) },
    after: { solvedBy: act, currency: row.currency, entries, ...factsOf(after) },
  };
}

function factsOf(wallet: CaseEffect['before']) {
  if (wallet === undefined) return {};
  return { balanceMicros: wallet.balance, shortfallMicros: wallet.shortfall, isSuspended: wallet.isSuspended };
}

/** Why nothing was done. */
const NOT_SOLVED: Readonly<Record<Exclude<NotSolved, 'no_case'>, string>> = {
  no_wallet: 'The wallet does not exist. Open it first, or choose another act.',
  currency: 'The payment is in another currency than the wallet. Pay it back.',
  part_went_back: 'A part of the payment went back. Pay the rest back.',
  nothing_left: 'Nothing is left that the payment processor could pay back.',
  too_much: 'The balance would exceed the largest possible amount.',
  too_little: 'The available balance does not cover what is owed. Write it off, or wait.',
  nothing_owed: 'The wallet is no longer suspended.',
  other_act: 'This case was solved in another way before.',
  not_for_this: 'This act does not solve this kind of case.',
  other_processor: 'The payment processor that is configured did not take this payment.',
};

export function caseRefusal(why: NotSolved): CaseRefusal {
  if (why === 'no_case') {
    return refuse('NOT_FOUND', 'There is no such checkout, payment, refund, dispute or case.');
  }
  if (why === 'not_for_this') return refuse('BAD_REQUEST', NOT_SOLVED[why], { param: 'act' });
  return refuse('CONFLICT', NOT_SOLVED[why]);
}
