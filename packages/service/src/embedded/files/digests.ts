import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, unlessMissing, USE_DATABASE_URL } from '#embedded/files/embedded-postgres-error.ts';

/** The SHA-256 of each program and library of the server, by platform and path. `npm run digests` writes it. */
type Digests = Readonly<Record<string, Readonly<Record<string, string>>>>;

const PIECE_BYTES = 1024 * 1024;

/** Reading 50 MB takes a seventh of a second, so a process does it once for each installation. */
const checked = new Map<string, Promise<void>>();

/**
 * Compares the server below `root` with its release, which the lock file pins. So a damaged or replaced file is found before it
 * is run. Throws EmbeddedPostgresError with its name.
 */
export function checkDigests(root: string, platform: string): Promise<void> {
  const check = checked.get(root) ?? compareFiles(root, platform);
  checked.set(root, check);
  return check;
}

async function compareFiles(root: string, platform: string): Promise<void> {
  const file = new URL('digests.json', import.meta.url);
  const released = (JSON.parse(await readFile(file, 'utf8')) as Digests)[platform] ?? {};
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (const [path, digest] of Object.entries(released)) {
    const found = await unlessMissing(digestOf(join(root, path), piece));
    if (found === digest) continue;
    throw new EmbeddedPostgresError(
      `${join(root, path)} is ${found === undefined ? 'missing' : 'not the file of its release'}. Install Purser again, or ${USE_DATABASE_URL}.`,
    );
  }
}

/**
 * Reads the file through one piece of memory, because the files have 50 MB, which the service would otherwise hold or
 * leave behind.
 */
async function digestOf(file: string, piece: Buffer): Promise<string> {
  const hash = createHash('sha256');
  await using opened = await open(file);
  for (;;) {
    const { bytesRead } = await opened.read(piece);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(piece.subarray(0, bytesRead));
  }
}
