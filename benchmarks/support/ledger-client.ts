import type { LedgerGround, LedgerOrder, LedgerReport } from '../ledger/main.ts';
import { PAIR_PRICE_MICROS } from '../ledger/price.ts';
import { OWN_ROOT } from './root.ts';
import { cpuMicrosOf } from './cpu.ts';
import type { BenchDatabase } from './database.ts';
import { pinned } from './processes.ts';
import type { Tools } from './tools.ts';
import { startWorker } from './worker.ts';

/** What a stretch of work on the ledger took. */
export interface LedgerSample {
  /** Pairs, or single-row commits. */
  readonly done: number;
  readonly perSecond: number;
  /** The processor micros that each of them took. */
  readonly clientMicros: number;
  readonly databaseMicros: number;
}

/** The ledger in a process of its own, on the core of the gateway. */
export interface LedgerClient {
  readonly run: (order: LedgerOrder) => Promise<LedgerSample>;
  readonly stop: () => Promise<void>;
}

interface LedgerClientOptions extends Omit<LedgerGround, 'databaseUrl' | 'root'> {
  readonly tools: Tools;
  readonly cores: string;
  readonly database: BenchDatabase;
  /** The root of the checkout. If it is absent, it is this checkout. */
  readonly root?: string;
}

export function startLedgerClient(options: LedgerClientOptions): LedgerClient {
  const { tools, cores, database, root = OWN_ROOT, ...ground } = options;
  const worker = startWorker<LedgerOrder, LedgerReport>({
    command: pinned(tools, cores, [process.execPath]),
    script: new URL('../ledger/main.ts', import.meta.url),
    argument: { databaseUrl: database.url, root, ...ground } satisfies LedgerGround,
  });
  return {
    run: async (order) => {
      const before = cpuMicrosOf(database.pid);
      const { done, seconds, cpuMicros } = await worker.tell(order);
      const databaseMicros = (cpuMicrosOf(database.pid) - before) / done;
      return { done, perSecond: done / seconds, clientMicros: cpuMicros / done, databaseMicros };
    },
    stop: worker.stop,
  };
}

/** Returns by how many micros the charges in the books exceed what so many pairs charge. */
export async function differenceFromPairs({ owner }: BenchDatabase, pairs: number): Promise<bigint> {
  const { rows } = await owner.query<{ charged: bigint }>(
    `select coalesce(sum(amount_micros), 0)::bigint as charged from ledger.entries where kind = 'charge'`,
  );
  return (rows[0]?.charged ?? 0n) - BigInt(PAIR_PRICE_MICROS) * BigInt(pairs);
}
