import type { Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import type { AppId, EndUserId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { answerOf } from '#ledger/statements/function-answer.ts';

/**
 * Money that comes into a wallet or goes out of it, other than by calls. A `key` counts once for each wallet and kind.
 */
export interface Movement<Kind> {
  readonly appId: AppId;
  readonly userId: EndUserId;
  readonly kind: Kind;
  /** The amount, which is at least 1. */
  readonly amount: Micros;
  readonly key: string;
}

export type CreditKind = 'top_up' | 'contract_credit' | 'funds_reinstated';
export type TakeBackKind = 'refund' | 'claw_back';
/**
 * With `repeated`, it was booked before, with this amount. With `conflict`, the key stood for another amount. Neither
 * books anything.
 */
export type TakeBackOutcome = 'booked' | 'repeated' | 'conflict' | 'no_wallet';
/** With `too_much`, the balance would pass the largest amount there is. */
export type CreditOutcome = TakeBackOutcome | 'too_much';
/** With `changed`, the wallet has another amount than was given up, or calls hold some of it. */
export type GiveUpOutcome = 'booked' | 'changed' | 'no_wallet';
export type ReinstateOutcome = 'reinstated' | 'shortfall' | 'no_wallet';

export function insertCredit(db: Queryable, credit: Movement<CreditKind>): Promise<CreditOutcome> {
  return answerOf<CreditOutcome>(db, `select ledger.credit($1, $2, $3, $4, $5) as answer`, valuesOf(credit));
}

export function insertTakeBack(db: Queryable, taken: Movement<TakeBackKind>): Promise<TakeBackOutcome> {
  return answerOf<TakeBackOutcome>(db, `select ledger.take_back($1, $2, $3, $4, $5) as answer`, valuesOf(taken));
}

/** With `too_little`, the wallet has less money that no call holds than is asked for. */
export type SetAsideOutcome = 'booked' | 'repeated' | 'conflict' | 'too_little' | 'suspended' | 'no_wallet';
/** With `conflict`, it ended the other way before. With `nothing`, no money was set aside under the key. */
export type EndSetAsideOutcome = CreditOutcome | 'nothing';

export function insertSetAside(
  db: Queryable,
  { appId, userId, amount, key }: Omit<Movement<never>, 'kind'>,
): Promise<SetAsideOutcome> {
  const values = [appId, userId, moved(amount), key];
  return answerOf<SetAsideOutcome>(db, `select ledger.set_aside($1, $2, $3, $4) as answer`, values);
}

export function insertEndOfSetAside(
  db: Queryable,
  { appId, userId, kind, key }: Omit<Movement<'refund_paid' | 'refund_released'>, 'amount'>,
): Promise<EndSetAsideOutcome> {
  const values = [appId, userId, kind, key];
  return answerOf<EndSetAsideOutcome>(db, `select ledger.end_set_aside($1, $2, $3, $4) as answer`, values);
}

export function insertGivenUp(
  db: Queryable,
  { appId, userId, amount }: Pick<Movement<never>, 'appId' | 'userId' | 'amount'>,
): Promise<GiveUpOutcome> {
  return answerOf<GiveUpOutcome>(db, `select ledger.give_up($1, $2, $3) as answer`, [appId, userId, moved(amount)]);
}

export function reinstateWallet(
  db: Queryable,
  wallet: { readonly appId: AppId; readonly userId: EndUserId; readonly writesOff: boolean },
): Promise<ReinstateOutcome> {
  const values = [wallet.appId, wallet.userId, wallet.writesOff];
  return answerOf<ReinstateOutcome>(db, `select ledger.reinstate($1, $2, $3) as answer`, values);
}

function valuesOf({ appId, userId, kind, amount, key }: Movement<string>): readonly unknown[] {
  return [appId, userId, kind, moved(amount), key];
}

function moved(amount: Micros): Micros {
  assert(amount > 0n, 'money that moves is more than none');
  return amount;
}
