import { inOrderOf, type Waiter } from '#db/batches/batcher.ts';
import type { OutageWatch } from '#db/batches/outage.ts';
import { isItemFault, isServerFault, type Pool } from '#db/pool/pool.ts';
import { assert, assertionFault } from '#kernel/faults/assert.ts';
import { failpoint } from '#kernel/faults/failpoint.ts';
import type { CallId } from '#kernel/values/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow, ZERO_MICROS } from '#kernel/values/micros.ts';
import { lateChargeMicros, lateLossMicros } from '#ledger/settlement/metrics.ts';
import { type SettledRow, settleHolds, settleLate } from '#ledger/settlement/queries.ts';
import { assertBookable, type Settlement } from '#ledger/settlement/settlement.ts';
import type { Spool } from '#ledger/settlement/spool.ts';
import type { Landing } from '#ledger/settlement/spool-replay.ts';

/** What a call was charged, now or when it ended earlier. 0 if its hold had been released. */
export interface SettledCall {
  readonly charged: Micros;
  /** The call has not ended: a retry waits for its answer, which must be kept first. Only for `isUnkept` settlements. */
  readonly isJoined?: true;
}

/** How far settlements may fall behind before new calls are refused. */
export interface BacklogLimits {
  /** How long the oldest settlement may wait while the database is away. */
  readonly ageMsMax: number;
  /** How many settlements of this process may wait, whether or not the database is away. */
  readonly settlementsMax: number;
}

/** Bounds the spending that the database does not know of yet. */
export const BACKLOG_LIMITS: BacklogLimits = { ageMsMax: 30_000, settlementsMax: 10_000 };

/** Brings settlements into the database. While the database is away it keeps them on disk and answers from there. */
interface Settling {
  /** Settles a call, as `Holds` describes it. */
  readonly settle: (settlement: Settlement, granted: Micros) => Promise<SettledCall>;
  /** Ends a call without a charge. For orphaned holds: no caller waits for this. */
  readonly release: (callId: CallId) => Promise<SettledCall>;
  /**
   * Returns true if new calls must be refused. Age alone refuses nothing while the database answers: one wallet may be
   * locked for long, and that is no reason to turn away the callers of all others.
   */
  readonly isBehind: (limits: BacklogLimits) => boolean;
  /** Settles what processes left on disk, as `Holds` describes it. */
  readonly replay: () => Promise<boolean>;
  /** Stops, as `Holds` describes it. */
  readonly stop: () => Promise<void>;
}

type Settle = (settlement: Settlement, waiter: Waiter<SettledCall>) => void;

interface SettlingOptions {
  /** The pool that settles what processes left on disk. */
  readonly pool: Pool;
  readonly outage: OutageWatch;
  /** Ends a call in the next turn, however long that takes. The waiter must not throw. */
  readonly settleInTurn: Settle;
  readonly spool: Spool;
  readonly log: Log;
  /** Is called when the settlement of a call has landed, or never will. */
  readonly onEnd: (callId: CallId) => void;
}

const BATCH_MAX = 256; // Settlements from disk in one statement.

interface LandingOptions extends Pick<SettlingOptions, 'settleInTurn' | 'log' | 'onEnd'> {
  readonly isStopped: () => boolean;
}

/**
 * Makes what brings a settlement into the database, however long it takes. It uses callbacks because this is
 * the hot path: a call then waits for one promise in all.
 */
function createLanding({ settleInTurn, log, onEnd, isStopped }: LandingOptions) {
  function land(settlement: Settlement, granted: Micros, waiter: Waiter<SettledCall>): void {
    settleInTurn(settlement, {
      resolve: (settled) => {
        // If a retry has joined the call, the call has not ended. Its settlement comes again once its answer is kept.
        if (settled.isJoined !== true) onEnd(settlement.callId);
        if (settled.charged > granted) return waiter.reject(assertionFault('a call is charged at most its hold'));
        waiter.resolve(settled);
      },
      reject: (fault) => void fail(settlement, fault, waiter),
    });
  }

  /** The settlement itself is wrong or refused, which is a bug of ours. The user at least gets the hold back. */
  async function fail(settlement: Settlement, fault: unknown, waiter: Waiter<SettledCall>): Promise<void> {
    const { callId, charge } = settlement;
    // After the stop the pools end, which fails every statement. The hold then stays for the next process to settle.
    if (!isStopped()) {
      const facts = { callId, charge: String(charge) };
      log.error(
        { fault: describeFault(fault), ...facts },
        'a call could not be settled: its hold is released without a charge',
      );
      failpoint('hold.release-queued');
      await new Promise((resolve, reject) => settleInTurn(released(callId), { resolve, reject })).catch(
        () => undefined,
      );
      failpoint('hold.release-answered');
    }
    onEnd(callId);
    waiter.reject(fault);
  }

  return { land, fail };
}

export function createSettling({ pool, outage, settleInTurn, spool, log, onEnd }: SettlingOptions): Settling {
  let isStopped = false;
  const { land, fail } = createLanding({ settleInTurn, log, onEnd, isStopped: () => isStopped });

  /**
   * Writes the settlement to disk and answers as soon as it is there, while the statement goes on trying. If the disk
   * fails too, or the statement is quicker, the answer is that of the statement.
   *
   * From then on the caller knows the charge. If the hold turns out to have been released, the settlement stays on disk
   * and is charged late (WA-10).
   */
  async function keep(settlement: Settlement, granted: Micros, landing: Promise<SettledCall>): Promise<SettledCall> {
    const { callId, charge } = settlement;
    const kept = spool.keep(settlement);
    const landed = landing.then(
      async (settled) => {
        const isTold = isReleased(settlement, settled) && (await kept);
        if (isTold) spool.leave(callId);
        else spool.crossOff(callId);
        return isTold;
      },
      () => {
        // After a stop the failure is that of a closed pool: the settlement must stay on disk.
        if (!isStopped) spool.crossOff(callId);
        return false;
      },
    );
    const isKept = await Promise.race([kept, landed]);
    return isKept ? { charged: charge < granted ? charge : granted } : landing;
  }

  return {
    settle: (settlement, granted) => {
      try {
        assertBookable(settlement); // Before it can reach the disk too.
      } catch (fault) {
        return new Promise((resolve, reject) => void fail(settlement, fault, { resolve, reject }));
      }
      return outage.orLate(
        (waiter) => land(settlement, granted, waiter),
        (landing) => {
          // In an outage the answer cannot be kept for a retry. So the call ends without it, and a waiting retry runs again.
          const landAnyway = () =>
            new Promise<SettledCall>((resolve, reject) =>
              land({ ...settlement, isUnkept: false }, granted, { resolve, reject }),
            );
          const ended = landing.then((landed) => (landed.isJoined === true ? landAnyway() : landed));
          return keep(settlement, granted, ended);
        },
      );
    },
    release: (callId) => new Promise((resolve, reject) => settleInTurn(released(callId), { resolve, reject })),
    isBehind: ({ ageMsMax, settlementsMax }) =>
      spool.kept() > settlementsMax || (outage.isAway() && spool.oldestKeptMs() > ageMsMax),
    replay: () => spool.replay((left) => landLeft(left, (some) => settleAll(pool, some, log), log)),
    stop: async () => {
      isStopped = true;
      await spool.close();
    },
  };
}

/** Returns true if the call was free although it has a charge, because its hold had been released. */
function isReleased({ charge }: Settlement, { charged }: SettledCall): boolean {
  return charged === ZERO_MICROS && charge > ZERO_MICROS;
}

/** Settles what a file holds. A charge that its caller was told after its hold had been released is booked as a late one. */
async function settleAll(pool: Pool, settlements: readonly Settlement[], log: Log): Promise<void> {
  const rows = inOrderOf(settlements, await settleHolds(pool, settlements));
  const settled = rows.map((row, index) => settledCallOf(row, settlements[index]));
  const released = settlements.filter((settlement, index) => isReleased(settlement, settled[index] ?? FREE));
  // Another statement: one that locked the wallets of both at once would lock them out of order.
  if (released.length > 0) await chargeLate(pool, released, log);
}

/**
 * Charges calls after their holds were released. Repeating it changes nothing. What nobody was told stays free (WA-10).
 */
async function chargeLate(pool: Pool, released: readonly Settlement[], log: Log): Promise<void> {
  const late = await settleLate(pool, released);
  for (const { call_id: callId, charged, lost, is_new: isNew } of late) {
    if (!isNew) continue;
    lateChargeMicros.add(Number(charged));
    lateLossMicros.add(Number(lost));
    log.warn(
      { callId, charged: String(charged), lost: String(lost) },
      'a call was charged after its hold was released',
    );
  }
  const booked = new Set(late.map(({ call_id: callId }) => callId));
  const free = released.filter(({ callId }) => !booked.has(callId)).map(({ callId, outcome }) => ({ callId, outcome }));
  if (free.length > 0)
    log.error({ calls: free }, 'settlements came after their holds were released, and charge nothing');
  const told = new Map(released.map(({ callId, charge }) => [callId, charge]));
  for (const { call_id: callId, charged, lost } of late)
    assert(
      charged >= 0n && lost >= 0n && charged + lost <= (told.get(callId) ?? 0n),
      'a late charge is part of what was told',
    );
}

const FREE: SettledCall = { charged: ZERO_MICROS };

export function settledCallOf(
  { charged, is_settled: isNew, is_joined: isJoined }: SettledRow,
  said: Pick<Settlement, 'charge'> | undefined,
): SettledCall {
  // A call that had ended before may have ended otherwise.
  assert(!isNew || charged <= (said?.charge ?? 0n), 'a call is charged at most what its settlement says');
  return { charged: microsFromRow(charged), ...(isJoined && { isJoined }) };
}

type SettleAll = (settlements: readonly Settlement[]) => Promise<void>;

/**
 * Settles what a file holds, in batches. If a batch fails, each of its settlements is tried once alone, so that one that
 * cannot land does not keep back the others. Nothing is tried for longer: the reaper calls again every second.
 */
async function landLeft(left: readonly Settlement[], settle: SettleAll, log: Log): Promise<Landing> {
  let stuck = 0;
  let refused = 0;
  for (let start = 0; start < left.length; start += BATCH_MAX) {
    const batch = left.slice(start, start + BATCH_MAX);
    if ((await tryToLand(batch, settle, log)) === 'landed') continue;
    for (const single of batch) {
      const outcome = await tryToLand([single], settle, log);
      stuck += Number(outcome === 'stuck');
      refused += Number(outcome === 'refused');
    }
  }
  return { isStuck: stuck > 0, refused };
}

/**
 * Tries once to settle. `stuck` may land later, `refused` never will. Throws if the server is away, because then nothing is
 * known about any of them.
 */
async function tryToLand(
  some: readonly Settlement[],
  settle: SettleAll,
  log: Log,
): Promise<'landed' | 'stuck' | 'refused'> {
  try {
    await settle(some);
    return 'landed';
  } catch (fault) {
    if (isServerFault(fault)) throw fault;
    if (some.length === 1)
      log.warn({ fault: describeFault(fault), callId: some[0]?.callId }, 'a settlement from disk could not be settled');
    return isItemFault(fault) ? 'refused' : 'stuck';
  }
}

/** The settlement that gives the whole hold of a call back and says nothing else about the call. */
function released(callId: CallId): Settlement {
  return {
    callId,
    charge: ZERO_MICROS,
    outcome: 'failed',
    model: undefined,
    priceId: undefined,
    isEstimated: false,
    isUsageClamped: false,
    usage: { promptTokens: 0, cachedTokens: 0, cacheWriteTokens: 0, completionTokens: 0, reasoningTokens: 0 },
    correlationId: undefined,
  };
}
