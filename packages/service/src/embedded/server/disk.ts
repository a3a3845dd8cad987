import { statfs } from 'node:fs/promises';

const MEBIBYTE = 1_048_576;
const SHARE = 8;
const LOG_MIB_MIN = 1_024; // PostgreSQL's own default.
const LOG_MIB_MAX = 4_096;

/**
 * The size of the write-ahead log that the server keeps under load, in MiB: an eighth of `freeBytes`, from 1024 to 4096. The
 * first change of a page after a checkpoint writes the whole page to the log, and a checkpoint comes whenever half of this
 * size is written. With 1024 MiB and calls to a million wallets, that is every few seconds, and five sixths of the log are
 * whole pages.
 */
export function logMib(freeBytes: number): number {
  return Math.min(LOG_MIB_MAX, Math.max(LOG_MIB_MIN, Math.floor(freeBytes / SHARE / MEBIBYTE)));
}

/** The free space on the disk of a directory, in bytes; 0 when it cannot be determined. */
export async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
