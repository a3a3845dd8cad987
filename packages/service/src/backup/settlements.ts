import { constants, copyFile, mkdir, open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { isErrno, unlessMissing } from '#embedded/files/embedded-postgres-error.ts';

/** A file gets another name when a process claims it. So often in a row is a fault. */
const ROUNDS_MAX = 20;

/**
 * Copies the settlements on disk, forced to the disk, while gateways write, claim and remove them. A file that is gone has another
 * name, which the next round finds, or all of it is in the database. `onto`: files of the same name are replaced, because the later
 * one has all lines of the earlier. `beside`: they stay.
 */
export async function copySettlements(from: string, to: string, way: 'onto' | 'beside'): Promise<void> {
  const seen = new Set<string>();
  for (let round = 0; round < ROUNDS_MAX; round += 1) {
    const entries = (await unlessMissing(readdir(from, { withFileTypes: true }))) ?? [];
    const names = entries.filter((one) => !one.isDirectory() && !seen.has(one.name)).map(({ name }) => name);
    if (names.length === 0) return;
    await mkdir(to, { recursive: true, mode: 0o700 });
    for (const name of names) {
      seen.add(name);
      const copy = path.join(to, name);
      const isCopied = await unlessMissing(copyTo(copy, path.join(from, name), way));
      if (isCopied === true) await forceToDisk(copy);
    }
  }
  throw new Error(`The settlements in ${from} got new names ${ROUNDS_MAX} times.`);
}

async function copyTo(copy: string, from: string, way: 'onto' | 'beside'): Promise<boolean> {
  try {
    await copyFile(from, copy, way === 'onto' ? 0 : constants.COPYFILE_EXCL);
    return true;
  } catch (fault) {
    if (isErrno(fault) && fault.code === 'EEXIST') return false;
    throw fault;
  }
}

/** What is written survives a power cut only once it is on the disk. Also for folders, whose names do. */
export async function forceToDisk(file: string): Promise<void> {
  const handle = await open(file, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
