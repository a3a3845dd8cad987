import { untilNoHolds } from './books.ts';
import type { Violation } from './call-rules.ts';
import { runChaos } from './chaos.ts';
import { failpointsFor } from './failpoint-order.ts';
import type { FleetCounts } from './fleet.ts';
import type { HistoryLog } from './history-log.ts';
import { checkHistory, type Figures } from './model.ts';
import { planHistory } from './plan.ts';
import { probeAll } from './probes.ts';
import { createRandom } from './random.ts';
import { checkByOperator, type Stage, setStage, untilAllBooked, writeLog } from './stage.ts';
import { runClients } from './workload.ts';

export interface HistoryResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly figures: Figures;
  readonly fleet: FleetCounts;
  readonly databaseKills: number;
  /** Where the server's directory and the logs of the gateways are kept. Undefined if everything was right. */
  readonly kept: string | undefined;
}

/** One lease, the full lease that a reaper waits after an outage, and the same again for a slow machine. */
export const QUIET_MS_MAX = 60_000;

/** Runs one history from an empty server to its verdict. Its seed decides everything but the timing. */
export async function runHistory(seed: number): Promise<HistoryResult> {
  const stage = await setStage(planHistory(seed), failpointsFor(seed));
  try {
    const played = await play(stage);
    return { ...played, kept: await stage.close(played.violations) };
  } catch (fault) {
    await stage.close([{ rule: 'the history did not come to its end', about: String(fault) }]);
    throw fault;
  }
}

async function play(stage: Stage): Promise<Omit<HistoryResult, 'kept'>> {
  const { seed, chaosMs } = stage.plan;
  const over = AbortSignal.timeout(chaosMs);
  const clients = runClients({ ...stage, over });
  const paying = stage.payments.run(over);
  const changing = stage.keys.change(over);
  const chaos = await runChaos({ ...stage, ...clients, random: createRandom(seed, 'chaos'), over });
  await stage.fleet.settle();
  await paying;
  await changing;
  const calls = await clients.finish(chaos.outages);
  await stage.payments.sendAgain();
  await untilNoHolds(stage.owner, QUIET_MS_MAX);
  await untilAllBooked(stage.directory, QUIET_MS_MAX);

  const log = await writeLog(stage, calls);
  const { violations, figures } = checkHistory(log);
  await stage.fleet.disarm();
  return {
    seed,
    violations: [...violations, ...(await probe(stage, log)), ...(await checkByOperator(stage))],
    figures,
    fleet: stage.fleet.counts,
    databaseKills: chaos.databaseKills,
  };
}

async function probe(stage: Stage, { books }: HistoryLog): Promise<readonly Violation[]> {
  const { fleet, keys, provider, payments, plan } = stage;
  const url = fleet.at(0)?.url;
  if (url === undefined) return [{ rule: 'no gateway is left to probe', about: '' }];
  const wrong = await probeAll({
    url,
    keys,
    seed: plan.seed,
    provider,
    payments,
    readBooks: stage.readBooks,
    spentOf: (user) => books.receipts.reduce((sum, one) => sum + (one.user === user ? one.charged : 0), 0),
    users: plan.wallets.map(({ user }) => user),
  });
  return wrong.map((about) => ({ rule: 'a wallet or budget is not good for just what is left', about }));
}
