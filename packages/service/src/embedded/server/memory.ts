import { totalmem } from 'node:os';

const MEBIBYTE = 1_048_576;
const SHARE = 8;
const BUFFERS_MIB_MIN = 128; // PostgreSQL's own default, also on a small machine.
const BUFFERS_MIB_MAX = 2_048; // About as much as calls to a million wallets touch.

/**
 * The size of PostgreSQL's shared buffers in MiB: an eighth of `memoryBytes`, from 128 to 2048. The server takes the memory
 * as it needs it. Pages that are not in the buffers are read from the kernel's cache, several for each call.
 */
export function sharedBuffersMib(memoryBytes: number): number {
  return Math.min(BUFFERS_MIB_MAX, Math.max(BUFFERS_MIB_MIN, Math.floor(memoryBytes / SHARE / MEBIBYTE)));
}

/** The memory of the machine, or the container's limit when that is less, in bytes. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory(); // 0, or more than there is, without a limit.
  return limit > 0 ? Math.min(limit, totalmem()) : totalmem();
}
