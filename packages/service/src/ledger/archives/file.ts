import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { MonthFault } from '#ledger/months/month-fault.ts';

/** The file of a month in a folder of archives, `purser-receipts-2026-07.csv.gz`. */
export const archiveIn = (folder: string, month: string): string =>
  path.join(folder, `purser-receipts-${month.slice(0, 7)}.csv.gz`);

/** The file that says what is in an archive. */
const manifestOf = (archive: string): string => archive.replace(/\.csv\.gz$/, '.json');

/**
 * Writes an archive under another name, flushes it to disk, and gives it its name once `write` has handed on all of it and `verify` has
 * read it back. So a file of that name is whole, also after a crash, and only a whole one replaces it. No more than a piece is in
 * memory. Throws `MonthFault` if the file cannot be written.
 */
export async function writeArchive(
  file: string,
  write: (take: (piece: string) => Promise<void>) => Promise<void>,
  verify: (part: string) => Promise<void>,
): Promise<void> {
  const part = `${file}.part`;
  const gzip = createGzip();
  const written = pipeline(gzip, createWriteStream(part, { mode: 0o600, flush: true })).catch((fault: unknown) => {
    throw new MonthFault(`${part} cannot be written: ${fault instanceof Error ? fault.message : ''}.`, {
      cause: fault,
    });
  });
  try {
    written.catch(() => {}); // It may fail while nobody waits for it.
    await write(async (piece) => {
      if (!gzip.write(piece)) await Promise.race([once(gzip, 'drain'), written]);
    });
    gzip.end();
    await written;
    await verify(part);
  } catch (fault) {
    gzip.destroy();
    await written.catch(() => {});
    await rm(part, { force: true });
    throw fault;
  }
  await rename(part, file);
  await flushFolder(file);
}

/** Writes the manifest of an archive. */
export async function writeManifest(archive: string, manifest: object): Promise<void> {
  const file = manifestOf(archive);
  await writeFile(`${file}.part`, `${JSON.stringify(manifest, undefined, 2)}\n`, { mode: 0o600, flush: true });
  await rename(`${file}.part`, file);
  await flushFolder(file);
}

/** Returns the SHA-256 over the text of an archive. */
export async function hashArchive(file: string): Promise<Buffer> {
  const hash = createHash('sha256');
  for await (const piece of readArchive(file)) hash.update(piece);
  return hash.digest();
}

/** The text of an archive, piece by piece. */
export async function* readArchive(file: string): AsyncGenerator<string> {
  const source = createReadStream(file);
  const gunzip = createGunzip();
  source.on('error', (fault) => gunzip.destroy(fault));
  for await (const piece of source.pipe(gunzip).setEncoding('utf8')) yield piece as string;
}

/** A rename is on disk when its folder is. */
async function flushFolder(file: string): Promise<void> {
  const folder = await open(path.dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
