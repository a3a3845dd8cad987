import { selectAppointed } from '#accounts/appointment-queries.ts';
import { selectSecondPersons } from '#accounts/operator-queries.ts';
import type { Queryable } from '#db/pool.ts';
import { APPOINTED_MS, isWithinAct, type MoneyLimits } from '#operator/limits.ts';
import type { PendingAct } from '#operator/pending-act.ts';

/** Tells operators by mail that an act waits. Call it in the transaction that keeps the act. */
export type TellOfPending = (tx: Queryable, pending: PendingAct, emails: readonly string[]) => Promise<void>;

const TOLD_MAX = 20;

/** The mail addresses of the operators who could confirm an act now. What they have moved today is not looked at. */
export async function secondPersonsFor(
  tx: Queryable,
  limits: MoneyLimits,
  { action, amount, requestedBy, requestedEmail }: PendingAct,
): Promise<readonly string[]> {
  const operators = await selectSecondPersons(tx);
  const appointed = await selectAppointed(
    tx,
    operators.map((one) => one.account_id),
    APPOINTED_MS,
  );
  return operators
    .filter((one) => one.account_id !== requestedBy && personOf(one.email) !== personOf(requestedEmail))
    .filter((one) => !appointed.includes(one.account_id) && isWithinAct(limits, one.operator_role, { action, amount }))
    .slice(0, TOLD_MAX)
    .map(({ email }) => email);
}

/** One person may have several accounts: an address with a tag (`anna+ops@`) reaches the mailbox of the address without it. */
export function personOf(email: string): string {
  const [, name = '', host = ''] = /^([^+@]*)[^@]*@(.*)$/.exec(email.toLowerCase()) ?? [];
  return `${name}@${host}`;
}
