import type { Cluster } from './cluster.ts';
import type { Fleet } from './fleet.ts';
import type { HistoryPlan } from './plan.ts';
import type { Random } from './random.ts';
import { sleep } from './sleep.ts';

/** When the database was down, from its kill until it answered again. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

interface ChaosOptions {
  readonly plan: HistoryPlan;
  readonly fleet: Fleet;
  readonly cluster: Cluster;
  readonly random: Random;
  readonly over: AbortSignal;
}

/** The faults of a history. A stop that outlasts the lease may go on after the rest, and the history waits for it. */
export async function runChaos(options: ChaosOptions): Promise<{
  readonly databaseKills: number;
  readonly outages: readonly Outage[];
}> {
  const { plan, fleet, random, over } = options;
  const outages: Outage[] = [];
  if (plan.hasLongStops) longStop(options);
  while (!over.aborted) {
    await sleep(random.whole(200, 2_200));
    const place = random.whole(0, plan.gateways - 1);
    const act = random.pick(['kill', 'kill', 'stop', 'stop', 'database', 'nothing'] as const);
    const stopMs = random.whole(200, 7_000);
    const outage = { signal: random.chance(0.25) ? 'SIGKILL' : 'SIGQUIT', ms: outageMs(random) } as const;
    if (act === 'kill') fleet.kill(place);
    else if (act === 'stop') fleet.stopFor(place, stopMs);
    else if (act === 'database') {
      const isLong = plan.hasLongOutage && outages.length === 0;
      outages.push(await takeDown(options, isLong ? { ...outage, ms: LONG_OUTAGE_MS } : outage));
    }
  }
  if (plan.hasLongStops) await sleep(Math.max(0, LONG_STOP_MS_MAX - plan.chaosMs));
  return { databaseKills: outages.length, outages };
}

const LONG_OUTAGE_MS = 16_500;
const LONG_STOP_MS_MIN = 16_500;
const LONG_STOP_MS_MAX = 20_000;

/** Early on, stops one gateway for longer than its lease while the others go on. */
function longStop({ plan, fleet, random }: ChaosOptions): void {
  const place = random.whole(0, plan.gateways - 1);
  const [after, ms] = [random.whole(300, 2_000), random.whole(LONG_STOP_MS_MIN, LONG_STOP_MS_MAX - 2_000)];
  setTimeout(() => fleet.stopFor(place, ms), after);
}

/** Most outages last as long as a restart takes. Some outlast every retry of a new call. */
function outageMs(random: Random): number {
  return random.chance(0.3) ? random.whole(1_000, 5_000) : random.whole(0, 400);
}

async function takeDown(
  { cluster }: ChaosOptions,
  { signal, ms }: { readonly signal: 'SIGQUIT' | 'SIGKILL'; readonly ms: number },
): Promise<Outage> {
  const from = performance.now();
  await cluster.kill(signal);
  await sleep(ms);
  await cluster.restart();
  return { from, to: performance.now() };
}
