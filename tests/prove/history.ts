import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPool, type Pool } from '../../packages/service/src/db/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { checkByCommand } from '../support/service-process.ts';
import { readBooks, untilNoHolds } from './books.ts';
import type { Violation } from './call-rules.ts';
import { runChaos } from './chaos.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { failpointsFor } from './failpoint-order.ts';
import { type Fleet, type FleetCounts, startFleet } from './fleet.ts';
import type { HistoryLog } from './history-log.ts';
import { checkHistory, type Figures } from './model.ts';
import { createPayments, type Payments } from './payments.ts';
import { catalogueOf, type HistoryPlan, planHistory } from './plan.ts';
import { probeWallets } from './probes.ts';
import { type Provider, startProvider } from './provider.ts';
import { createRandom } from './random.ts';
import { runClients } from './workload.ts';

export interface HistoryResult {
  readonly seed: number;
  readonly violations: readonly Violation[];
  readonly figures: Figures;
  readonly fleet: FleetCounts;
  readonly databaseKills: number;
  /** Where the server's directory and the logs of the gateways are kept; undefined when all was right. */
  readonly kept: string | undefined;
}

interface Stage {
  readonly directory: string;
  readonly plan: HistoryPlan;
  readonly provider: Provider;
  readonly cluster: Cluster;
  readonly fleet: Fleet;
  /** Reads and arranges as the owner of everything. */
  readonly owner: Pool;
  readonly payments: Payments;
  readonly demo: Demo;
}

interface Demo {
  readonly appId: string;
  readonly liveKey: string;
  readonly userId: string;
}

/** A lease, the whole lease that a reaper waits after an outage, and as much again for a slow machine. */
const QUIET_MS_MAX = 60_000;

/** Runs one history from an empty server to its verdict. Its seed decides all of it but the timing. */
export async function runHistory(seed: number): Promise<HistoryResult> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-prove-'));
  chmodSync(directory, 0o711); // The server may have to run as another user.
  await using owned = new AsyncDisposableStack();
  let isRight = false;
  owned.defer(() => {
    if (isRight) rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  const stage = await setStage(seed, directory, owned);
  const random = createRandom(seed, 'chaos');
  const over = AbortSignal.timeout(stage.plan.chaosMs);
  const clients = runClients({ ...stage, key: stage.demo.liveKey, over });
  const paying = stage.payments.run(over);
  const chaos = await runChaos({ ...stage, random, over });
  await stage.fleet.settle();
  await paying;
  const calls = await clients.finish(chaos.outages);
  await stage.payments.sendAgain();
  await untilNoHolds(stage.owner, QUIET_MS_MAX);

  const log = await writeLog(stage, calls);
  const { violations, figures } = checkHistory(log);
  const wrong = [...violations, ...(await probe(stage, log)), ...(await checkBooks(stage, directory))];
  isRight = wrong.length === 0;
  if (!isRight) writeFileSync(path.join(directory, 'violations.json'), JSON.stringify(wrong, undefined, 2));
  return {
    seed,
    violations: wrong,
    figures,
    fleet: stage.fleet.counts,
    databaseKills: chaos.databaseKills,
    kept: isRight ? undefined : directory,
  };
}

async function setStage(seed: number, directory: string, owned: AsyncDisposableStack): Promise<Stage> {
  const plan = planHistory(seed);
  const provider = await startProvider();
  owned.defer(provider.close);
  const cluster = await startCluster(directory);
  owned.defer(cluster.stop);
  const log = createLog('silent');
  const owner = createPool({ url: cluster.url, role: 'owner', connectionsMax: 2, log });
  owned.defer(() => owner.end());
  const live = createPool({ url: cluster.url, role: 'live', connectionsMax: 4, log });
  owned.defer(() => live.end());
  const catalogueFile = path.join(directory, 'catalogue.json');
  writeFileSync(catalogueFile, JSON.stringify(catalogueOf(plan, provider.baseUrl)));
  const fleet = await startFleet({
    places: plan.gateways,
    databaseUrl: cluster.url,
    directory,
    catalogueFile,
    random: createRandom(seed, 'fleet'),
    failpoints: failpointsFor(seed),
    stopMsMax: plan.hasLongStops ? 18_000 : 8_000,
  });
  owned.defer(fleet.end);
  const demo = JSON.parse(readFileSync(path.join(directory, 'demo.json'), 'utf8')) as Demo;
  const payments = createPayments({ pool: live, appId: demo.appId, plan, random: createRandom(seed, 'payments') });
  await Promise.all(
    plan.wallets.map(async ({ user, firstCredit, cap }) => {
      await payments.ask('select ledger.open_wallet($1, $2, $3, $4) as answer', [user, 'EUR', cap ?? null]);
      await payments.credit(user, firstCredit, 'first');
    }),
  );
  return { directory, plan, provider, cluster, fleet, owner, payments, demo };
}

async function writeLog(stage: Stage, calls: HistoryLog['calls']): Promise<HistoryLog> {
  const { plan, provider, payments, owner, demo } = stage;
  return {
    prices: plan.prices,
    wallets: plan.wallets.map(({ user, kind }) => ({
      user,
      isRich: kind === 'rich',
      wasCapped: kind === 'capped',
      wasDisconnected: kind === 'flipping',
      wasReinstated: payments.reinstated.has(user),
    })),
    calls,
    provider: provider.facts,
    money: payments.acts,
    books: await readBooks(owner, demo.appId, [demo.userId]),
  };
}

async function probe(stage: Stage, { books }: HistoryLog): Promise<readonly Violation[]> {
  const { fleet, demo, provider, payments, owner, plan } = stage;
  const url = fleet.at(0)?.url;
  if (url === undefined) return [{ rule: 'no gateway is left to probe', about: '' }];
  const wrong = await probeWallets({
    url,
    key: demo.liveKey,
    seed: plan.seed,
    provider,
    payments,
    readBooks: () => readBooks(owner, demo.appId, [demo.userId]),
    spentOf: (user) => books.receipts.reduce((sum, one) => sum + (one.user === user ? one.charged : 0), 0),
    users: plan.wallets.map(({ user }) => user),
  });
  return wrong.map((about) => ({ rule: 'a wallet is not good for just its balance', about }));
}

/** What the service's own check says, as its operator runs it (WA-09). */
async function checkBooks({ cluster, plan, provider }: Stage, directory: string): Promise<readonly Violation[]> {
  const catalogue = catalogueOf(plan, provider.baseUrl);
  const { status, said } = await checkByCommand({ dataDirectory: directory, catalogue, databaseUrl: cluster.url });
  return status === 0 ? [] : [{ rule: '`purser ledger check` finds differences', about: said }];
}
