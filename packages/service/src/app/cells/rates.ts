import type { CellClient } from '#cells/routing/cell-client.ts';
import type { CellMap } from '#cells/routing/map.ts';
import type { Pool } from '#db/pool/pool.ts';
import { askForTokens } from '#http/cells/apps/rate-tokens.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import { createHomeLease } from '#limits/home-lease.ts';
import { limitOverCells } from '#limits/over-cells.ts';
import { createRateLimiter, type RateLimiter } from '#limits/rate-limit.ts';

interface RateOptions {
  readonly pool: Pool;
  readonly client: CellClient;
  readonly map: Pick<CellMap, 'homeOf' | 'count'>;
  readonly log: Log;
}

/** The rate limits of all apps over all cells. Some buckets are in other cells. */
export function openRates({ pool, client, map, log }: RateOptions): RateLimiter {
  return limitOverCells({
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
}
