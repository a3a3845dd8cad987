import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EmbeddedPostgresError, unlessMissing, USE_DATABASE_URL } from '#embedded/embedded-postgres-error.ts';

/** The SHA-256 of each program and library of the server, by platform and path. `npm run digests` writes it. */
type Digests = Readonly<Record<string, Readonly<Record<string, string>>>>;

/**
 * Compares the server below `root` with its release, which the lock file pins. So a damaged or replaced file is found before it
 * is run. Throws EmbeddedPostgresError with its name.
 */
export async function checkDigests(root: string, platform: string): Promise<void> {
  const file = new URL('digests.json', import.meta.url);
  const released = (JSON.parse(await readFile(file, 'utf8')) as Digests)[platform] ?? {};
  for (const [path, digest] of Object.entries(released)) {
    const content = await unlessMissing(readFile(join(root, path)));
    if (content !== undefined && hash('sha256', content) === digest) continue;
    throw new EmbeddedPostgresError(
      `${join(root, path)} is ${content === undefined ? 'missing' : 'not the file of its release'}. Install Purser again, or ${USE_DATABASE_URL}.`,
    );
  }
}
