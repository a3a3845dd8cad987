import { Refusal, refuse } from '#kernel/faults/refusal.ts';
import { type AskedPage, readPage } from '#kernel/values/page.ts';
import type { Wallet } from '#ledger/wallet/wallet.ts';
import { type Act, lineOf, type Recorded, recorded, Repeated } from '#operator/acts/act.ts';
import { countMovement, judgeMovement, judgeTwoPersons } from '#operator/acts/money-limits.ts';
import {
  finishMoneyAct,
  type MoneyAct,
  moneyActOf,
  type MoneyGround,
  type MoneyRefusal,
  runMoneyAct,
} from '#operator/money/money-acts.ts';
import { isReleasedUnderLocks, type MoneyChanged } from '#operator/acts/moving-money.ts';
import { PendingAct } from '#operator/acts/pending-act.ts';
import { personOf } from '#operator/acts/second-persons.ts';
import {
  lockPending,
  type PendingRow,
  selectPending,
  selectPendingActs,
  updatePending,
} from '#operator/acts/queries.ts';
import type { Queryable } from '#db/pool/pool.ts';

/** Acts that are too large for one person, and those who decide about them (CP-07, decision 72). */
export type PendingActs = ReturnType<typeof createPendingActs>;

/** An act that was done by two persons. */
interface ConfirmedAct {
  readonly act: PendingAct;
  /** The wallet. It is undefined if the act was about a payment, and its user has no wallet. */
  readonly wallet: Wallet | undefined;
}

export function createPendingActs(ground: MoneyGround) {
  const { pool } = ground;
  return {
    /**
     * Acts that wait, or with `isWaiting` false also those that were done, rejected or expired, the newest first. Pass `next` as `before` to
     * get the page after it; undefined on the last one.
     */
    list: async ({ isWaiting, ...asked }: AskedPage & { readonly isWaiting: boolean }) => {
      const { rows, next } = await readPage(
        asked,
        (page) => selectPendingActs(pool, { ...page, isWaiting }),
        (last) => last.seq,
      );
      return { acts: rows.map((row) => new PendingAct(row)), next };
    },
    find: async (pendingId: string) => {
      const row = await selectPending(pool, pendingId);
      return row && new PendingAct(row);
    },
    /**
     * Does the act, once. The second person is another than the first, and both must be within their roles and limits now. The act
     * is judged by the balance as it is now. A refusal changes nothing, and the act waits on.
     */
    confirm: async (act: Act, pendingId: string): Promise<ConfirmedAct | MoneyRefusal> => {
      const done = await recorded<Confirmed, MoneyRefusal>(pool, (tx) => confirm(tx, ground, act, pendingId));
      if (done instanceof Refusal) return done;
      const wallet = await finishMoneyAct(ground, done.money, done.toAsk);
      return wallet instanceof Refusal ? wallet : { act: done.act, wallet };
    },
    /** Ends the wait of an act, also by the person who asked for it. */
    reject: (act: Act, pendingId: string) =>
      recorded<PendingAct, MoneyRefusal>(pool, async (tx) => {
        const waiting = await lockWaiting(tx, pendingId);
        if (waiting instanceof Refusal) return waiting;
        await updatePending(tx, pendingId, { state: 'rejected', ...deciderOf(act) });
        const line = lineOf({ ...act, action: 'pending.reject', subject: pendingId }, {});
        return { result: await decided(tx, waiting), lines: [line] };
      }),
  };
}

/** A pending act as it is after its decision. */
async function decided(tx: Queryable, waiting: PendingRow): Promise<PendingAct> {
  return new PendingAct((await selectPending(tx, waiting.pending_id)) ?? waiting);
}

interface Confirmed {
  readonly act: PendingAct;
  readonly money: MoneyAct;
  readonly toAsk: Parameters<typeof finishMoneyAct>[2];
}

/** Confirms under the lock of the row. Of two confirmations at once, the second one finds the act done. */
async function confirm(
  tx: Queryable,
  ground: MoneyGround,
  act: Act,
  pendingId: string,
): Promise<Recorded<Confirmed> | MoneyRefusal> {
  const waiting = await lockWaiting(tx, pendingId);
  if (waiting instanceof Refusal) return waiting;
  const { action, subject, requested_by: requestedBy, requested_email: requestedEmail } = waiting;
  if (requestedBy === act.actor || personOf(requestedEmail) === personOf(act.actorName ?? '')) {
    return refuse('FORBIDDEN', 'You asked for this act. Somebody else has to confirm it.');
  }
  const tooNew = await judgeTwoPersons(tx, act.actor, requestedBy);
  if (tooNew !== undefined) return tooNew;
  const money = moneyActOf(waiting.act);
  if (await isReleasedUnderLocks(tx, money, waiting.requested_at)) return refuse('CONFLICT', OTHER_OWNER);
  let changed: MoneyChanged = {};
  const done = await runMoneyAct(ground, tx, money, (said) => (changed = said));
  if (done instanceof Refusal) return done;
  if (done instanceof Repeated) return refuse('CONFLICT', DONE_MEANWHILE);
  if (changed.amount !== waiting.amount_micros) return otherAmount(waiting, changed);
  const refused = await judgeBoth(tx, act, waiting, changed.amount);
  if (refused !== undefined) return refused;
  await updatePending(tx, pendingId, { state: 'done', ...deciderOf(act) });
  const asked = { ...act, actor: requestedBy, actorName: requestedEmail, from: undefined, reason: waiting.reason };
  const after = { ...changed.after, pendingId, confirmedBy: act.actorName ?? act.actor };
  return {
    result: { act: await decided(tx, waiting), money, toAsk: done },
    lines: [
      lineOf({ ...act, action: 'pending.confirm', subject: pendingId }, {}),
      lineOf({ ...asked, action, subject }, { ...changed, after }),
    ],
  };
}

/** Both persons must be allowed the act now, and it counts among the acts of both. In one order, so that two acts never wait for each other. */
async function judgeBoth(
  tx: Queryable,
  { actor, limits }: Act,
  { requested_by: requestedBy, action }: PendingRow,
  amount: NonNullable<MoneyChanged['amount']>,
): Promise<Refusal<'FORBIDDEN'> | undefined> {
  for (const accountId of [actor, requestedBy].toSorted()) {
    const moving = { accountId, action, amount };
    const refused = await judgeMovement(tx, limits, moving);
    if (refused !== undefined && accountId === actor) return refused;
    if (refused !== undefined) {
      return refuse('FORBIDDEN', `The person who asked for this act may not do it any more. ${refused.message}`);
    }
    await countMovement(tx, moving);
  }
  return undefined;
}

async function lockWaiting(tx: Queryable, pendingId: string): Promise<PendingRow | Refusal<'NOT_FOUND' | 'CONFLICT'>> {
  const row = await lockPending(tx, pendingId);
  if (row === undefined) return refuse('NOT_FOUND', 'There is no such act.');
  switch (row.state) {
    case 'waiting':
      return row;
    case 'expired':
      return refuse('CONFLICT', 'This act has expired after 24 hours. Nothing was changed. Ask for it again.');
    case 'done':
    case 'rejected':
      return refuse('CONFLICT', `${row.decided_email ?? 'Somebody'} has decided about this act already.`);
  }
}

function deciderOf({ actor, actorName, reason }: Act) {
  return { by: actor, email: actorName ?? '', reason: reason ?? '' };
}

const DONE_MEANWHILE = 'This act was done in another way meanwhile, and would change nothing. Reject it.';
const OTHER_OWNER =
  'The wallet was released from its owner after this act was asked for. Nothing was changed. Reject it, and ask again.';

function otherAmount({ amount_micros: asked }: PendingRow, { amount }: MoneyChanged): Refusal<'CONFLICT'> {
  const sums = `This act was asked for ${asked} micros and would now move ${amount ?? 0n} micros.`;
  return refuse('CONFLICT', `${sums} Nothing was changed. Reject it, and ask again.`);
}
