import { chmodSync, cpSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { rollUpAll } from '../../../packages/service/src/calls/roll-up/roll-up.ts';
import { startDatabaseProxy } from '../../support/database-proxy.ts';
import { sumDifferences } from '../../support/many-receipts.ts';
import { checkByCommand, runToEnd } from '../../support/service-process.ts';
import { readBooks } from './books.ts';
import type { Violation } from './call-rules.ts';
import { type Cluster, startCluster } from './cluster.ts';
import type { ArmedNames } from './failpoint-order.ts';
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
  /** The directory is shared by all gateways: it has the server's data, their logs and their spools. */
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

/** The data directory of the gateway that is cut off. */
const APART = 'apart';
/** A pass adds nothing while a gateway adds. */
const SUM_PASSES_MAX = 40;
const SUM_PASS_MS = 250;
/** The temporary directory of a test run does not outlive it. */
const KEPT = path.join(import.meta.dirname, '../../../.test-output/prove');

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
  const proxy = await startDatabaseProxy(cluster.url);
  owned.defer(proxy.close);
  const fleet = await startFleet({
    places: plan.gateways,
    apart: plan.hasCut ? { proxy, dataDirectory: path.join(directory, APART) } : undefined,
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

/** Waits until no settlement of any gateway is on disk, up to a limit: one that comes after its hold was released holds nothing. */
export async function untilAllBooked(directory: string, waitMsMax: number): Promise<void> {
  const limit = performance.now() + waitMsMax;
  while (globSync('**/settlements/**/*.jsonl', { cwd: directory }).length > 0 && performance.now() < limit)
    await sleep(SUM_PASS_MS);
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

/** The service's own checks, as an operator runs them (WA-09, WA-14), and whether the charts show what the receipts say. */
export async function checkByOperator(stage: Stage): Promise<readonly Violation[]> {
  const { cluster, plan, provider, directory: dataDirectory } = stage;
  const catalogue = catalogueOf(plan, provider.baseUrl);
  const options = { dataDirectory, catalogue, databaseUrl: cluster.url };
  const checked = await checkByCommand(options);
  const told = await runToEnd(options, 'ledger', 'told', ...logsIn(dataDirectory));
  return [
    ...(checked.status === 0 ? [] : [{ rule: '`purser ledger check` finds differences', about: checked.said }]),
    ...(told.status === 0 ? [] : [{ rule: '`purser ledger told` finds differences (WA-14)', about: told.said }]),
    ...(await wrongSums(stage)),
  ];
}

/** The logs of all gateways: they say what callers were told. */
function logsIn(directory: string): readonly string[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.log'));
  return names.map((name) => path.join(directory, name));
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
