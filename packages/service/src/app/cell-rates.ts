import { createCellClient } from '#cells/cell-client.ts';
import { createCellRequests } from '#cells/cell-request.ts';
import type { CellMap } from '#cells/map.ts';
import type { Pool } from '#db/pool.ts';
import { askForTokens, type CellTokens } from '#http/cell-tokens.ts';
import { type Clock, steadyClock } from '#kernel/clock.ts';
import type { Keys } from '#kernel/keys.ts';
import type { Log } from '#kernel/log.ts';
import { createHomeLease } from '#limits/home-lease.ts';
import { limitOverCells } from '#limits/over-cells.ts';
import { leaseTokensToCell } from '#limits/queries.ts';
import { createRateLimiter, type RateLimiter } from '#limits/rate-limit.ts';

interface RateOptions {
  /** The name of this cell. */
  readonly cell: string;
  readonly pool: Pool;
  readonly keys: Keys;
  readonly map: Pick<CellMap, 'homeOf' | 'count'>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Rates {
  readonly rateLimiter: RateLimiter;
  /** What other cells take of the buckets here. */
  readonly cellTokens: CellTokens;
}

/** The rate limits of all apps over all cells. Some buckets are in other cells, and those here are open to them. */
export function openRates({ cell, pool, keys, map, clock, log }: RateOptions): Rates {
  const requests = createCellRequests(cell, keys.proof('cell-requests'), clock);
  const client = createCellClient(requests);
  const limiter = limitOverCells({
    own: createRateLimiter(pool, steadyClock),
    homeOf: map.homeOf,
    limiterOf: (name, home) => {
      const lease = createHomeLease({
        home: name,
        ask: (request) => askForTokens(client, home(), request),
        cellCount: map.count,
        clock: steadyClock,
        log,
      });
      return createRateLimiter(pool, steadyClock, lease);
    },
  });
  const rateLimiter: RateLimiter = { take: limiter.take, stop: () => limiter.stop().finally(client.close) };
  return { rateLimiter, cellTokens: { requests, lease: (request) => leaseTokensToCell(pool, request) } };
}
