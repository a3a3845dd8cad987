import type { Pool } from '#db/pool/pool.ts';
import {
  clearRebuilt,
  holdRollUps,
  letRollUpsGo,
  rebuildReceipts,
  rebuildTraces,
  replaceDay,
  selectDays,
  selectRebuildFrom,
} from '#calls/rebuild/queries.ts';

interface Rebuilt {
  /** The first day that was made again: later than asked for if receipts before it are in archives. */
  readonly from: Date;
  readonly receipts: number;
  readonly traces: number;
  readonly days: number;
}

/** Wallets and traces of one statement. */
interface PageSizes {
  readonly walletsMax: number;
  readonly tracesMax: number;
}

const PAGES: PageSizes = { walletsMax: 200, tracesMax: 20_000 };

/**
 * Makes the sums of a time again: those of charged live calls from receipts, exactly; all others from traces, as far as they are
 * kept, but never lower than they are. `from` and `to` are UTC days, `to` is exclusive.
 *
 * Days with calls whose receipts are in an archive stay as they are: `from` moves behind them.
 *
 * Safe beside a running service, and repeatable. No receipt is added meanwhile, so charts lag until it ends. All statements
 * use one connection, which holds the lock: if it is lost, so is the lock, and the next rebuild begins anew. Each
 * statement is a transaction of its own: one reads a page, or replaces a day.
 */
export async function rebuildStats(
  owner: Pool,
  asked: { readonly from: Date; readonly to: Date },
  { walletsMax, tracesMax }: PageSizes = PAGES,
): Promise<Rebuilt> {
  const client = await owner.connect();
  let isWhole = false;
  try {
    await holdRollUps(client);
    await clearRebuilt(client);
    const time = { from: await selectRebuildFrom(client, asked.from), to: asked.to };
    const receipts = await readPages((after) => rebuildReceipts(client, time, { after, most: walletsMax }));
    const traces = await readPages((after) => rebuildTraces(client, time, { after, most: tracesMax }));
    const days = await selectDays(client, time);
    for (const day of days) await replaceDay(client, day);
    await clearRebuilt(client);
    await letRollUpsGo(client);
    isWhole = true;
    return { from: time.from, receipts, traces, days: days.length };
  } finally {
    client.release(!isWhole); // A connection that may still hold the lock is closed.
  }
}

async function readPages(
  read: (after: bigint) => Promise<{ readonly last: bigint | null; readonly calls: bigint }>,
): Promise<number> {
  let calls = 0;
  for (let next: bigint | null = 0n; next !== null; ) {
    const page: Awaited<ReturnType<typeof read>> = await read(next);
    calls += Number(page.calls);
    next = page.last;
  }
  return calls;
}
