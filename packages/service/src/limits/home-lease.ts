import type { SteadyClock } from '#kernel/time/clock.ts';
import { describeFault, type Log } from '#kernel/log.ts';
import { counter } from '#kernel/metrics/metrics.ts';
import { type CellTokenRequest, type LeaseRequest, type LeaseRow, leaseTokens } from '#limits/queries.ts';
import type { LeaseTokens } from '#limits/rate-limit.ts';

interface HomeLeaseOptions {
  /** The cell that has the buckets. */
  readonly home: string;
  /** Asks a gateway there. Rejects, within half a second, if it does not get the tokens' rows. */
  readonly ask: (request: CellTokenRequest) => Promise<readonly LeaseRow[]>;
  /** The number of cells that share the limits while the home is away. */
  readonly cellCount: () => number;
  readonly clock: SteadyClock;
  readonly log: Log;
}

/** How long a home that did not answer is left alone. */
const AWAY_MS = 1_000;

const onShares = counter(
  'purser_rate_share_calls_total',
  "Calls that were counted against this cell's share of a rate limit, because the cell with the bucket did not answer.",
);

/**
 * Takes tokens of buckets in another cell. While that one does not answer, no call waits for it: this cell counts in its own database, against its
 * share of each limit, and keeps asking the home apart from all calls.
 */
export function createHomeLease({ home, ask, cellCount, clock, log }: HomeLeaseOptions): LeaseTokens {
  let number = 0;
  let isAway = false;
  let isLooking = false;
  let leftAloneUntilMs = 0;

  async function askHome(holder: string, asked: readonly LeaseRequest[]): Promise<readonly LeaseRow[] | undefined> {
    try {
      number += 1;
      const rows = await ask({ holder, number, asked });
      if (isAway) log.info({ cell: home }, 'the cell that has the rate limits of some apps answers again');
      isAway = false;
      return rows;
    } catch (fault) {
      if (!isAway) {
        const share = `1/${cellCount()}`;
        log.warn(
          { cell: home, share, fault: describeFault(fault) },
          'the cell that has the rate limits of some apps does not answer: this cell lets through its share of them',
        );
      }
      isAway = true;
      leftAloneUntilMs = clock.nowMs() + AWAY_MS;
      return undefined;
    }
  }

  /** Asks for nothing, to see whether the home is back. */
  async function look(holder: string): Promise<void> {
    if (isLooking || clock.nowMs() < leftAloneUntilMs) return;
    isLooking = true;
    await askHome(holder, []);
    isLooking = false;
  }

  return async (db, holder, asked) => {
    if (isAway) void look(holder);
    const rows = isAway ? undefined : await askHome(holder, asked);
    if (rows !== undefined) return rows;
    onShares.add(asked.reduce((sum, { wanted }) => sum + wanted, 0));
    const cells = cellCount();
    const shares = await leaseTokens(
      db,
      holder,
      asked.map((one) => shareOf(one, cells)),
    );
    return shares.map(atShare);
  };
}

/** A limit is at least one. No tokens are leased ahead of a share: the home may be back any moment. */
function shareOf({ bucket, wanted, perMinute, burst }: LeaseRequest, cells: number): LeaseRequest {
  const part = (whole: number): number => Math.max(1, Math.floor(whole / cells));
  return { bucket, wanted, perMinute: part(perMinute), burst: part(burst), kept: 0, returned: 0, target: 0 };
}

/**
 * Nothing may be spent any more of what the home has leased: nobody knows what it made of the request. And an empty share is remembered for no longer than
 * the home is left alone.
 */
function atShare(row: LeaseRow): LeaseRow {
  return { ...row, is_held: false, wait_ms: Math.min(row.wait_ms, AWAY_MS) };
}
