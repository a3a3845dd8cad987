import { statfs } from 'node:fs/promises';

const MEBIBYTE = 1_048_576;
const SHARE = 8;
const LOG_MIB_MIN = 1_024; // PostgreSQL's own default.
const LOG_MIB_MAX = 4_096;

/**
 * About how many MiB of log the server keeps under load: an eighth of `freeBytes`, 1024 to 4096. A page goes whole into the
 * log when it is first changed after a checkpoint, and a checkpoint comes each half of this: of 1024, with calls to a million
 * wallets, every few seconds, and five sixths of the log are such pages.
 */
export function logMib(freeBytes: number): number {
  return Math.min(LOG_MIB_MAX, Math.max(LOG_MIB_MIN, Math.floor(freeBytes / SHARE / MEBIBYTE)));
}

/** What is free on the disk of a directory, in bytes; 0 where that cannot be told. */
export async function freeBytes(directory: string): Promise<number> {
  try {
    const { bavail, bsize } = await statfs(directory);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
