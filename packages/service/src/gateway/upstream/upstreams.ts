import type { CatalogueProvider } from '@purser/contract/catalogue.ts';
import type { Catalogue, Upstream } from '#catalogue/catalogue.ts';
import type { ChatCall, Gone } from '#gateway/call/call.ts';
import type { Hold } from '#gateway/call/lane.ts';
import type { Route } from '#gateway/call/route.ts';
import { inOrder } from '#gateway/upstream/choosing.ts';
import { declareUpstreamMetrics } from '#gateway/upstream/metrics.ts';
import { modelsOf, reportUpstreams, type UpstreamReport } from '#gateway/upstream/report.ts';
import { admits, TryRoute } from '#gateway/upstream/try-route.ts';
import { createUpstreamStates } from '#gateway/upstream/upstream-state.ts';
import type { SteadyClock } from '#kernel/time/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Mode } from '#kernel/values/ids.ts';

/** Who serves calls, and how well, in this process. */
export interface Upstreams {
  /** Puts those who can serve a call in the order in which it asks them. */
  readonly inOrder: (eligible: ChatCall['upstreams']) => ChatCall['upstreams'];
  readonly routeOf: (hold: Hold<Mode>, gone: Gone) => Route;
  /** How those of the catalogue serve, in this process. */
  readonly report: (catalogue: Pick<Catalogue, 'list'>) => readonly UpstreamReport[];
}

interface UpstreamsOptions {
  readonly log: Log;
  /** The names of the keys of a provider's pool; one that is undefined for a provider without a pool. */
  readonly keysOf: (provider: CatalogueProvider) => readonly (string | undefined)[];
  readonly clock: SteadyClock;
  /** A share from 0 to below 1. */
  readonly random: () => number;
}

export function createUpstreams({ clock, random, ...options }: UpstreamsOptions): Upstreams {
  const states = createUpstreamStates({ clock, ...options });
  // At the time of the reading: the pause of a breaker ends without a call.
  declareUpstreamMetrics(states.all, (state) => !admits(state, clock.nowMs()));
  const isAskable = (upstream: Upstream): boolean => admits(states.of(upstream), clock.nowMs());
  return {
    inOrder: (eligible) => (eligible.length === 1 ? eligible : inOrder(eligible, isAskable, random)),
    routeOf: (hold, gone) => new TryRoute(hold, gone, { states, clock }),
    report: (catalogue) => reportUpstreams(modelsOf(catalogue.list()), states, clock.nowMs()),
  };
}
