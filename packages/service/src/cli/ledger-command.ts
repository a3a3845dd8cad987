import type { Pool } from '#db/pool.ts';
import { checkLedger } from '#ledger/check.ts';

/** Checks the books and prints what was found. Exit status 1 on any difference, be it one micro. */
export async function printLedgerCheck(owner: Pool): Promise<number> {
  const { wallets, entries, differences } = await checkLedger(owner);
  for (const { rule, walletId, expected, found } of differences) {
    console.log(`wallet ${walletId}: ${rule}: expected ${expected}, found ${found}`);
  }
  console.log(`${wallets} wallets, ${entries} entries, ${differences.length} differences`);
  return differences.length === 0 ? 0 : 1;
}
