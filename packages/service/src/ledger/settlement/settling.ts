import { type Batcher, createBatcher, type Waiter } from '#db/batcher.ts';
import { createOutageWatch } from '#db/outage.ts';
import { isItemFault, isServerFault, type Pool } from '#db/pool.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { CallId } from '#kernel/ids.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { type Micros, microsFromRow, ZERO_MICROS } from '#kernel/micros.ts';
import { endHolds } from '#ledger/settlement/end.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import type { Spool } from '#ledger/settlement/spool.ts';
import type { Landing } from '#ledger/settlement/spool-replay.ts';

/** What a call was charged, now or when it ended earlier. 0 when its hold had been released. */
export interface SettledCall {
  readonly charged: Micros;
  /** Nothing has ended: a retry waits for the answer, which must be kept first. Only of `isUnkept` settlements. */
  readonly isJoined?: true;
}

/** How far settlements may fall behind before no new call is taken. */
export interface BacklogLimits {
  /** How long the oldest may wait for a database that is away. */
  readonly ageMsMax: number;
  /** How many of this process may wait, for whatever reason. */
  readonly settlementsMax: number;
}

export const BACKLOG_LIMITS: BacklogLimits = { ageMsMax: 30_000, settlementsMax: 10_000 };

/** Brings settlements into the database, by way of the disk when it is away. */
interface Settling {
  /** See `Holds`. */
  readonly settle: (settlement: Settlement, granted: Micros) => Promise<SettledCall>;
  /** Ends a call for which nobody waits, uncharged. */
  readonly release: (callId: CallId) => Promise<SettledCall>;
  /**
   * True when a new call would be one too many. Age alone says nothing while the database answers: one wallet may be
   * locked, and the others go on.
   */
  readonly isBehind: (limits: BacklogLimits) => boolean;
  /** See `Holds`. */
  readonly replay: () => Promise<boolean>;
  /** See `Holds`. */
  readonly stop: () => Promise<void>;
}

interface SettlingOptions {
  readonly pool: Pool;
  readonly spool: Spool;
  readonly log: Log;
  /** Told when the settlement of a call has landed or never will. */
  readonly onEnd: (callId: CallId) => void;
}

const BATCH_MAX = 256;

interface LandingOptions extends Pick<SettlingOptions, 'log' | 'onEnd'> {
  readonly settling: Batcher<Settlement, SettledCall>;
  readonly isStopped: () => boolean;
}

type Land = (settlement: Settlement, waiter: Waiter<SettledCall>) => void;

/** Brings a settlement into the database, however long it takes. By callbacks: a call waits for one promise in all. */
function createLanding({ settling, log, onEnd, isStopped }: LandingOptions): Land {
  function land(settlement: Settlement, waiter: Waiter<SettledCall>): void {
    settling.hand(settlement, {
      resolve: (settled) => {
        // A call that a retry has joined goes on: its settlement comes again, once its answer is kept.
        if (settled.isJoined !== true) onEnd(settlement.callId);
        waiter.resolve(settled);
      },
      reject: (fault) => void fail(settlement, fault, waiter),
    });
  }

  /** The settlement itself cannot be stored: a bug. The user at least gets the hold back. */
  async function fail(settlement: Settlement, fault: unknown, waiter: Waiter<SettledCall>): Promise<void> {
    const { callId, charge } = settlement;
    if (!isStopped()) {
      const facts = { callId, charge: String(charge) };
      log.error({ fault: describeFault(fault), ...facts }, 'a call could not be settled: released');
      failpoint('hold.release-queued');
      await settling.submit(released(callId)).catch(() => undefined);
      failpoint('hold.release-answered');
    }
    onEnd(callId);
    waiter.reject(fault);
  }

  return land;
}

export function createSettling({ pool, spool, log, onEnd }: SettlingOptions): Settling {
  const outage = createOutageWatch();
  let isStopped = false;
  const settling = createBatcher<Settlement, SettledCall>({
    run: (settlements) => outage.run(() => settleAll(pool, settlements)),
    itemsMax: BATCH_MAX,
    retriesMax: Number.POSITIVE_INFINITY,
  });
  const land = createLanding({ settling, log, onEnd, isStopped: () => isStopped });

  /** Answers from disk, while the settlement goes on trying to land. */
  async function keep(settlement: Settlement, granted: Micros, landing: Promise<SettledCall>): Promise<SettledCall> {
    const { callId, charge } = settlement;
    const kept = spool.keep(settlement);
    const landed = landing.then(
      ({ charged }) => {
        spool.strike(callId);
        const isLost = charged === ZERO_MICROS && charge > ZERO_MICROS;
        if (isLost) log.error({ callId, charge: String(charge) }, 'a settlement came after its hold was released');
      },
      () => void (isStopped || spool.strike(callId)),
    );
    const isKept = await Promise.race([kept, landed.then(() => false)]);
    return isKept ? { charged: charge < granted ? charge : granted } : landing;
  }

  return {
    settle: (settlement, granted) =>
      outage.orLate(
        (waiter) => land(settlement, waiter),
        (landing) => {
          // Nobody can keep the answer now. A retry that waits for it runs anew.
          const landAnyway = () =>
            new Promise<SettledCall>((resolve, reject) =>
              land({ ...settlement, isUnkept: false }, { resolve, reject }),
            );
          const ended = landing.then((landed) => (landed.isJoined === true ? landAnyway() : landed));
          return keep(settlement, granted, ended);
        },
      ),
    release: (callId) => settling.submit(released(callId)),
    isBehind: ({ ageMsMax, settlementsMax }) =>
      spool.kept() > settlementsMax || (outage.isAway() && spool.oldestKeptMs() > ageMsMax),
    replay: () => spool.replay((left) => landLeft(left, (some) => settleAll(pool, some), log)),
    stop: async () => {
      isStopped = true;
      await spool.close();
    },
  };
}

async function settleAll(pool: Pool, settlements: readonly Settlement[]): Promise<readonly SettledCall[]> {
  const rows = await endHolds(pool, settlements);
  return rows.map(({ charged, is_joined: isJoined }) => {
    return { charged: microsFromRow(charged), ...(isJoined && { isJoined }) };
  });
}

type Settle = (settlements: readonly Settlement[]) => Promise<readonly SettledCall[]>;

/** Lands what is left of a file, each of it tried once in a batch and, where that fails, once by itself. */
async function landLeft(left: readonly Settlement[], settle: Settle, log: Log): Promise<Landing> {
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

/** Throws when the server is away. */
async function tryToLand(
  some: readonly Settlement[],
  settle: Settle,
  log: Log,
): Promise<'landed' | 'stuck' | 'refused'> {
  try {
    const ended = await settle(some);
    const lost = some.filter(({ charge }, index) => charge > ZERO_MICROS && ended[index]?.charged === ZERO_MICROS);
    const calls = lost.map(({ callId }) => callId);
    if (lost.length > 0) log.error({ calls }, 'settlements came after their holds were released');
    return 'landed';
  } catch (fault) {
    if (isServerFault(fault)) throw fault;
    if (some.length === 1) log.warn({ fault: describeFault(fault), callId: some[0]?.callId }, 'left unsettled');
    return isItemFault(fault) ? 'refused' : 'stuck';
  }
}

function released(callId: CallId): Settlement {
  return {
    callId,
    charge: ZERO_MICROS,
    outcome: 'failed',
    model: undefined,
    priceId: undefined,
    isEstimated: false,
    isUsageClamped: false,
    usage: { promptTokens: 0, cachedTokens: 0, completionTokens: 0, reasoningTokens: 0 },
    correlationId: undefined,
  };
}
