import { readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { describeFault, type Log } from '#kernel/log.ts';
import type { Settlement } from '#ledger/settlement/settlement.ts';
import { codeOf, isSpoolName, newSpoolName, removeSpoolFile, unlessMissing } from '#ledger/settlement/spool-file.ts';
import { readSpooled } from '#ledger/settlement/spool-record.ts';

/** How settlements of a file met the database. Thrown instead: it is away, and none can be said to have landed. */
export interface Landing {
  /** Some could not land now and may later. */
  readonly isStuck: boolean;
  /** So many never will: the database refuses them as they are. */
  readonly refused: number;
}

interface ReplayOptions {
  readonly directory: string;
  readonly isOwn: (name: string) => boolean;
  readonly land: (settlements: readonly Settlement[]) => Promise<Landing>;
  readonly log: Log;
}

/** Faults of this process or machine that pass, and say nothing of the file. */
const PASSING_CODES = new Set(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR']);

/**
 * Lands what other processes left. Whether they live is not asked: landing twice is the same as once, and an owner that
 * lives writes anew what it had added after its file was claimed. True when all of it has landed or been set aside; false
 * also where another process was quicker with a file, and has perhaps not landed it yet.
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
  // Renamed before it is read: what its owner adds later, it finds to be added in vain, and writes elsewhere.
  const isClaimed = await unlessMissing(rename(path.join(directory, name), claimed).then(() => true));
  if (isClaimed === undefined) return false; // Someone else has it.
  const read = await readText(options, claimed);
  if (read === 'taken' || read === 'set aside') return read === 'set aside';
  const { settlements, malformed, isTorn } = readSpooled(read.text);
  const { isStuck, refused } = await land(settlements);
  if (isStuck) return false;
  log.warn({ settlements: settlements.length, isTorn }, 'settlements that a process left behind are in the database');
  if (malformed + refused === 0) await removeSpoolFile(claimed);
  else await setAside(options, claimed, { malformed, refused });
  return true;
}

/** What a file says, or why there is nothing to be done with it. */
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

/** Nothing is thrown away that a person may still make sense of; nor does it stand in the way of the others. */
async function setAside({ log }: ReplayOptions, claimed: string, why: object): Promise<void> {
  const file = `${claimed}.unreadable`;
  await unlessMissing(rename(claimed, file));
  log.error({ file: path.basename(file), ...why }, 'a file of settlements holds what cannot be booked: look at it');
}
