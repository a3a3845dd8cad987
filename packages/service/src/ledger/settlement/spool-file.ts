import { type FileHandle, mkdir, open, stat, unlink } from 'node:fs/promises';
import path from 'node:path';
import { randomBase62 } from '#kernel/random.ts';

const NAME_LENGTH = 22; // 131 bits: no two processes of whatever machine take the same.
const SUFFIX = '.jsonl';

/** A name in the spool that nobody has used. */
export function newSpoolName(): string {
  return randomBase62(NAME_LENGTH) + SUFFIX;
}

export function isSpoolName(name: string): boolean {
  return name.endsWith(SUFFIX);
}

/** A file of settlements that this process writes. */
export interface SpoolFile {
  readonly name: string;
  /**
   * Adds the text at the end and resolves once it is on disk. False where another process has claimed the file, perhaps
   * before it could see the text. Throws with what is in the file as it was before.
   */
  readonly append: (text: string) => Promise<boolean>;
  /** True while nothing half-written is at its end. */
  readonly isSound: () => boolean;
  readonly close: () => Promise<void>;
}

/** Makes a file for its owner alone, and its directory where there is none. */
export async function createSpoolFile(directory: string): Promise<SpoolFile> {
  const made = await mkdir(directory, { recursive: true, mode: 0o700 });
  const name = newSpoolName();
  const file = path.join(directory, name);
  const handle = await open(file, 'ax', 0o600);
  try {
    await syncDirectory(directory); // Or a power cut could take the whole file.
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
      return isThere(file);
    },
    isSound: () => isSound,
    close: () => handle.close(),
  };
}

async function cutOff(handle: FileHandle, bytes: number): Promise<boolean> {
  return handle.truncate(bytes).then(
    () => true,
    () => false,
  );
}

async function isThere(file: string): Promise<boolean> {
  return (await unlessMissing(stat(file))) !== undefined;
}

/** Puts on disk that a directory is there, and each of those above it up to the first that was made with it. */
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

/** Removes a file; one that is gone already is as good. */
export async function removeSpoolFile(file: string): Promise<void> {
  await unlessMissing(unlink(file));
}

/** What the operation gives, or undefined where the file or directory does not exist. */
export async function unlessMissing<Result>(operation: Promise<Result>): Promise<Result | undefined> {
  try {
    return await operation;
  } catch (fault) {
    if (codeOf(fault) === 'ENOENT') return undefined;
    throw fault;
  }
}

/** The system's code of a fault, such as `ENOSPC`. */
export function codeOf(fault: unknown): string | undefined {
  return fault instanceof Error && 'code' in fault && typeof fault.code === 'string' ? fault.code : undefined;
}
