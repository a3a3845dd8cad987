import { type FileHandle, mkdir, open, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { randomBase62 } from '#kernel/crypto/random.ts';

const NAME_LENGTH = 22; // 131 bits: no two processes ever pick the same name, not even on different machines.
const SUFFIX = '.jsonl';

/**
 * Makes a file name that was never used before. Names must not repeat: a writer takes "my file still has its name" as
 * proof that no other process has claimed it.
 */
export function newSpoolName(): string {
  return randomBase62(NAME_LENGTH) + SUFFIX;
}

export function isSpoolName(name: string): boolean {
  return name.endsWith(SUFFIX);
}

/** A settlement file that this process writes. */
export interface SpoolFile {
  readonly name: string;
  /**
   * Appends the text and resolves once it is on disk. False if another process has claimed the file, perhaps before it
   * could see the text; the text must then be written again elsewhere. If it throws, the file is as it was before.
   */
  readonly append: (text: string) => Promise<boolean>;
  /** Returns false if a failed write has left a torn line at the end that could not be cut off. */
  readonly isSound: () => boolean;
  readonly close: () => Promise<void>;
}

/** Creates a file that only its owner may read, and its directory if it is missing. */
export async function createSpoolFile(directory: string): Promise<SpoolFile> {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = newSpoolName();
  const file = path.join(directory, name);
  const handle = await open(file, 'ax', 0o600);
  try {
    await syncDirectory(directory); // Without this, a power cut could take the whole file.
    if (made !== undefined) await syncParents(directory, made);
  } catch (fault) {
    await handle.close();
    await removeSpoolFile(file);
    throw fault;
  }
  let bytes = 0;
  let isSound = true;
  return {
    name,
    append: async (text) => {
      try {
        await handle.writeFile(text);
        await handle.datasync();
      } catch (fault) {
        isSound = await cutOff(handle, bytes);
        throw fault;
      }
      bytes += Buffer.byteLength(text);
      // Checked after the fsync. If the file still has its name, a claimer renames it later and so reads this text too.
      return isThere(file);
    },
    isSound: () => isSound,
    close: () => handle.close(),
  };
}

/** Removes a half-written line, so that the next append does not continue it. False if that fails too. */
async function cutOff(handle: FileHandle, bytes: number): Promise<boolean> {
  return handle.truncate(bytes).then(
    () => true,
    () => false,
  );
}

async function isThere(file: string): Promise<boolean> {
  return (await unlessMissing(stat(file))) !== undefined;
}

/** Syncs the parents of each directory that was just made, from `directory` up to `first`, so that they survive a power cut. */
async function syncParents(directory: string, first: string): Promise<void> {
  for (let made = directory; made.length >= first.length; made = path.dirname(made)) {
    await syncDirectory(path.dirname(made));
  }
}

async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes a file. A file that is already gone is fine: another process has claimed it and settles it as well. */
export async function removeSpoolFile(file: string): Promise<void> {
  await unlessMissing(unlink(file));
}

/** Returns the result of the operation, or undefined if the file or directory does not exist. */
export async function unlessMissing<Result>(operation: Promise<Result>): Promise<Result | undefined> {
  try {
    return await operation;
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return undefined;
    throw fault;
  }
}

/** Returns the system's code of a fault, such as `ENOSPC`. */
export function codeOf(fault: unknown): string | undefined {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : undefined;
}
