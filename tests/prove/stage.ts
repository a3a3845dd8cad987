import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPool, type Pool } from '../../packages/service/src/db/pool.ts';
import { createLog } from '../../packages/service/src/kernel/log.ts';
import { rollUpAll } from '../../packages/service/src/stats/roll-up.ts';
import { sumDifferences } from '../support/many-receipts.ts';
import { checkByCommand } from '../support/service-process.ts';
import { readBooks } from './books.ts';
import type { Violation } from './call-rules.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { type ArmedNames } from './failpoint-order.ts';
import { type Fleet, startFleet } from './fleet.ts';
import type { Books, HistoryLog } from './history-log.ts';
import { type Keys, mintKeys } from './keys.ts';
import { createPayments, type Payments } from './payments.ts';
import { catalogueOf, type HistoryPlan } from './plan.ts';
import { type Provider, startProvider } from './provider.ts';
import { createRandom } from './random.ts';
import { sleep } from './sleep.ts';

/** The stage of a history: a server, a provider, gateways and funded wallets. */
export interface Stage {
  /** Shared by all gateways: the server's data, their logs and their spools. */
  readonly directory: string;
  readonly catalogueFile: string;
  readonly plan: HistoryPlan;
  readonly provider: Provider;
  readonly cluster: Cluster;
  readonly fleet: Fleet;
  /** A pool of the database owner, to read and set up everything. */
  readonly owner: Pool;
  readonly payments: Payments;
  readonly keys: Keys;
  readonly demo: Demo;
  readonly readBooks: () => Promise<Books>;
  /** Takes everything down. If something was wrong, returns the copy of the directory that stays, with the violations in it. */
  readonly close: (violations: readonly Violation[]) => Promise<string | undefined>;
}

interface Demo {
  readonly appId: string;
  readonly liveKey: string;
  readonly userId: string;
}

/** A pass adds nothing while a gateway adds. */
const SUM_PASSES_MAX = 40;
const SUM_PASS_MS = 250;
/** The temporary directory of a test run does not outlive it. */
const KEPT = path.join(import.meta.dirname, '../../.test-output/prove');

/** Sets the stage. Without `failpoints` no process is armed. */
export async function setStage(plan: HistoryPlan, failpoints: ArmedNames | undefined): Promise<Stage> {
  const directory = mkdtempSync(path.join(os.tmpdir(), 'purser-prove-'));
  chmodSync(directory, 0o711); // The server may have to run as another user.
  const owned = new AsyncDisposableStack();
  try {
    return await furnish(plan, failpoints, directory, owned);
  } catch (fault) {
    await owned.disposeAsync();
    throw fault;
  }
}

async function furnish(
  plan: HistoryPlan,
  failpoints: ArmedNames | undefined,
  directory: string,
  owned: AsyncDisposableStack,
): Promise<Stage> {
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
    random: createRandom(plan.seed, 'fleet'),
    failpoints,
    stopMsMax: plan.hasLongStops ? 18_000 : 8_000,
  });
  owned.defer(fleet.end);
  const demo = JSON.parse(readFileSync(path.join(directory, 'demo.json'), 'utf8')) as Demo;
  const payments = createPayments({ pool: live, appId: demo.appId, plan, random: createRandom(plan.seed, 'payments') });
  const keys = await mintKeys({
    owner,
    appId: demo.appId,
    demoKey: demo.liveKey,
    keys: plan.keys,
    random: createRandom(plan.seed, 'budgets'),
  });
  await Promise.all(plan.wallets.map((wallet) => payments.open(wallet)));
  const close = async (violations: readonly Violation[]): Promise<string | undefined> => {
    await owned.disposeAsync();
    const kept = violations.length === 0 ? undefined : path.join(KEPT, path.basename(directory));
    if (kept !== undefined) {
      writeFileSync(path.join(directory, 'violations.json'), JSON.stringify(violations, undefined, 2));
      cpSync(directory, kept, { recursive: true });
    }
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
    return kept;
  };
  const read = (): Promise<Books> => readBooks(owner, demo.appId, [demo.userId]); // The demo's user makes no calls.
  return {
    directory,
    catalogueFile,
    plan,
    provider,
    cluster,
    fleet,
    owner,
    payments,
    keys,
    demo,
    readBooks: read,
    close,
  };
}

/** Everything that was recorded, and the current books. */
export async function writeLog(stage: Stage, calls: HistoryLog['calls']): Promise<HistoryLog> {
  const { plan, provider, payments, keys } = stage;
  return {
    prices: plan.prices,
    wallets: plan.wallets.map(({ user, kind }) => ({
      user,
      isRich: kind === 'rich',
      capMax: payments.capsMax.get(user),
      wasReinstated: payments.reinstated.has(user),
    })),
    keys: keys.facts(),
    calls,
    provider: provider.facts,
    money: payments.acts,
    books: await stage.readBooks(),
  };
}

/** The result of the service's own check, as an operator runs it (WA-09), and whether the charts show what the receipts say. */
export async function checkByOperator(stage: Stage): Promise<readonly Violation[]> {
  const { cluster, plan, provider, directory: dataDirectory } = stage;
  const catalogue = catalogueOf(plan, provider.baseUrl);
  const { status, said } = await checkByCommand({ dataDirectory, catalogue, databaseUrl: cluster.url });
  const wrong = status === 0 ? [] : [{ rule: '`purser ledger check` finds differences', about: said }];
  return [...wrong, ...(await wrongSums(stage))];
}

/** Waits until the passes that add up receipts have caught up. */
async function wrongSums({ owner }: Stage): Promise<readonly Violation[]> {
  for (let pass = 1; ; pass += 1) {
    await rollUpAll(owner, 1_000);
    const differences = await sumDifferences(owner);
    if (differences.length === 0) return [];
    if (pass === SUM_PASSES_MAX) {
      const about = differences.map((row) => Object.values(row).join(' ')).join('; ');
      return [{ rule: 'the sums of charges are those of the receipts', about }];
    }
    await sleep(SUM_PASS_MS);
  }
}
