import path from 'node:path';
import { checkChanges } from '../../packages/service/src/ledger/check/check.ts';
import { type Bench, figure, type Measure, type Row } from '../measure.ts';
import { addApp, type BenchApp, type BenchDatabase, startDatabase } from '../support/database.ts';
import { fillLedger } from '../support/fill.ts';
import type { Ground } from '../support/ground.ts';
import { type LedgerClient, type LedgerSample, startLedgerClient } from '../support/ledger-client.ts';
import { liveTargetOf } from '../support/live-target.ts';
import type { Running } from '../support/processes.ts';
import { saturate } from '../support/saturate.ts';
import { startService } from '../support/service.ts';
import type { Target } from '../support/target.ts';
import { allCores } from '../support/tools.ts';

/** The entries are ten times the wallets, but for those of the smallest. */
interface Size {
  readonly name: string;
  readonly wallets: number;
  /** The finished calls of each wallet. They are one less than its entries, because the wallet began with a credit. */
  readonly callsEach: number;
}

const SIZES: readonly Size[] = [
  { name: '1,000 wallets, no calls', wallets: 1_000, callsEach: 0 },
  { name: '100,000 wallets', wallets: 100_000, callsEach: 9 },
  { name: '1,000,000 wallets', wallets: 1_000_000, callsEach: 9 },
];
const APPS = 4;
const LEDGER_CALLERS = 256;

/** A database of a size, the service on it, and the ledger alone. */
interface Stage {
  readonly size: Size;
  readonly database: BenchDatabase;
  readonly apps: readonly BenchApp[];
  readonly service: Running;
  readonly ledger: LedgerClient;
}

/** What a call and a ledger pair cost as the books grow. The calls go to all wallets in turn. */
export const growth: Measure = {
  name: 'growth',
  title: 'Plain calls and ledger pairs, as wallets and entries grow',
  isScale: true,
  run: async (bench) => {
    const ground = await bench.ground();
    await using started = new AsyncDisposableStack();
    const stages: Stage[] = [];
    for (const size of SIZES) stages.push(await setStage(bench, ground, size, started));
    const rows = await saturate(bench, ground, stages.map(targetOf));
    const pairs = await measurePairs(bench, stages);
    const faults = new Map<Stage, string | undefined>();
    for (const stage of stages) faults.set(stage, await faultIn(bench, stage));
    return stages.map((stage, index) =>
      rowOf(stage, { calls: rows[index], empty: rows[0], pairs: pairs.get(stage) ?? [], fault: faults.get(stage) }),
    );
  },
};

async function setStage(bench: Bench, ground: Ground, size: Size, started: AsyncDisposableStack): Promise<Stage> {
  const { tools } = bench;
  const { cores } = ground;
  const directory = path.join(bench.directory, `growth-${size.wallets}`);
  const beganAt = performance.now();
  // All cores while it is filled; then it is measured where it is in other measures.
  const database = await startDatabase({ tools, cores: allCores(), directory: path.join(directory, 'postgres') });
  started.defer(database.close);
  const apps: BenchApp[] = [];
  while (apps.length < APPS) apps.push(await addApp(database.owner));
  const appIds = apps.map(({ appId }) => appId);
  await fillLedger(database.owner, { appIds, ...size });
  database.pin(cores.database);
  bench.say(`${size.name}: ready after ${((performance.now() - beganAt) / 1_000).toFixed(0)} s`);
  const service = await startService({
    tools,
    cores: cores.gateway,
    directory: path.join(directory, 'service'),
    databaseUrl: database.url,
    upstreamUrl: ground.upstream.ready,
  });
  started.defer(service.stop);
  const ledger = startLedgerClient({ tools, cores: cores.gateway, directory, database, appIds });
  started.defer(ledger.stop);
  return { size, database, apps, service, ledger };
}

/** Its books are not those of the ground, so it is judged here and not there. */
function targetOf({ size, service, database, apps }: Stage): Target {
  return liveTargetOf({ name: size.name, service, database, apps, users: size.wallets });
}

async function measurePairs(bench: Bench, stages: readonly Stage[]): Promise<ReadonlyMap<Stage, LedgerSample[]>> {
  const samples = new Map<Stage, LedgerSample[]>(stages.map((stage) => [stage, []]));
  for (let round = 1; round <= bench.rounds; round += 1) {
    for (const stage of stages) {
      const { wallets, name } = stage.size;
      const sample = await stage.ledger.run({ act: 'pairs', wallets, callers: LEDGER_CALLERS, seconds: bench.seconds });
      samples.get(stage)?.push(sample);
      bench.say(
        `round ${round}, ${name}: ${Math.round(sample.perSecond)} pairs/s, database ${sample.databaseMicros.toFixed(1)} us a pair`,
      );
    }
  }
  return samples;
}

/** What has changed since the books were filled. */
async function faultIn(bench: Bench, { size, database }: Stage): Promise<string | undefined> {
  const { wallets, entries, found } = await checkChanges(database.owner);
  bench.note(
    `${size.name}: the check of ${wallets} wallets that had changed, with ${entries} entries, found ${found} differences.`,
  );
  return found === 0n ? undefined : `the check of the ledger found ${found} differences`;
}

interface Found {
  /** The row of the calls. It is undefined where they could not be measured. */
  readonly calls: Row | undefined;
  /** The same on the smallest books. */
  readonly empty: Row | undefined;
  readonly pairs: readonly LedgerSample[];
  readonly fault: string | undefined;
}

function rowOf({ size }: Stage, { calls, empty, pairs, fault }: Found): Row {
  const isVoid = calls?.isVoid ?? fault;
  const [costs, costsOfEmpty] = [costsOf(calls), costsOf(empty)];
  return {
    target: size.name,
    figures: {
      ...calls?.figures,
      'times empty': figure(
        'times',
        costs.map((cost, round) => cost / (costsOfEmpty[round] ?? Number.NaN)),
      ),
      'pairs/s': figure(
        'pairs/s',
        pairs.map(({ perSecond }) => perSecond),
      ),
      'database, pair': figure(
        'us/pair',
        pairs.map(({ databaseMicros }) => databaseMicros),
      ),
    },
    ...(isVoid === undefined ? {} : { isVoid }),
  };
}

/** Returns, for each round, what a call costs in the service and the database together. */
function costsOf(calls: Row | undefined): readonly number[] {
  const database = calls?.figures['database']?.samples ?? [];
  return (calls?.figures['service']?.samples ?? []).map((service, round) => service + (database[round] ?? Number.NaN));
}
