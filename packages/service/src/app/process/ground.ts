import type { Pools } from '#app/process/pools.ts';
import type { Config } from '#app/settings/config.ts';
import type { Keys } from '#kernel/crypto/keys.ts';
import type { Log } from '#kernel/log.ts';
import type { Clock } from '#kernel/time/clock.ts';

/** What every part of a gateway process stands on. Whatever opens a part takes it, and names what else that part needs. */
export interface Ground {
  readonly config: Config;
  readonly keys: Keys;
  readonly pools: Pools;
  readonly clock: Clock;
  readonly log: Log;
}

/** What runs until the process ends. */
export interface Stoppable {
  readonly stop: () => Promise<unknown>;
}
