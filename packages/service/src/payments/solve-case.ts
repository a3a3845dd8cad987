import type { Queryable } from '#db/pool/pool.ts';
import { assert, unreachable } from '#kernel/faults/assert.ts';
import type { CaseId, RefundId } from '#kernel/values/ids.ts';
import { type Micros, microsFromRow } from '#kernel/values/micros.ts';
import { createFunding } from '#ledger/funding/funding.ts';
import { createWallets } from '#ledger/wallet/wallet.ts';
import { wholeUnits } from '#payments/processor/amounts.ts';
import { ACTS_OF, type CaseAct, type CaseEffect, type CaseObstacle, effectOf } from '#payments/cases/effects.ts';
import {
  bookedMovement,
  type CaseRow,
  closeCase,
  closeSuspensions,
  creditKept,
  selectCases,
} from '#payments/cases/queries.ts';
import type { TellOfPayment } from '#payments/booking/news.ts';
import type { Processor } from '#payments/processor/processor.ts';
import { lockPaidCheckouts, selectCheckout, updateRefund } from '#payments/records/queries.ts';
import { prepareOne } from '#payments/refunds/plan.ts';
import { noteSuspension } from '#payments/cases/suspension.ts';

/**
 * With `other_act`, it was solved in another way before. With `not_for_this`, the act does not solve this kind of case.
 */
export type NotSolved = CaseObstacle | 'no_case' | 'other_act' | 'not_for_this' | 'other_processor';

export interface Solved {
  readonly effect: CaseEffect;
  /** The refunds that the processor is to be asked for after the commit. */
  readonly refundIds: readonly RefundId[];
  readonly row: CaseRow;
}

interface SolveOptions {
  /** The payment processor. It is undefined if none is configured: then nothing can be paid back. */
  readonly processor: Processor | undefined;
  readonly tellOfPayment: TellOfPayment | undefined;
}

function payableBy(processor: Pick<Processor, 'amountsIn'> | undefined, currency: string): (amount: Micros) => Micros {
  return (amount) => (processor === undefined ? amount : wholeUnits(amount, processor.amountsIn(currency)));
}

/**
 * Solves a case in the caller's transaction. Its id is the idempotency key: a case is solved once, and `repeated` means that it
 * was solved by this act before. A refusal must roll the transaction back.
 */
export async function solveCase(
  tx: Queryable,
  { processor, tellOfPayment }: SolveOptions,
  { caseId, act }: { readonly caseId: CaseId; readonly act: CaseAct },
): Promise<Solved | 'repeated' | NotSolved> {
  const [found] = await selectCases(tx, { caseId });
  if (found === undefined) return 'no_case';
  // The locks that every booking of a payment takes. The case is read again below them.
  await lockPaidCheckouts(tx, { appId: found.app_id, userId: found.user_id });
  const [row = found] = await selectCases(tx, { caseId });
  if (row.closed_at !== null) return row.closed_as === act ? 'repeated' : 'other_act';
  if (!ACTS_OF[row.kind].includes(act)) return 'not_for_this';
  if (act === 'pay_back' && row.processor !== processor?.name) return 'other_processor';
  // Locked, so that the act books what it is judged by.
  const wallet = await createWallets(tx).lock(row.app_id, row.user_id);
  const effect = effectOf(row, act, { wallet, payable: payableBy(processor, row.currency) });
  if (effect.obstacle !== undefined) return effect.obstacle;
  await closeCase(tx, caseId, act);
  if (act === 'pay_back' && processor !== undefined) return payBack(tx, processor, { row, effect });
  const outcome = await book(tx, row, effect);
  if (outcome !== 'booked' && outcome !== 'repeated') return outcome;
  if (outcome === 'booked' && effect.after !== undefined) {
    const booked = await createWallets(tx).find(row.app_id, row.user_id);
    const isAsShown = booked?.balance === effect.after.balance && booked.shortfall === effect.after.shortfall;
    assert(isAsShown, 'an act books what its preview shows');
  }
  if (act === 'credit') await tellOfCredit(tx, row, tellOfPayment);
  return { effect, refundIds: [], row };
}

interface Decided {
  readonly row: CaseRow;
  readonly effect: CaseEffect;
}

async function payBack(tx: Queryable, processor: Processor, { row, effect }: Decided): Promise<Solved | NotSolved> {
  const { app_id: appId, user_id: userId, payment_id: paymentId } = row;
  const request = { appId, userId, paymentId, amount: effect.amount, key: `payment ${row.case_id}` };
  const refundIds = await prepareOne(tx, processor, request);
  return typeof refundIds === 'string' ? 'nothing_left' : { effect, refundIds, row };
}

type Booked = 'booked' | 'repeated' | NotSolved;

async function book(tx: Queryable, row: CaseRow, { act, amount }: CaseEffect): Promise<Booked> {
  const wallet = { appId: row.app_id, userId: row.user_id };
  switch (act) {
    case 'credit':
      await creditKept(tx, row.payment_id);
      return outcomeOf(await createFunding(tx).credit({ ...wallet, kind: 'top_up', amount, key: row.payment_id }));
    case 'book':
      return bookLate(tx, row, amount);
    case 'release':
      return endRefund(tx, row, 'declined');
    case 'mark_paid':
      return endRefund(tx, row, 'paid');
    case 'recover':
    case 'write_off': {
      const done = await createFunding(tx).reinstate({ ...wallet, writesOff: act === 'write_off' });
      if (done !== 'reinstated') return done === 'shortfall' ? 'too_little' : done;
      await closeSuspensions(tx, wallet);
      return 'booked';
    }
    case 'pay_back':
    case 'close':
      return 'booked';
    default:
      return unreachable(act);
  }
}

/** Ends a refund that the processor does not know, as the operator has found it there. */
async function endRefund(tx: Queryable, row: CaseRow, state: 'paid' | 'declined'): Promise<Booked> {
  const wallet = { appId: row.app_id, userId: row.user_id };
  if (row.refund_id === null || row.refund_state !== 'asked') return 'other_act';
  const refund = { refund_id: row.refund_id, processor_refund: row.processor_refund };
  let bookedAs = row.refund_booked_as;
  let outcome: Booked = 'booked';
  if (bookedAs === 'set_aside') {
    const kind = state === 'paid' ? 'refund_paid' : 'refund_released';
    outcome = outcomeOf(await createFunding(tx).endSetAside({ ...wallet, kind, key: row.subject }));
    if (outcome !== 'booked' && outcome !== 'repeated') return outcome;
  } else if (state === 'paid' && row.payment_state === 'credited') {
    outcome = await takeLate(tx, row, { kind: 'refund', key: `payment ${row.subject}` });
    if (outcome !== 'booked' && outcome !== 'repeated') return outcome;
    bookedAs = 'taken';
  }
  await updateRefund(tx, { ...refund, state, booked_as: bookedAs });
  return outcome;
}

/** Books what the wallet could not follow when it happened. */
async function bookLate(tx: Queryable, row: CaseRow, amount: Micros): Promise<Booked> {
  const wallet = { appId: row.app_id, userId: row.user_id };
  if (row.kind === 'refund_not_taken' && row.refund_id !== null) {
    const taken = await takeLate(tx, row, { kind: 'refund', key: `payment ${row.subject}` });
    if (taken !== 'booked') return taken;
    const refund = { refund_id: row.refund_id, processor_refund: row.processor_refund };
    await updateRefund(tx, { ...refund, state: row.refund_state ?? 'paid', booked_as: 'taken' });
    return taken;
  }
  if (row.kind === 'refund_not_returned') {
    const credit = { ...wallet, kind: 'funds_reinstated', amount, key: `payment ${row.subject}` } as const;
    return outcomeOf(await createFunding(tx).credit(credit));
  }
  const key = `${row.processor} ${row.processor_movement ?? ''}`;
  const outcome =
    row.is_reinstated === true
      ? outcomeOf(await createFunding(tx).credit({ ...wallet, kind: 'funds_reinstated', amount, key }))
      : await takeLate(tx, row, { kind: 'claw_back', key });
  if (outcome === 'booked') await bookedMovement(tx, row.subject);
  return outcome;
}

async function takeLate(
  tx: Queryable,
  row: CaseRow,
  { kind, key }: { readonly kind: 'refund' | 'claw_back'; readonly key: string },
): Promise<Booked> {
  const amount = microsFromRow(row.refund_micros ?? row.movement_micros ?? 0n);
  const { app_id: appId, user_id: userId } = row;
  const outcome = outcomeOf(await createFunding(tx).takeBack({ appId, userId, kind, amount, key }));
  if (outcome === 'booked') await noteSuspension(tx, row, row.subject);
  return outcome;
}

/** What the ledger answered. The checks before it leave only `booked`; the others are what it says when it disagrees. */
function outcomeOf(outcome: string): Booked {
  if (outcome === 'booked' || outcome === 'repeated' || outcome === 'no_wallet' || outcome === 'too_much')
    return outcome;
  return 'other_act';
}

/** The payer and the owner of the wallet get the mail that they would have got at once. */
async function tellOfCredit(tx: Queryable, row: CaseRow, tellOfPayment: TellOfPayment | undefined): Promise<void> {
  const checkout = await selectCheckout(tx, row.checkout_id);
  await tellOfPayment?.(tx, {
    kind: 'paid',
    appId: row.app_id,
    userId: row.user_id,
    payer: checkout?.identity_id ?? undefined,
    amount: microsFromRow(row.payment_micros),
    currency: row.currency,
    reference: row.payment_id,
  });
}
