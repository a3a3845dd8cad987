import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { BackupError } from '#backup/backup-error.ts';
import type { Backup } from '#backup/folder.ts';

/**
 * Where each earlier timeline of the log ended, by its number, for one timeline. A restore that goes back to a moment begins a
 * timeline there. What the one before it wrote later belongs to nobody any more.
 */
type History = ReadonlyMap<number, bigint>;

const HISTORY_FILE = /^([0-9A-F]{8})\.history(\.gz)?$/;
/** An earlier timeline, where it ended, and a remark. */
const ENTRY = /^\s*(\d+)\s+([0-9A-F]+\/[0-9A-F]+)/;
const unzip = promisify(gunzip);

/** The histories in folders with parts of the log, by the timeline that each leads to. The first timeline has none. */
export async function readHistories(folders: readonly string[]): Promise<ReadonlyMap<number, History>> {
  const histories = new Map<number, History>();
  for (const folder of folders) {
    for (const name of await readdir(folder).catch(() => [])) {
      const [, timeline, zipped] = HISTORY_FILE.exec(name) ?? [];
      if (timeline === undefined) continue;
      histories.set(Number.parseInt(timeline, 16), await readHistory(path.join(folder, name), zipped !== undefined));
    }
  }
  return histories;
}

async function readHistory(file: string, isZipped: boolean): Promise<History> {
  try {
    const bytes = await readFile(file);
    return parseHistory((isZipped ? await unzip(bytes) : bytes).toString('utf8'));
  } catch (fault) {
    throw new BackupError(`${file} cannot be read. Take another copy of it.`, { cause: fault });
  }
}

function parseHistory(text: string): History {
  return new Map(
    text.split('\n').flatMap((line) => {
      const [, timeline, position] = ENTRY.exec(line) ?? [];
      return position === undefined ? [] : [[Number(timeline), positionOf(position)] as const];
    }),
  );
}

/** The latest timeline, and of some backups of one database those that lead to it. The others hold what a restore has given up. */
export function onLatestTimeline(
  backups: readonly Backup[],
  histories: ReadonlyMap<number, History>,
): { readonly timeline: number; readonly backups: readonly Backup[] } {
  const timeline = Math.max(1, ...histories.keys(), ...backups.map(({ record }) => record.timeline));
  const history = histories.get(timeline);
  const leading = backups.filter(({ record }) => {
    if (record.timeline === timeline) return true;
    const end = history?.get(record.timeline);
    return end !== undefined && positionOf(record.endLsn) <= end;
  });
  return { timeline, backups: leading };
}

/** A place in the log. Places only grow along a timeline. */
function positionOf(lsn: string): bigint {
  const [high = '0', low = '0'] = lsn.split('/');
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`);
}
