import path from 'node:path';
import { createSpoolFile, removeSpoolFile, type SpoolFile } from '#ledger/settlement/spool-file.ts';

/** Writes the spool files of this process. Its functions are never called concurrently. */
export interface SpoolWriter {
  /** Resolves once the lines are on disk, in a file that no process claimed before the lines were in it. */
  readonly append: (lines: string) => Promise<void>;
  readonly hasFiles: () => boolean;
  readonly isOwn: (name: string) => boolean;
  /** Removes every file. Call it only when all settlements in them have landed. */
  readonly removeAll: () => Promise<void>;
  /** Leaves every file on disk, for any process to replay. This one begins another if it must write again. */
  readonly leaveAll: () => Promise<void>;
  /** Closes the current file and leaves all files on disk. */
  readonly close: () => Promise<void>;
}

/** How often in a row other processes may claim the file that is being written before it counts as a fault. */
const CLAIMS_MAX = 10;

export function createSpoolWriter(directory: string): SpoolWriter {
  const names = new Set<string>();
  let current: SpoolFile | undefined;

  async function letGo(): Promise<void> {
    const file = current;
    current = undefined;
    await file?.close();
  }

  return {
    append: async (lines) => {
      if (current?.isSound() === false) await letGo(); // Its end is torn, and only a last line may be torn.
      for (let claims = 0; claims < CLAIMS_MAX; claims += 1) {
        current ??= await createSpoolFile(directory);
        const { name, append } = current;
        names.add(name);
        if (await append(lines)) return;
        // Claimed: the claimer may have read the file before these lines were in it. They go into a new file.
        names.delete(name);
        await letGo();
      }
      throw new Error(`The file was claimed ${CLAIMS_MAX} times.`);
    },
    hasFiles: () => names.size > 0,
    isOwn: (name) => names.has(name),
    removeAll: async () => {
      const all = [...names];
      names.clear(); // A file that cannot be removed is replayed like any other, which does no harm.
      await letGo();
      for (const name of all) await removeSpoolFile(path.join(directory, name));
    },
    leaveAll: async () => {
      names.clear();
      await letGo();
    },
    close: letGo,
  };
}
