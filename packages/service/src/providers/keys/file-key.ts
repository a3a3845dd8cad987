import { open } from 'node:fs/promises';
import type { SteadyClock } from '#kernel/time/clock.ts';
import { createFetchedKey, KeyFault, keyIn } from '#providers/keys/fetched-key.ts';
import type { KeySource } from '#providers/keys/key-source.ts';

/** A changed file is used within this time. Reading a short file takes less than a millisecond. */
const READ_AGAIN_MS = 1_000;
const RETRY_MS = 500;
const BYTES_MAX = 16 * 1024;

/** A key in a file, such as a mounted secret. The file is read again while calls come, so it may be replaced at any time. */
export function createFileKey(name: string, path: string, clock: SteadyClock): KeySource {
  return createFetchedKey({
    name,
    isToken: false,
    fetch: async () => ({ key: keyIn(await readSmallFile(path)), lifeMs: READ_AGAIN_MS }),
    intervalMs: RETRY_MS,
    clock,
  });
}

/** Reads a file of at most 16 KiB. Throws a `KeyFault` that names neither path nor contents. */
export async function readSmallFile(path: string): Promise<string> {
  try {
    await using file = await open(path, 'r');
    // One byte more than is allowed, so that a larger file is noticed without its size: a pipe has none.
    const { bytesRead, buffer } = await file.read(Buffer.alloc(BYTES_MAX + 1), 0, BYTES_MAX + 1, 0);
    if (bytesRead <= BYTES_MAX) return buffer.toString('utf8', 0, bytesRead);
  } catch {
    throw new KeyFault('its file cannot be read');
  }
  throw new KeyFault('its file is too large');
}
