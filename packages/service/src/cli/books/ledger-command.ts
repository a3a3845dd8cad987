import { createReadStream } from 'node:fs';
import { CommandError } from '#cli/terminal/command-error.ts';
import type { Pool } from '#db/pool/pool.ts';
import { systemClock } from '#kernel/time/clock.ts';
import { checkChanges, DIFFERENCES_MAX } from '#ledger/check/check.ts';
import { compareTold, type ToldDifference } from '#ledger/told/told.ts';
import { checkAndNote } from '#operator/health/ledger-check.ts';

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

/**
 * Compares the charges that callers were told, by the logs and settlement files of gateways, with the books (WA-14). `-` is
 * standard input. Exit status 1 on any difference, and if all lines are malformed, as those of a text log are.
 */
export async function printTold(owner: Pool, files: readonly string[]): Promise<number> {
  let found = 0;
  const report = ({ callId, kind, told, booked }: ToldDifference): void => {
    found += 1;
    if (found <= DIFFERENCES_MAX) console.log(`call ${callId}: ${kind}: told ${told}, booked ${booked}`);
  };
  const sums = await compareTold(owner, textsOf(files), report);
  if (found > DIFFERENCES_MAX) console.log(`... and ${found - DIFFERENCES_MAX} more`);
  const { told, toldMicros, bookedMicros, late, lostMicros, waiting, waitingMicros } = sums;
  console.log(`${sums.lines} lines, ${told} told charges of ${toldMicros} micros, ${bookedMicros} booked`);
  console.log(`${late} charged late, ${lostMicros} micros of them our loss`);
  console.log(`${waiting} not booked yet, ${waitingMicros} micros: their calls still hold the money`);
  if (sums.archived > 0) console.log(`${sums.archived} not compared: their receipts are in archives of months`);
  const { missing, missingMicros, different, doubled, malformed } = sums;
  console.log(`${missing} missing (${missingMicros} micros), ${different} different, ${doubled} doubled`);
  if (malformed > 0) console.log(`${malformed} malformed lines`);
  const isNothing = malformed > 0 && malformed === sums.lines;
  if (isNothing) console.log('Nothing could be compared: the log must be JSON (PURSER_LOG_FORMAT=json).');
  return found > 0 || isNothing ? 1 : 0;
}

/** The texts of some files, one after the other. A line ends with its file. Throws `CommandError`. */
async function* textsOf(files: readonly string[]): AsyncGenerator<string> {
  for (const file of files) {
    try {
      const stream = file === '-' ? process.stdin : createReadStream(file);
      yield* stream.setEncoding('utf8') as AsyncIterable<string>;
    } catch {
      throw new CommandError(`The file \`${file}\` cannot be read.`);
    }
    yield '\n';
  }
}
