import type { Pool } from '#db/pool/pool.ts';
import { noteCheckedFrom, selectChanges, selectCheck, selectOpenFrom } from '#ledger/check/queries.ts';

/** A figure in the books that differs from what the entries, holds and receipts add up to. Amounts are in micros. */
export interface Difference {
  /** The broken rule in words, as the SQL function names it. */
  readonly rule: string;
  readonly walletId: bigint;
  readonly expected: bigint;
  readonly found: bigint;
}

export interface LedgerCheck {
  /** How many wallets and entries the check looked at. */
  readonly wallets: bigint;
  readonly entries: bigint;
  /** The first `DIFFERENCES_MAX` differences, by wallet. */
  readonly differences: readonly Difference[];
  /** How many differences there are in all. 0 means that the books are right to the micro. */
  readonly found: bigint;
}

/** These are more differences than anybody reads, and few enough to fit in memory. */
export const DIFFERENCES_MAX = 1_000;
/**
 * The number is small enough that no statement delays the vacuum, or other work of the database, for long: it takes
 * some 20 ms under load.
 */
const WALLETS_PER_STATEMENT = 250;

/** Derives every balance, hold, cap and receipt of the whole ledger again, in one snapshot (WA-09). Changes nothing. */
export async function checkLedger(pool: Pool): Promise<LedgerCheck> {
  const rows = await selectCheck(pool, DIFFERENCES_MAX);
  const [{ wallets, entries, all } = { wallets: 0n, entries: 0n, all: null }] = rows;
  return { wallets, entries, differences: differencesIn(rows), found: all ?? 0n };
}

/**
 * Checks only the wallets that have changed since a check last found them right, and only their new rows. The cost grows
 * with the changes and not with the history. It cannot see changes to rows that it has checked before; `checkLedger` can.
 * `rest` is called between pages, and the check stops early when it returns false.
 */
export async function checkChanges(pool: Pool, rest = async (): Promise<boolean> => true): Promise<LedgerCheck> {
  const differences: Difference[] = [];
  let wallets = 0n;
  let entries = 0n;
  let found = 0n;
  const from = await selectOpenFrom(pool);
  // One page of wallets after another. A snapshot of all of them would hold back the vacuum for as long as the pass takes.
  let after: bigint | null = 0n;
  while (after !== null && (after === 0n || (await rest()))) {
    const rows: Awaited<ReturnType<typeof selectChanges>> = await selectChanges(pool, after, WALLETS_PER_STATEMENT);
    const page = differencesIn(rows);
    differences.push(...page.slice(0, DIFFERENCES_MAX - differences.length));
    found += BigInt(page.length);
    wallets += BigInt(rows[0]?.wallets ?? 0);
    entries += rows[0]?.entries ?? 0n;
    after = rows[0]?.last_wallet ?? null;
  }
  if (after === null && found === 0n) await noteCheckedFrom(pool, from);
  return { wallets, entries, differences, found };
}

/** A check without differences still returns one row, for the counts. That row has no rule. */
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
