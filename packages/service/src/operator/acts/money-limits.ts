import {
  isAtLeastOperator,
  OPERATOR_ROLES,
  operatorAccessOf,
  type OperatorRole,
} from '@purser/contract/operator-access.ts';
import { selectAppointed, selectAppointers } from '#developers/operators/appointment-queries.ts';
import { lockOperator } from '#developers/operators/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';
import { type Micros, microsSumFromRow } from '#kernel/values/micros.ts';
import { type Refusal, refuse } from '#kernel/faults/refusal.ts';
import { insertMovement, selectMoved } from '#operator/acts/queries.ts';

/** How much an operator of a role may move. If it is undefined, there is no bound. */
export interface RoleLimit {
  /** The most in one act. */
  readonly act: Micros | undefined;
  /** The most in all acts of one operator within 24 hours. */
  readonly day: Micros | undefined;
}

/** The limits in money of operators, as settings say them (CP-07, decision 72). */
export interface MoneyBounds {
  readonly ofRole: Readonly<Record<OperatorRole, RoleLimit>>;
  /** The largest credit, also of a new wallet, in every role. */
  readonly creditMost: Micros | undefined;
  /** A larger act waits for a second person. Undefined if none does. */
  readonly secondPersonAbove: Micros | undefined;
}

export interface MoneyLimits extends MoneyBounds {
  /** Writes an amount in the currency of the service, for a person. */
  readonly write: (amount: Micros) => string;
}

/** An act that moves money, and who orders or confirms it. */
interface Moving {
  readonly accountId: string;
  /** The action, as in the audit trail. */
  readonly action: string;
  readonly amount: Micros;
}

/** Why an act may not be done. It is undefined if it may. */
type Judged = Refusal<'FORBIDDEN'> | undefined;

const CREDITS: readonly string[] = ['wallet.open', 'wallet.credit'];
/** The route of each act. The second person needs the role that the route needs. */
const ROUTES: Readonly<Record<string, string>> = {
  'wallet.open': 'POST /operator/apps/{appId}/wallets',
  'wallet.credit': 'POST /operator/apps/{appId}/wallets/{userId}/credit',
  'wallet.refund': 'POST /operator/apps/{appId}/wallets/{userId}/refund',
  'wallet.clawback': 'POST /operator/apps/{appId}/wallets/{userId}/clawback',
  'wallet.reinstate': 'POST /operator/apps/{appId}/wallets/{userId}/reinstate',
  'payment.solve': 'POST /operator/payment-cases/{caseId}/solve',
};

/**
 * Refuses an act that is beyond the role or the limits of an operator. Locks their account until the transaction ends, so that acts at once
 * are judged one after the other, and reads the role as it is now: a request that was on its way when the role changed is
 * judged by the new one.
 */
export async function judgeMovement(tx: Queryable, limits: MoneyLimits | undefined, moving: Moving): Promise<Judged> {
  const role = await lockOperator(tx, moving.accountId);
  const route = ROUTES[moving.action];
  if (role === undefined || (route !== undefined && !isAtLeastOperator(role, operatorAccessOf(route).least))) {
    return refuse('FORBIDDEN', 'The role of this operator does not allow this act.');
  }
  if (limits === undefined) return undefined;
  const refused = beyondAct(limits, role, moving);
  if (refused !== undefined) return refused;
  const own = await beyondDay(tx, limits, role, moving);
  if (own !== undefined) return own;
  for (const accountId of await selectAppointers(tx, moving.accountId, APPOINTED_MS)) {
    const theirs = (await lockOperator(tx, accountId)) ?? 'admin';
    const refusal = await beyondDay(tx, limits, theirs, { ...moving, accountId });
    if (refusal !== undefined) return refuse('FORBIDDEN', `${OF_APPOINTER} ${refusal.message}`);
  }
  return undefined;
}

/**
 * Counts an act among those of the operator's last 24 hours, and of those who appointed them in that time: a session of an admin would
 * have as many limits as it makes accounts. Call it in the transaction of the act, after `judgeMovement`.
 */
export async function countMovement(tx: Queryable, { accountId, amount }: Moving): Promise<void> {
  const counting = [accountId, ...(await selectAppointers(tx, accountId, APPOINTED_MS))];
  for (const one of counting) await insertMovement(tx, one, amount);
}

const OF_APPOINTER = 'For 24 hours, this also counts for the operator who made or changed your account.';

/** Returns true if somebody else has to confirm an act of this amount. */
export function needsSecondPerson({ secondPersonAbove }: MoneyLimits, amount: Micros): boolean {
  return secondPersonAbove !== undefined && amount > secondPersonAbove;
}

/**
 * How long an operator whom another one has made or changed is no second person. A session of an operator lasts 12 hours, so a stolen
 * one of an admin does not last until a second account that was made with it counts.
 */
export const APPOINTED_MS = 24 * 60 * 60 * 1_000;

/** Refuses an act for two persons if one of them was appointed too lately. `other`: the person who asked for it. */
export async function judgeTwoPersons(tx: Queryable, actor: string, other?: string): Promise<Judged> {
  const persons = other === undefined ? [actor] : [actor, other];
  const [found] = await selectAppointed(tx, persons, APPOINTED_MS);
  if (found === undefined) return undefined;
  const who = found === other ? 'The account that asked for this act' : 'Your account';
  return refuse(
    'FORBIDDEN',
    `${who} was made, changed or enabled by another operator less than 24 hours ago. Until then it takes no part in acts that need two persons. Nothing was changed.`,
  );
}

/** Whether an operator of this role may do or confirm one act of this kind and amount. The sum of their day is not looked at. */
export function isWithinAct(limits: MoneyLimits, role: OperatorRole, act: Omit<Moving, 'accountId'>): boolean {
  const route = ROUTES[act.action];
  if (route !== undefined && !isAtLeastOperator(role, operatorAccessOf(route).least)) return false;
  return beyondAct(limits, role, act) === undefined;
}

function beyondAct(limits: MoneyLimits, role: OperatorRole, { action, amount }: Omit<Moving, 'accountId'>): Judged {
  const { ofRole, creditMost } = limits;
  const said = (some: Micros) => exactly(limits, some);
  if (CREDITS.includes(action) && creditMost !== undefined && amount > creditMost) {
    const message = `A credit is at most ${said(creditMost)} here. This one is ${said(amount)}. Nothing was changed.`;
    return refuse('FORBIDDEN', message);
  }
  const { act } = ofRole[role];
  if (act === undefined || amount <= act) return undefined;
  return refuse(
    'FORBIDDEN',
    `The role \`${role}\` moves at most ${said(act)} in one act. This one moves ${said(amount)}. Nothing was changed. ${whoElse(role)}`,
  );
}

/** An amount as people read it, and its micros. */
function exactly({ write }: MoneyLimits, amount: Micros): string {
  return `${write(amount)} (${amount} micros)`;
}

/** Refuses an act with which an operator would move more than their role may in 24 hours. Lock their account first. */
async function beyondDay(tx: Queryable, limits: MoneyLimits, role: OperatorRole, moving: Moving): Promise<Judged> {
  const { accountId, amount } = moving;
  const { day } = limits.ofRole[role];
  if (day === undefined) return undefined;
  const moved = await selectMoved(tx, accountId);
  if (moved + amount <= day) return undefined;
  const said = (some: Micros) => exactly(limits, some);
  return refuse(
    'FORBIDDEN',
    `An operator with the role \`${role}\` moves at most ${said(day)} in 24 hours. This one has moved ${said(microsSumFromRow(moved))}, and this act would move ${said(amount)} more. Nothing was changed. ${whoElse(role)}`,
  );
}

function whoElse(role: OperatorRole): string {
  return role === OPERATOR_ROLES.at(-1)
    ? 'The limits are a setting of the service.'
    : 'Ask an operator with a higher role.';
}
