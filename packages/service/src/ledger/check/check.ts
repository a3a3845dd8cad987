import type { Pool } from '#db/pool.ts';
import { selectChanges, selectCheck } from '#ledger/check/queries.ts';

/** A figure in the books that is not what the entries, holds and receipts say. */
export interface Difference {
  readonly rule: string;
  readonly walletId: bigint;
  readonly expected: bigint;
  readonly found: bigint;
}

export interface LedgerCheck {
  /** Wallets and entries that were looked at. */
  readonly wallets: bigint;
  readonly entries: bigint;
  /** The first of them, by wallet. */
  readonly differences: readonly Difference[];
  /** All of them. 0: the books are right to the micro. */
  readonly found: bigint;
}

/** More broken figures than anybody reads, and few enough for any memory. */
export const DIFFERENCES_MAX = 1_000;
/** Small enough that no statement holds back the vacuum, or the other work of the database, for long. */
const WALLETS_PER_STATEMENT = 1_000;

/** Re-derives every balance, hold, cap and receipt of the whole ledger in one snapshot (WA-09). Changes nothing. */
export async function checkLedger(pool: Pool): Promise<LedgerCheck> {
  const rows = await selectCheck(pool, DIFFERENCES_MAX);
  const [{ wallets, entries, all } = { wallets: 0n, entries: 0n, all: null }] = rows;
  return { wallets, entries, differences: differencesIn(rows), found: all ?? 0n };
}

/**
 * Checks the wallets that have changed since they were last found right, by what is new in them: what it costs goes by
 * that and not by the history. Ends early where `goesOn` says so. Blind to changes of rows that it has seen before; `checkLedger` is not.
 */
export async function checkChanges(pool: Pool, goesOn: () => boolean = () => true): Promise<LedgerCheck> {
  const differences: Difference[] = [];
  let wallets = 0n;
  let entries = 0n;
  let found = 0n;
  for (let after: bigint | null = 0n; after !== null && goesOn(); ) {
    const rows = await selectChanges(pool, after, WALLETS_PER_STATEMENT);
    const page = differencesIn(rows);
    differences.push(...page.slice(0, DIFFERENCES_MAX - differences.length));
    found += BigInt(page.length);
    wallets += BigInt(rows[0]?.wallets ?? 0);
    entries += rows[0]?.entries ?? 0n;
    after = rows[0]?.last_wallet ?? null;
  }
  return { wallets, entries, differences, found };
}

/** Rows without a rule carry the counts alone. */
function differencesIn(
  rows: readonly {
    readonly rule: string | null;
    readonly wallet_id: bigint;
    readonly expected: bigint;
    readonly found: bigint;
  }[],
): readonly Difference[] {
  return rows.flatMap(({ rule, wallet_id: walletId, expected, found }) =>
    rule === null ? [] : [{ rule, walletId, expected, found }],
  );
}
