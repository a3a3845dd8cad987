import type { AuditEntry } from '#audit/entry.ts';
import { isReleasedSince } from '#connections/queries.ts';
import { lockPaidCheckouts } from '#payments/records/queries.ts';
import type { Pool, Queryable } from '#db/pool/pool.ts';
import { assert } from '#kernel/faults/assert.ts';
import { newPendingActId } from '#kernel/values/ids.ts';
import type { Micros } from '#kernel/values/micros.ts';
import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { lineOf, type NamedAct, type Recorded, recorded, Repeated } from '#operator/acts/act.ts';
import {
  countMovement,
  judgeMovement,
  judgeTwoPersons,
  type MoneyLimits,
  needsSecondPerson,
} from '#operator/acts/money-limits.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { secondPersonsFor, type TellOfPending } from '#operator/acts/second-persons.ts';
import { beginAct, insertPending, selectWaiting, undoAct } from '#operator/acts/queries.ts';

/** How an act is done once more, after a second person has confirmed it. */
interface Again {
  /** The act as JSON of a `MoneyAct`. */
  readonly act: string;
  /** The idempotency key of the act, or empty. With the action and subject it names one act. */
  readonly key: string;
}

interface MovingAct extends NamedAct {
  readonly again: Again | undefined;
  readonly tellOfPending: TellOfPending | undefined;
}

export interface MoneyChanged extends Pick<AuditEntry, 'before' | 'after'> {
  /** What the act moves or gives up. Undefined or zero: nothing, and so nothing bounds it. */
  readonly amount?: Micros | undefined;
}

export type NoteMoney = (changed: MoneyChanged) => void;

/**
 * Locks what an act on a wallet needs, in the order of everybody else: its payments, then its owner. Returns true if the wallet was
 * released since the moment, or since the transaction began.
 */
export async function isReleasedUnderLocks(
  tx: Queryable,
  { appId, userId }: { readonly appId: string; readonly userId: string },
  since?: Date,
): Promise<boolean> {
  await lockPaidCheckouts(tx, { appId, userId });
  return isReleasedSince(tx, { appId, userId }, since);
}

const LIFETIME_MS = 24 * 60 * 60 * 1_000;

/**
 * Does one act that moves money, and records it in the audit trail, within the limits of the operator who acts. Beyond them it
 * is refused (403) and nothing moves. An act that needs a second person is kept and answered as a `PendingAct`, and moves
 * nothing either (CP-07). Like `audited` otherwise. `run` is called once, and what it did is rolled back if the act waits; so
 * it does nothing outside of the transaction.
 */
export function movingMoney<Result>(
  pool: Pool,
  act: MovingAct,
  run: (tx: Queryable, note: NoteMoney) => Promise<Result | Repeated<Result>>,
): Promise<Result | PendingAct | Refusal<'CONFLICT' | 'FORBIDDEN'>> {
  const { limits } = act;
  return recorded<Result | PendingAct, Refusal<'CONFLICT' | 'FORBIDDEN'>>(pool, async (tx) => {
    const [appId = '', userId = ''] = act.subject.split(' ');
    // From here on a release or a deletion waits, and then finds what was booked, or the act that waits.
    if (await isReleasedUnderLocks(tx, { appId, userId })) return refuse('CONFLICT', RELEASED_NOW);
    let changed: MoneyChanged = {};
    if (limits !== undefined) await beginAct(tx);
    const result = await run(tx, (said) => (changed = said));
    const { amount = 0n } = changed;
    const lines = [lineOf(act, changed)];
    // A repeat moves nothing, so it gets its answer also when the sum of the day is used up.
    const isOver = result instanceof Repeated || result instanceof Refusal;
    if (limits === undefined || isOver || amount === 0n) return { result, lines };
    return judged(tx, limits, act, changed, { result, lines });
  });
}

async function judged<Result>(
  tx: Queryable,
  limits: MoneyLimits,
  act: MovingAct,
  changed: MoneyChanged,
  done: Recorded<Result>,
): Promise<Recorded<Result | PendingAct> | Refusal<'CONFLICT' | 'FORBIDDEN'>> {
  const { amount } = changed;
  assert(amount !== undefined, 'an act that moves nothing is not judged');
  const moving = { accountId: act.actor, action: act.action, amount };
  const refused = await judgeMovement(tx, limits, moving);
  if (refused !== undefined) return refused;
  if (needsSecondPerson(limits, amount)) {
    const tooNew = await judgeTwoPersons(tx, act.actor);
    if (tooNew !== undefined) return tooNew;
    await undoAct(tx);
    return keepForSecond(tx, act, { ...changed, amount });
  }
  await countMovement(tx, moving);
  return done;
}

/** Keeps an act for a second person. The same act, asked for again, is the one that waits already. */
async function keepForSecond(
  tx: Queryable,
  act: MovingAct,
  { amount, before, after }: MoneyChanged & { readonly amount: Micros },
): Promise<Recorded<PendingAct> | Refusal<'CONFLICT' | 'FORBIDDEN'>> {
  const { action, subject, again, actor, actorName, limits, tellOfPending } = act;
  if (again === undefined || act.reason === undefined) {
    return refuse('FORBIDDEN', 'An act of this amount needs a second person and a reason. Nothing was changed.');
  }
  const kept = await insertPending(tx, {
    pendingId: newPendingActId(),
    action,
    subject,
    ...again,
    amount,
    reason: act.reason,
    before,
    after,
    requestedBy: actor,
    requestedEmail: actorName ?? '',
    lifetimeMs: LIFETIME_MS,
  });
  if (kept === undefined) {
    const waiting = await selectWaiting(tx, { action, subject, key: again.key });
    if (waiting === undefined || waiting.amount_micros !== amount)
      return refuse('CONFLICT', OTHER_WAITS, { param: 'idempotencyKey' });
    return { result: new Repeated(new PendingAct(waiting)), lines: [] };
  }
  const pending = new PendingAct(kept);
  // Once: an act that waits already does not get here.
  if (limits !== undefined) {
    const { isAnybody, emails } = await secondPersonsFor(tx, limits, pending);
    if (!isAnybody) return refuse('FORBIDDEN', NOBODY_ELSE);
    await tellOfPending?.(tx, pending, emails);
  }
  const facts = { pendingId: pending.pendingId, action, amountMicros: amount };
  return { result: pending, lines: [lineOf({ ...act, action: 'pending.request' }, { after: facts })] };
}

const NOBODY_ELSE =
  'An act of this amount waits for a second person, and no other operator could confirm it. Nothing was changed. Give a second person an ' +
  'operator account whose role may do this act, or set PURSER_SECOND_PERSON_MICROS to `none` if you are alone.';
const RELEASED_NOW = 'The wallet was released from its owner at this moment. Nothing was changed. Look at it again.';
const OTHER_WAITS = 'This idempotency key waits for a second person with another amount.';
