import type { Pool } from '#db/pool.ts';
import { systemClock } from '#kernel/clock.ts';
import { checkChanges } from '#ledger/check/check.ts';
import { checkAndNote } from '#operator/ledger-check.ts';

/** With fewer entries than this, the time for a million would only be a guess. */
const ENTRIES_FOR_A_RATE = 10_000;

/**
 * Checks the whole ledger, or only what has changed since it was last found right, and prints the result. Exit status 1 on
 * any difference, even of one micro.
 */
export async function printLedgerCheck(owner: Pool, { isIncremental }: { isIncremental: boolean }): Promise<number> {
  const begunMs = systemClock.nowMs();
  const { wallets, entries, differences, found } = await (isIncremental ? checkChanges(owner) : checkAndNote(owner));
  const seconds = (systemClock.nowMs() - begunMs) / 1_000;
  for (const { rule, walletId, expected, found: is } of differences) {
    console.log(`wallet ${walletId}: ${rule}: expected ${expected}, found ${is}`);
  }
  const hidden = found - BigInt(differences.length);
  if (hidden > 0n) console.log(`... and ${hidden} more`);
  const which = isIncremental ? ' that are new' : '';
  console.log(`${wallets} wallets, ${entries} entries${which}, ${found} differences`);
  const rate = ((seconds / Number(entries)) * 1e6).toFixed(1);
  console.log(`${seconds.toFixed(1)} s${entries < ENTRIES_FOR_A_RATE ? '' : `, ${rate} s a million entries`}`);
  return found === 0n ? 0 : 1;
}
