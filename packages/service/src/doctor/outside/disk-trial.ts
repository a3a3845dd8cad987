import { open, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { bad, faultName, type CheckResult, good, warn } from '#doctor/findings/check-result.ts';
import { steadyClock } from '#kernel/time/clock.ts';
import { randomBase62 } from '#kernel/crypto/random.ts';

const BYTES = 8_192;
const FSYNC_MS_WARN = 200;
const MODE_OF_OTHERS = 0o022;

/** Writes a small file into the data directory, forces it to the disk and removes it: the way of a settlement that waits. */
export async function tryDisk(directory: string): Promise<CheckResult> {
  const file = path.join(directory, `doctor-${randomBase62(10)}.tmp`);
  try {
    const { mode } = await stat(directory);
    const begunMs = steadyClock.nowMs();
    await writeForced(file);
    const ms = steadyClock.nowMs() - begunMs;
    if ((mode & MODE_OF_OTHERS) !== 0) {
      return bad(
        'Other users of this machine can change files in the data directory.',
        `Run \`chmod go-w ${directory}\`.`,
      );
    }
    const what = `A file in the data directory was written and forced to the disk in ${ms.toFixed(1)} ms.`;
    return ms > FSYNC_MS_WARN ? warn(what, 'Move PURSER_DATA_DIR to a faster disk.') : good(what);
  } catch (fault) {
    return bad(`No file can be written to the data directory: ${faultName(fault)}.`);
  } finally {
    await rm(file, { force: true }).catch(() => undefined);
  }
}

async function writeForced(file: string): Promise<void> {
  const handle = await open(file, 'wx', 0o600);
  try {
    await handle.writeFile(Buffer.alloc(BYTES));
    await handle.sync();
  } finally {
    await handle.close();
  }
}
