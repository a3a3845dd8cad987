import { selectAppointed } from '#developers/operators/appointment-queries.ts';
import { selectSecondPersons } from '#developers/operators/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { APPOINTED_MS, isWithinAct, type MoneyLimits } from '#operator/acts/money-limits.ts';
import type { PendingAct } from '#operator/acts/pending-act.ts';

/** Tells operators by mail that an act waits. Call it in the transaction that keeps the act. */
export type TellOfPending = (tx: Queryable, pending: PendingAct, emails: readonly string[]) => Promise<void>;

const TOLD_MAX = 20;

/**
 * Returns who could confirm an act. What they have moved today is not looked at. `isAnybody`: somebody could before the act expires, also one who
 * was appointed too lately to do it now. `emails`: the mail addresses of those who could do it now.
 */
export async function secondPersonsFor(tx: Queryable, limits: MoneyLimits, pending: PendingAct) {
  const { action, amount, requestedBy, requestedEmail } = pending;
  const operators = await selectSecondPersons(tx);
  const appointed = await selectAppointed(
    tx,
    operators.map((one) => one.account_id),
    APPOINTED_MS,
  );
  const others = operators
    .filter((one) => one.account_id !== requestedBy && personOf(one.email) !== personOf(requestedEmail))
    .filter((one) => isWithinAct(limits, one.operator_role, { action, amount }));
  const now = others.filter((one) => !appointed.includes(one.account_id));
  return { isAnybody: others.length > 0, emails: now.slice(0, TOLD_MAX).map(({ email }) => email) };
}

/** One person may have several accounts: an address with a tag (`anna+ops@`) reaches the mailbox of the address without it. */
export function personOf(email: string): string {
  const [, name = '', host = ''] = /^([^+@]*)[^@]*@(.*)$/.exec(email.toLowerCase()) ?? [];
  return `${name}@${host}`;
}
