import path from 'node:path';
import { createSpoolFile, removeSpoolFile, type SpoolFile } from '#ledger/settlement/spool-file.ts';

/** The files of this process in the spool. Its steps are called one after the other. */
export interface SpoolWriter {
  /** Resolves once the lines are on disk, where nobody has claimed them before they could be read. */
  readonly append: (lines: string) => Promise<void>;
  readonly hasFiles: () => boolean;
  readonly isOwn: (name: string) => boolean;
  readonly removeAll: () => Promise<void>;
  /** Leaves the files where they are. */
  readonly close: () => Promise<void>;
}

/** How often in a row others may claim the file that is being written before it counts as a fault. */
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
      if (current?.isSound() === false) await letGo(); // Its end is torn, which only a last line may be.
      for (let claims = 0; claims < CLAIMS_MAX; claims += 1) {
        current ??= await createSpoolFile(directory);
        const { name, append } = current;
        names.add(name);
        if (await append(lines)) return;
        names.delete(name);
        await letGo();
      }
      throw new Error(`The file was claimed ${CLAIMS_MAX} times.`);
    },
    hasFiles: () => names.size > 0,
    isOwn: (name) => names.has(name),
    removeAll: async () => {
      const all = [...names];
      names.clear(); // What cannot be removed is replayed like the file of another, which does no harm.
      await letGo();
      for (const name of all) await removeSpoolFile(path.join(directory, name));
    },
    close: letGo,
  };
}
