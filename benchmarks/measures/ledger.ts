import path from 'node:path';
import type { LedgerOrder } from '../ledger/main.ts';
import { type Bench, figure, type Measure, type Row } from '../measure.ts';
import { type Checkout, openCheckout } from '../support/checkout.ts';
import type { BenchDatabase } from '../support/database.ts';
import { type LedgerClient, type LedgerSample, startLedgerClient } from '../support/ledger-client.ts';
import { OWN_ROOT } from '../support/root.ts';
import { placement } from '../support/tools.ts';

const WALLETS = 10_000;
const BUSY = 256;
const WARM_UP_SECONDS = 1;
const COMMITS = 'single-row commits';

/** What is measured in each round, in this order. */
const ORDERS: Readonly<Record<string, Omit<LedgerOrder, 'seconds'>>> = {
  'lone pairs': { act: 'pairs', wallets: WALLETS, callers: 1 },
  'pairs by 8 callers': { act: 'pairs', wallets: WALLETS, callers: 8 },
  'pairs by 30 callers': { act: 'pairs', wallets: WALLETS, callers: 30 },
  'pairs by 64 callers': { act: 'pairs', wallets: WALLETS, callers: 64 },
  'pairs over 10,000 wallets': { act: 'pairs', wallets: WALLETS, callers: BUSY },
  'pairs on one wallet': { act: 'pairs', wallets: 1, callers: BUSY },
  [COMMITS]: { act: 'commits', wallets: 0, callers: 1 },
};

/** The ledger of one checkout, on a database of its own. */
interface Stage {
  /** After the names of its rows. */
  readonly suffix: string;
  readonly checkout: Checkout;
  readonly database: BenchDatabase;
  readonly client: LedgerClient;
  readonly samples: ReadonlyMap<string, LedgerSample[]>;
  pairs: number;
}

/**
 * Pairs of hold and settlement by the gateway's own code, by one caller and by many that each wait for their last. Beside
 * them, what one connection can commit, a row at a time, on the same disk.
 */
export const ledger: Measure = {
  name: 'ledger',
  title: 'Ledger: holds placed and settled, against single-row commits',
  run: async (bench) => {
    await using started = new AsyncDisposableStack();
    const stages = [await setStage(bench, await openCheckout(OWN_ROOT), '', started)];
    if (bench.beside !== undefined) stages.push(await setStage(bench, bench.beside, ' (beside)', started));
    for (let round = 0; round <= bench.rounds; round += 1) {
      for (const stage of stages) await measureRound(bench, stage, round);
    }
    const rows: Row[] = [];
    for (const stage of stages) {
      const fault = await faultIn(stage);
      bench.note(
        `ledger${stage.suffix}: ${stage.pairs} pairs were charged; the check of the ledger found ${fault ?? 'no difference'}.`,
      );
      rows.push(...Object.keys(ORDERS).map((name) => rowOf(name, stage, fault)));
    }
    return rows;
  },
};

async function setStage(
  bench: Bench,
  checkout: Checkout,
  suffix: string,
  started: AsyncDisposableStack,
): Promise<Stage> {
  const { tools } = bench;
  const cores = placement();
  const directory = path.join(bench.directory, `ledger${suffix === '' ? '' : '-beside'}`);
  const database = await checkout.database.startDatabase({
    tools,
    cores: cores.database,
    directory: path.join(directory, 'postgres'),
  });
  started.defer(database.close);
  const { appId } = await checkout.database.addApp(database.owner);
  await checkout.fill.fillLedger(database.owner, { appIds: [appId], wallets: WALLETS, callsEach: 0 });
  const { root } = checkout;
  const client = startLedgerClient({ tools, cores: cores.gateway, directory, database, appIds: [appId], root });
  started.defer(client.stop);
  const samples = new Map<string, LedgerSample[]>(Object.keys(ORDERS).map((name) => [name, []]));
  return { suffix, checkout, database, client, samples, pairs: 0 };
}

/** Round 0 is the warm-up. */
async function measureRound(bench: Bench, stage: Stage, round: number): Promise<void> {
  for (const [name, order] of Object.entries(ORDERS)) {
    const isWarmUp = round === 0;
    const sample = await stage.client.run({ ...order, seconds: isWarmUp ? WARM_UP_SECONDS : bench.seconds });
    if (order.act === 'pairs') stage.pairs += sample.done;
    if (isWarmUp) continue;
    stage.samples.get(name)?.push(sample);
    bench.say(
      `round ${round}, ${name}${stage.suffix}: ${Math.round(sample.perSecond)} a second, ` +
        `client ${sample.clientMicros.toFixed(1)} us, database ${sample.databaseMicros.toFixed(1)} us each`,
    );
  }
}

async function faultIn({ checkout, database, pairs }: Stage): Promise<string | undefined> {
  const { found } = await checkout.check.checkLedger(database.owner);
  const difference = await checkout.ledgerClient.differenceFromPairs(database, pairs);
  return found === 0n && difference === 0n ? undefined : `${found} differences, ${difference} micros too much charged`;
}

/** What is compared with commits is so within each round: the disk is not as fast in one as in another. */
function rowOf(name: string, { samples, suffix }: Stage, fault: string | undefined): Row {
  const own = samples.get(name) ?? [];
  const commits = samples.get(COMMITS) ?? [];
  const column = (unit: string, valueOf: (sample: LedgerSample, round: number) => number) =>
    figure(unit, own.map(valueOf));
  return {
    target: `${name}${suffix}`,
    figures: {
      'a second': column('/s', ({ perSecond }) => perSecond),
      'times commits': column('times', ({ perSecond }, round) => perSecond / (commits[round]?.perSecond ?? Number.NaN)),
      client: column('us', ({ clientMicros }) => clientMicros),
      database: column('us', ({ databaseMicros }) => databaseMicros),
      'database, in commits': column(
        'times',
        ({ databaseMicros }, round) => databaseMicros / (commits[round]?.databaseMicros ?? Number.NaN),
      ),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}
