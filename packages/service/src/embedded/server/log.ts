import { closeSync, fstatSync, openSync } from 'node:fs';
import { open, rename, stat } from 'node:fs/promises';
import { unlessMissing } from '#embedded/files/embedded-postgres-error.ts';
import type { Layout } from '#embedded/files/layout.ts';

const LOG_BYTES_MAX = 10 * 1024 * 1024;
const TAIL_BYTES_MAX = 16 * 1024;

/** Renames the server's log to `.log.1` when it has grown past 10 MB, replacing the previous one. */
export async function rotateServerLog({ log }: Layout): Promise<void> {
  const found = await unlessMissing(stat(log));
  if (found !== undefined && found.size > LOG_BYTES_MAX) await rename(log, `${log}.1`);
}

/** Opens the server's log for a child to write to. `bytesBefore` is the position where the child's own lines begin. */
export function openServerLog({ log }: Layout): {
  readonly fd: number;
  readonly bytesBefore: number;
  readonly close: () => void;
} {
  const fd = openSync(log, 'a', 0o600);
  return { fd, bytesBefore: fstatSync(fd).size, close: () => closeSync(fd) };
}

/** Reads what the server wrote after `bytesBefore`, at most the last 16 KiB. */
export async function readServerLog({ log }: Layout, bytesBefore: number): Promise<string> {
  const file = await open(log, 'r');
  try {
    const { size } = await file.stat();
    const from = Math.max(bytesBefore, size - TAIL_BYTES_MAX);
    const { buffer, bytesRead } = await file.read({ position: from, buffer: Buffer.alloc(TAIL_BYTES_MAX) });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
