import { readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { codeOf, isSpoolName, newSpoolName, removeSpoolFile, unlessMissing } from '#ledger/settlement/spool-file.ts';
import { readSpooled } from '#ledger/settlement/spool-record.ts';

/** What became of the settlements of a file. If the database is away, landing throws instead. */
export interface Landing {
  /** Tells whether some settlements could not land now but may later, such as those of a locked wallet. */
  readonly isStuck: boolean;
  /** How many can never land, because the database refuses them as they are. */
  readonly refused: number;
}

interface ReplayOptions {
  readonly directory: string;
  readonly isOwn: (name: string) => boolean;
  readonly land: (settlements: readonly Settlement[]) => Promise<Landing>;
  readonly log: Log;
}

/** Faults of this process or machine that pass and say nothing about the file. */
const PASSING_CODES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/**
 * Settles what other processes left on disk. It does not ask whether they are alive, because the answer would be out of date
 * on arrival. It need not know: settling twice is the same as settling once, and a live owner notices the claim and writes
 * its newest lines again (decision 88). True if everything has landed or was set aside. False if something must wait, or if
 * another process was quicker to claim a file and may not have settled it yet.
 */
export async function replayFiles(options: ReplayOptions): Promise<boolean> {
  const names = (await unlessMissing(readdir(options.directory))) ?? [];
  let isAllDone = true;
  for (const name of names) {
    if (!isSpoolName(name) || options.isOwn(name)) continue;
    isAllDone = (await replayFile(options, name)) && isAllDone;
  }
  return isAllDone;
}

async function replayFile(options: ReplayOptions, name: string): Promise<boolean> {
  const { directory, land, log } = options;
  const claimed = path.join(directory, newSpoolName());
  // Renamed before it is read. A line that its owner adds after the rename may be missed here, but then the owner sees
  // that its file is gone and writes the line to a new one.
  const isClaimed = await unlessMissing(rename(path.join(directory, name), claimed).then(() => true));
  if (isClaimed === undefined) return false; // Another process has claimed it, and may not have settled it yet.
  const read = await readText(options, claimed);
  if (read === 'taken' || read === 'set aside') return read === 'set aside';
  const { settlements, malformed, isTorn } = readSpooled(read.text);
  const { isStuck, refused } = await land(settlements);
  if (isStuck) return false; // The file stays under its new name, and the next pass of any process claims it again.
  log.warn(
    { settlements: settlements.length, isTorn },
    'settlements that another process left on disk are in the database',
  );
  if (malformed + refused === 0) await removeSpoolFile(claimed);
  else await setAside(options, claimed, { malformed, refused });
  return true;
}

/** Reads a claimed file, or says why there is nothing to do with it. A fault that passes is thrown, and the file stays. */
async function readText(
  options: ReplayOptions,
  claimed: string,
): Promise<{ readonly text: string } | 'taken' | 'set aside'> {
  try {
    const text = await unlessMissing(readFile(claimed, 'utf8'));
    return text === undefined ? 'taken' : { text };
  } catch (fault) {
    if (PASSING_CODES.has(codeOf(fault) ?? '')) throw fault;
    await setAside(options, claimed, { fault: describeFault(fault) });
    return 'set aside';
  }
}

/** Keeps a file that a person may still make sense of, under a name that no replay picks up again. */
async function setAside({ log }: ReplayOptions, claimed: string, why: object): Promise<void> {
  const file = `${claimed}.unreadable`;
  await unlessMissing(rename(claimed, file));
  log.error({ file: path.basename(file), ...why }, 'a settlement file holds lines that cannot be booked: look at it');
}
