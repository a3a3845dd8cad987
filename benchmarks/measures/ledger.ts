import path from 'node:path';
import { checkLedger } from '../../packages/service/src/ledger/check/check.ts';
import type { LedgerOrder } from '../ledger/main.ts';
import { type Bench, figure, type Measure, type Row } from '../measure.ts';
import { addApp, type BenchDatabase, startDatabase } from '../support/database.ts';
import { fillLedger } from '../support/fill.ts';
import {
  differenceFromPairs,
  type LedgerClient,
  type LedgerSample,
  startLedgerClient,
} from '../support/ledger-client.ts';
import { placement } from '../support/tools.ts';

const WALLETS = 10_000;
const WARM_UP_SECONDS = 2;
const COMMITS = 'single-row commits';

/** What is measured in each round, in this order. */
const ORDERS: Readonly<Record<string, Omit<LedgerOrder, 'seconds'>>> = {
  'pairs over 10,000 wallets': { act: 'pairs', wallets: WALLETS },
  'pairs on one wallet': { act: 'pairs', wallets: 1 },
  [COMMITS]: { act: 'commits', wallets: 0 },
};

/**
 * Reserve and settle pairs by the gateway's own code, with 256 callers that each wait for their last; beside them what
 * one connection can commit, a row at a time, on the same disk.
 */
export const ledger: Measure = {
  name: 'ledger',
  title: 'Ledger: holds placed and settled, against single-row commits',
  run: async (bench) => {
    const { tools } = bench;
    const cores = placement();
    const directory = path.join(bench.directory, 'ledger');
    await using started = new AsyncDisposableStack();
    const database = await startDatabase({ tools, cores: cores.database, directory: path.join(directory, 'postgres') });
    started.defer(database.close);
    const { appId } = await addApp(database.owner);
    await fillLedger(database.owner, { appIds: [appId], wallets: WALLETS, callsEach: 0 });
    const client = startLedgerClient({ tools, cores: cores.gateway, directory, database, appIds: [appId] });
    started.defer(client.stop);
    const { samples, pairs } = await measureRounds(bench, client);
    const fault = await faultIn(database, pairs);
    bench.note(`ledger: ${pairs} pairs were charged; the check of the ledger found ${fault ?? 'no difference'}.`);
    return Object.keys(ORDERS).map((name) => rowOf(name, samples, fault));
  },
};

type Samples = ReadonlyMap<string, LedgerSample[]>;

async function measureRounds(
  bench: Bench,
  client: LedgerClient,
): Promise<{ readonly samples: Samples; readonly pairs: number }> {
  const samples = new Map<string, LedgerSample[]>(Object.keys(ORDERS).map((name) => [name, []]));
  let pairs = 0;
  for (let round = 0; round <= bench.rounds; round += 1) {
    for (const [name, order] of Object.entries(ORDERS)) {
      const isWarmUp = round === 0;
      const sample = await client.run({ ...order, seconds: isWarmUp ? WARM_UP_SECONDS : bench.seconds });
      if (order.act === 'pairs') pairs += sample.done;
      if (isWarmUp) continue;
      samples.get(name)?.push(sample);
      bench.say(
        `round ${round}, ${name}: ${Math.round(sample.perSecond)} a second, client ${sample.clientMicros.toFixed(1)} us, ` +
          `database ${sample.databaseMicros.toFixed(1)} us each`,
      );
    }
  }
  return { samples, pairs };
}

async function faultIn(database: BenchDatabase, pairs: number): Promise<string | undefined> {
  const { found } = await checkLedger(database.owner);
  const difference = await differenceFromPairs(database, pairs);
  return found === 0n && difference === 0n ? undefined : `${found} differences, ${difference} micros too much charged`;
}

/** `of commits` is taken within each round: the disk is not as fast in one as in another. */
function rowOf(target: string, samples: Samples, fault: string | undefined): Row {
  const own = samples.get(target) ?? [];
  const commits = samples.get(COMMITS) ?? [];
  const column = (unit: string, valueOf: (sample: LedgerSample, round: number) => number) =>
    figure(unit, own.map(valueOf));
  return {
    target,
    figures: {
      'a second': column('/s', ({ perSecond }) => perSecond),
      'times commits': column('times', ({ perSecond }, round) => perSecond / (commits[round]?.perSecond ?? Number.NaN)),
      client: column('us', ({ clientMicros }) => clientMicros),
      database: column('us', ({ databaseMicros }) => databaseMicros),
    },
    ...(fault === undefined ? {} : { isVoid: fault }),
  };
}
