// Backups of the embedded database of a service in another process, and restores of them in this one.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { refuseCopy } from '../../../packages/service/src/app/start/restored-copy.ts';
import { createBackup } from '../../../packages/service/src/backup/create.ts';
import { selectArchiver, switchLog } from '../../../packages/service/src/backup/queries.ts';
import { restoreBackup } from '../../../packages/service/src/backup/restore.ts';
import { hasSecretOf } from '../../../packages/service/src/db/identity/kept-keys.ts';
import { migrate } from '../../../packages/service/src/db/schema/migrate.ts';
import { createPool, type Pool } from '../../../packages/service/src/db/pool/pool.ts';
import { acceptRestores, insertRestore } from '../../../packages/service/src/db/identity/restore-queries.ts';
import { unmarkCopy } from '../../../packages/service/src/embedded/archive.ts';
import { startEmbeddedPostgres } from '../../../packages/service/src/embedded/embedded-postgres.ts';
import { findRunningPostgres } from '../../../packages/service/src/embedded/running.ts';
import { createLog } from '../../../packages/service/src/kernel/log.ts';
import { checkBooks } from '../../../packages/service/src/operator/health/ledger-check.ts';
import { waitUntil } from '../../support/wait-until.ts';

const log = createLog('silent');

/** The running embedded server of a data directory. */
export async function openRunning(dataDirectory: string): Promise<{ readonly url: string; readonly pool: Pool }> {
  const url = (await findRunningPostgres(path.join(dataDirectory, 'postgres'))) ?? '';
  // A new connection would be refused once this process has used a copy, which is on a later timeline.
  return { url, pool: createPool({ url, role: 'owner', connectionsMax: 2, keepsOne: true, log }) };
}

export function backUp(server: { readonly url: string; readonly pool: Pool }, dataDirectory: string, backups: string) {
  return createBackup({ server, dataDirectory, backups, keep: undefined });
}

type RestoreOptions = Parameters<typeof restoreBackup>[0];

/** Restores as the command does. What `look` reads of the restored database is returned. */
export async function restoreInto<Seen>(
  of: Pick<RestoreOptions, 'backups' | 'dataDirectory' | 'atMs' | 'alsoLog'> & { readonly secret: Buffer },
  look: (owner: Pool) => Promise<Seen>,
): Promise<Seen | undefined> {
  let seen: Seen | undefined;
  await restoreBackup({
    ...of,
    systemId: undefined,
    hasSecretOf: (fingerprint) => hasSecretOf(fingerprint, of),
    log,
    say: () => undefined,
    inspect: async (url, { name }) => {
      const owner = createPool({ url, role: 'owner', connectionsMax: 2, log });
      try {
        await migrate(owner);
        await insertRestore(owner, name, null);
        seen = await look(owner);
      } finally {
        await owner.end();
      }
    },
  });
  return seen;
}

/** What a start says of a restored database before and after it is accepted, and how many differences its books have. */
export async function startsOn(owner: Pool) {
  const start = () => refuseCopy(owner).then(() => 'starts', String);
  const before = await start();
  await acceptRestores(owner);
  return { before, after: await start(), differences: (await checkBooks(owner)).differences.length };
}

/** Works on an accepted copy as its service does, and waits until its log is in the archive. */
export async function goOnWith(dataDirectory: string, backups: string, statement: string): Promise<void> {
  const directory = path.join(dataDirectory, 'postgres');
  await unmarkCopy(directory);
  const server = await startEmbeddedPostgres({ directory, log, say: () => undefined, backups });
  const pool = createPool({ url: server.url, role: 'owner', connectionsMax: 2, log });
  try {
    await pool.query(statement);
    const part = await switchLog(pool);
    await waitUntil('the log is kept', async () => (await selectArchiver(pool)).kept >= part);
  } finally {
    await pool.end();
    await server.stop();
  }
}

/** Changes a file for the length of `work`. */
export async function withChanged<Result>(
  file: string,
  change: (content: Buffer) => Buffer | string,
  work: () => Promise<Result>,
): Promise<Result> {
  const content = readFileSync(file);
  writeFileSync(file, change(content));
  try {
    return await work();
  } finally {
    writeFileSync(file, content);
  }
}
