import type { Ground } from '#app/process/ground.ts';
import { askForTokens } from '#http/cells/apps/rate-tokens.ts';
import type { CellPeers } from '#http/cells/questions/question.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { createHomeLease } from '#limits/home-lease.ts';
import { limitOverCells } from '#limits/over-cells.ts';
import { createRateLimiter, type RateLimiter } from '#limits/rate-limit.ts';

/** The rate limits of all apps over all cells. Some buckets are in other cells. */
export function openRates({ pools, log }: Ground, { map, ask }: CellPeers): RateLimiter {
  return limitOverCells({
    own: createRateLimiter(pools.rates, steadyClock),
    homeOf: map.homeOf,
    limiterOf: (name, home) => {
      const lease = createHomeLease({
        home: name,
        ask: (request) => askForTokens(ask, home(), request),
        cellCount: map.count,
        clock: steadyClock,
        log,
      });
      return createRateLimiter(pools.rates, steadyClock, lease);
    },
  });
}
