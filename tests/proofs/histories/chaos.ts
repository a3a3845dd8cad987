import type { Cluster } from './cluster.ts';
import { type Fleet, SPARED } from './fleet.ts';
import type { HistoryPlan } from './plan.ts';
import type { Random } from './random.ts';
import { sleep } from './sleep.ts';

/** When the database was down, from its kill until it answered again. */
export type Outage = Awaited<ReturnType<typeof takeDown>>;

interface ChaosOptions {
  readonly plan: HistoryPlan;
  readonly fleet: Fleet;
  readonly cluster: Cluster;
  readonly random: Random;
  readonly over: AbortSignal;
  /** Begins calls at the last gateway, which is then cut off. */
  readonly beginLong: () => Promise<void>;
}

/** The faults of a history. A stop that outlasts the lease may go on after the rest, and the history waits for it. */
export async function runChaos(options: ChaosOptions): Promise<{
  readonly databaseKills: number;
  readonly outages: readonly Outage[];
}> {
  const { plan, fleet, random, over } = options;
  const outages: Outage[] = [];
  if (plan.hasLongStops) longStop(options);
  const cutting = plan.hasCut ? cutOff(options) : undefined;
  while (!over.aborted) {
    await sleep(random.whole(200, 2_200));
    const place = plan.hasCut ? random.whole(SPARED + 1, plan.gateways - 2) : random.whole(0, plan.gateways - 1);
    const act = random.pick(['kill', 'kill', 'stop', 'stop', 'database', 'nothing'] as const);
    const stopMs = random.whole(200, 7_000);
    const outage = { signal: random.chance(0.25) ? 'SIGKILL' : 'SIGQUIT', ms: outageMs(random) } as const;
    if (act === 'kill') fleet.kill(place);
    else if (act === 'stop') fleet.stopFor(place, stopMs);
    else if (act === 'database' && !plan.hasCut) {
      const isLong = plan.hasLongOutage && outages.length === 0;
      outages.push(await takeDown(options, isLong ? { ...outage, ms: LONG_OUTAGE_MS } : outage));
    }
  }
  if (plan.hasLongStops) await sleep(Math.max(0, LONG_STOP_MS_MAX - plan.chaosMs));
  await cutting;
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

/**
 * Early on, cuts one gateway off from the database until the others have released its holds. It answers from its disk what runs
 * meanwhile, and sometimes it is killed afterwards. Nobody kills the database in such a history: the others would have to wait
 * for another lease.
 */
async function cutOff({ plan, fleet, random, beginLong }: ChaosOptions): Promise<void> {
  const [after, ms, isKilled] = [
    random.whole(300, 1_500),
    random.whole(LONG_STOP_MS_MIN + 1_500, LONG_STOP_MS_MAX - 1_000),
    random.chance(0.5),
  ];
  await sleep(after);
  await beginLong();
  fleet.cutOffFor(ms);
  await sleep(ms / 2);
  if (isKilled) fleet.kill(plan.gateways - 1);
  await sleep(ms / 2);
}

/** Returns the length of an outage. Most last as long as a restart takes. Some outlast every retry of a new call. */
function outageMs(random: Random): number {
  return random.chance(0.3) ? random.whole(1_000, 5_000) : random.whole(0, 400);
}

async function takeDown(
  { cluster }: ChaosOptions,
  { signal, ms }: { readonly signal: 'SIGQUIT' | 'SIGKILL'; readonly ms: number },
) {
  const from = performance.now();
  await cluster.kill(signal);
  await sleep(ms);
  await cluster.restart();
  return { from, to: performance.now() };
}
