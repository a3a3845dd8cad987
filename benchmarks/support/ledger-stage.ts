import path from 'node:path';
import type { LedgerOrder } from '../ledger/main.ts';
import { type Bench, figure, type Row } from '../measure.ts';
import type { Checkout } from './checkout.ts';
import type { BenchDatabase } from './database.ts';
import { type LedgerClient, type LedgerSample, startLedgerClient } from './ledger-client.ts';
import { placement } from './tools.ts';

export const WALLETS = 10_000;
const WARM_UP_SECONDS = 1;
const COMMITS = 'single-row commits';

/** What is measured in each round, in this order, and the commits of single rows that everything is compared with. */
export type Orders = Readonly<Record<string, Omit<LedgerOrder, 'seconds'>>>;

export function ordersOf(pairs: Readonly<Record<string, Omit<LedgerOrder, 'seconds' | 'act'>>>): Orders {
  const orders = Object.entries(pairs).map(([name, order]) => [name, { act: 'pairs', ...order }] as const);
  return { ...Object.fromEntries(orders), [COMMITS]: { act: 'commits', wallets: 0, callers: 1 } };
}

/** The ledger of one checkout, on a database of its own. */
export interface Stage {
  readonly suffix: string;
  readonly orders: Orders;
  readonly checkout: Checkout;
  readonly database: BenchDatabase;
  readonly client: LedgerClient;
  readonly samples: ReadonlyMap<string, LedgerSample[]>;
  pairs: number;
}

interface StageOptions {
  readonly checkout: Checkout;
  readonly orders: Orders;
  /** The text that follows the names of its rows. */
  readonly suffix?: string;
}

/** Ends with `started`. */
export async function setStage(
  bench: Bench,
  { checkout, orders, suffix = '' }: StageOptions,
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
  const samples = new Map<string, LedgerSample[]>(Object.keys(orders).map((name) => [name, []]));
  return { suffix, orders, checkout, database, client, samples, pairs: 0 };
}

/** Measures one round. Round 0 is the warm-up. */
export async function measureRound(bench: Bench, stage: Stage, round: number): Promise<void> {
  for (const [name, order] of Object.entries(stage.orders)) {
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

/** Returns the rows, and tells the report how many pairs there were. */
export async function rowsOf(bench: Bench, stage: Stage): Promise<Row[]> {
  const fault = await faultIn(stage);
  bench.note(
    `ledger${stage.suffix}: ${stage.pairs} pairs were charged; the check of the ledger found ${fault ?? 'no difference'}.`,
  );
  return Object.keys(stage.orders).map((name) => rowOf(name, stage, fault));
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
